"""Loaders that need no adapter: what a class or function can be asked for, by the names of its parameters.

`parameters.py` has the usual names, `shape.py` says which of them a target has, `source.py` writes the adapter. A
loader that is given without an adapter is judged by the very text that `loaderspec init` writes.
"""
