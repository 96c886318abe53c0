"""Gives back to the system what this process has freed: decides that memory which is resident is memory in use.

An allocator keeps what was freed, and gives it out again. A process that is forked from one with much of it can keep as
much as that without a page more being resident, so that nothing seems to grow.
"""

import ctypes
import gc
import sys


def give_back() -> None:
    """Collect the garbage, and give back what the allocator keeps; on a system without glibc, only the first."""
    gc.collect()
    if sys.platform == "linux":
        # malloc(3): glibc alone has it.
        trim = getattr(ctypes.CDLL(None), "malloc_trim", None)
        if trim is not None:
            trim(0)
