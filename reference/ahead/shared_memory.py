"""Decides where the slots of a ring lie: in memory that all its processes map, and that has no name.

Without a name nothing can be left behind (LEAK-3): the kernel frees it with the last process, whatever ends that.
"""

import mmap
import os
import tempfile

import torch


def create(size: int) -> int:
    """Return the descriptor of new shared memory of `size` bytes; its process closes it once it is mapped."""
    if hasattr(os, "memfd_create"):
        descriptor = os.memfd_create("ring", os.MFD_CLOEXEC)
    else:
        # A file that is unlinked as soon as it is made serves the same, if more slowly.
        with tempfile.TemporaryFile() as file:
            descriptor = os.dup(file.fileno())
    os.ftruncate(descriptor, size)
    return descriptor


def attach(descriptor: int) -> torch.Tensor:
    """Return the shared memory as a tensor of uint8, and close the descriptor.

    The memory stays mapped as long as the tensor, or a view of it, is referred to.
    """
    try:
        mapped = mmap.mmap(descriptor, os.fstat(descriptor).st_size)
    finally:
        os.close(descriptor)
    return torch.frombuffer(mapped, dtype=torch.uint8)


def holding(data: bytes) -> int:
    """Return the descriptor of new shared memory that holds these bytes."""
    descriptor = create(len(data))
    try:
        rest = memoryview(data)
        while rest:
            rest = rest[os.pwrite(descriptor, rest, len(data) - len(rest)) :]
    except BaseException:
        os.close(descriptor)
        raise
    return descriptor


def held(descriptor: int, size: int) -> bytes:
    """Return what shared memory holds, and close the descriptor."""
    try:
        with mmap.mmap(descriptor, size) as mapped:
            return mapped[:]
    finally:
        os.close(descriptor)
