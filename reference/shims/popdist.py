"""Decides nothing: the name `popdist`, which becomes the reference's when it is imported. See `reference/names.py`."""

from importlib import import_module

import_module("_loaderspec_names")
