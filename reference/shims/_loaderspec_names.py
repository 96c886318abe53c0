"""Makes the names of PopTorch when it is imported; see `reference/poptorch_names.py`."""

from importlib import import_module

import_module("_loaderspec_home").find()
import_module("reference.poptorch_names").install()
