"""The name `poptorch`, which becomes the reference's when it is imported; see `reference/poptorch_names.py`."""

from importlib import import_module

import_module("_loaderspec_names")
