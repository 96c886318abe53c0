"""Decides nothing: the name `torchdata`, which becomes the real one with what it lacks (`reference/pipe_names.py`)."""

from _loaderspec_home import find

find()

from reference.pipe_names import take_over  # noqa: E402  (it can be found only now)

take_over()
