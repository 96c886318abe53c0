"""Decides nothing: makes the names of PopTorch, when it is imported. See `reference/names.py`."""

from importlib import import_module

import_module("_loaderspec_home").find()
import_module("reference.names").install()
