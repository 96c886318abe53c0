"""Decides how samples become a batch, and that what the user holds is the user's own.

The rule (WORK-17): a batch is built like one sample, with a batch in each place where the sample has a value.

    tensor                          a tensor with one more dimension, of the same dtype
    numpy array or numpy number     likewise a tensor; an array if torch lacks the dtype (text, dates, objects, ...)
    bool, int, float, complex       a tensor: bool, int64, float64, complex128; int next to float is float64
    text, bytes, None               a list of them
    tuple, named tuple, list, dict  the same type, and subclasses too, item by item

Empty containers stay empty containers of their type. Samples that do not agree in type, dtype, length or keys are
refused, and so are values of other types: nothing is converted, cut or dropped in silence. Where batches are not
made (batch_size=None), `convert` changes only arrays and numpy numbers, as torch does.

torch's own collating is older than this rule: it makes lists of tuples, refuses None, ignores a key that only later
samples have, and promotes differing dtypes. Give `collate_fn=torch.utils.data.default_collate` to have it.
"""

import copy
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import torch

from ..rules.checks import show

_LISTED = (str, bytes, type(None))
_NUMBERS = (bool, int, float, complex)


def collate(samples: list[Any]) -> Any:
    """Return the batch of the samples, by the rule above. Raises TypeError or ValueError if they do not agree."""
    if not samples:
        raise ValueError("A batch without a sample can't be collated: let the batch sampler give no empty batch.")
    first = samples[0]
    check_alike([_kind(sample) for sample in samples], "types")
    if isinstance(first, torch.Tensor):
        # WORK-17: stacking would turn an integer next to a fraction into a fraction.
        check_alike([sample.dtype for sample in samples], "dtypes")
        return torch.stack(samples)
    # Text and bytes of numpy are also text and bytes of Python, and numpy's floats are floats.
    if isinstance(first, _LISTED):
        return list(samples)
    if isinstance(first, np.ndarray | np.generic):
        check_alike([sample.dtype for sample in samples], "dtypes")
        return _as_tensor(np.stack(samples))
    if isinstance(first, _NUMBERS):
        return torch.tensor(samples, dtype=_dtype_of_numbers(samples))
    if isinstance(first, Mapping):
        check_alike([set(sample) for sample in samples], "keys")
        return rebuilt(first, {key: collate([sample[key] for sample in samples]) for key in first})
    if isinstance(first, list | tuple):
        check_alike([len(sample) for sample in samples], "lengths")
        return rebuilt(first, [collate(list(place)) for place in zip(*samples, strict=True)])
    raise TypeError(
        f"A sample holds {show(first)} of type {type(first).__name__}, which can't be collated: let the dataset return "
        f"tensors, arrays, numbers, text, bytes, None, and tuples, lists and dicts of them, or give a collate_fn."
    )


def convert(sample: Any) -> Any:
    """Return a sample that is no batch, its arrays and numpy numbers turned into tensors where torch can."""
    if isinstance(sample, np.ndarray | np.generic) and not isinstance(sample, _LISTED):
        return _as_tensor(np.asarray(sample))
    return _each(sample, convert)


def own(sample: Any) -> Any:
    """Return the sample as one that nobody else can change: tensors, arrays and containers are copied."""
    # WORK-16: the dataset may use one buffer for all samples. Copying as soon as a sample is read keeps the samples
    # of a step apart from each other too, whatever collates them.
    if isinstance(sample, torch.Tensor):
        return sample.detach().clone().requires_grad_(sample.requires_grad)
    if isinstance(sample, np.ndarray):
        return sample.copy()
    return _each(sample, own)


def rebuilt(like: Any, values: Any) -> Any:
    """Return a container of the same type with these values: a dict of them for a mapping, else a list."""
    # WORK-17: the copy keeps what a subclass holds beside its items: a default factory, an attribute.
    if isinstance(like, dict):
        made = copy.copy(like)
        made.update(values)
        return made
    if isinstance(like, list):
        made_list = copy.copy(like)
        made_list[:] = values
        return made_list
    make: Callable[..., Any] = type(like)
    return make(*values) if hasattr(like, "_fields") else make(values)


def _each(sample: Any, change: Callable[[Any], Any]) -> Any:
    """Return the sample with every item of a container changed; anything else, or an unchanged tuple, as it is."""
    if isinstance(sample, dict):
        return rebuilt(sample, {key: change(value) for key, value in sample.items()})
    if isinstance(sample, list | tuple):
        items = [change(item) for item in sample]
        is_same = isinstance(sample, tuple) and all(new is old for new, old in zip(items, sample, strict=True))
        return sample if is_same else rebuilt(sample, items)
    return sample


def _kind(sample: Any) -> type:
    """Return the type by which samples agree."""
    if isinstance(sample, torch.Tensor):
        return torch.Tensor
    # int and float agree: a dataset may well write 0 and 0.5.
    return float if type(sample) is int else type(sample)


def check_alike(
    found: list[Any],
    what: str,
    of: str = "samples",
    fix: str = "A batch has room for one: let the dataset return them alike, or give a collate_fn.",
) -> None:
    """Refuse samples, or batches, that differ in what can be only one thing in what they become. Raises TypeError."""
    for place, each in enumerate(found):
        if each != found[0]:
            raise TypeError(
                f"The {what} of the {of} of one step differ: {show(found[0])} in the first, {show(each)} in number "
                f"{place + 1}. {fix}"
            )


def _as_tensor(array: Any) -> Any:
    try:
        # A foreign byte order is no other value.
        return torch.from_numpy(array.astype(array.dtype.newbyteorder("="), copy=False))
    except TypeError:
        # WORK-17: torch has no such dtype: numpy's stays.
        return array


def _dtype_of_numbers(numbers: list[Any]) -> torch.dtype:
    if isinstance(numbers[0], bool):
        return torch.bool
    if isinstance(numbers[0], complex):
        return torch.complex128
    return torch.int64 if all(isinstance(number, int) for number in numbers) else torch.float64
