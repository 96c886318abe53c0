"""Decides nothing: the name `torchdata`, which becomes the real one with what it lacks (`reference/pipe_names.py`)."""

from importlib import import_module

import_module("_loaderspec_home").find()
import_module("reference.pipe_names").take_over()
