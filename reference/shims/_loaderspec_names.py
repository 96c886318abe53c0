"""Decides nothing: makes the names of PopTorch, when it is imported. See `reference/names.py`."""

from _loaderspec_home import find

find()

from reference.names import install  # noqa: E402  (it can be found only now)

install()
