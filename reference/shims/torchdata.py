"""The name `torchdata`: the installed one if there is one, plus what it lacks; see `reference/torchdata_names.py`."""

from importlib import import_module

import_module("_loaderspec_home").find()
import_module("reference.torchdata_names").take_over()
