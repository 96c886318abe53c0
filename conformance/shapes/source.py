"""The adapter of a target that has none, as a text: decides how each field of a request reaches it.

What is judged without an adapter is this text, so that what a person is shown, edits and keeps is what was run.
"""

import textwrap
from collections.abc import Iterator, Mapping
from typing import Any

from conformance.shapes.shape import Shape, claims_of

_COLUMNS = 110
_WORDS = {
    "without": "it has no parameter for {}",
    "when_dropping": "the rest under drop_last=True",
    "when_keeping": "the rest under drop_last=False",
}
MEANINGS = {
    "drop": "is dropped",
    "pad": "is filled up with samples that come again",
    "uneven": "is delivered: every sample once",
    "once": "is delivered, and ranks may differ by whole steps",
}
_WITH_EPOCHS = '''\
class WithEpochs:
    """A loader and its sampler, which is told the epoch, as one."""

    def __init__(self, loader, sampler):
        self.loader = loader
        self.set_epoch = sampler.set_epoch

    def __iter__(self):
        return iter(self.loader)

    def __len__(self):
        return len(self.loader)
'''
_STATES = """
    def state_dict(self):
        return self.loader.state_dict()

    def load_state_dict(self, state):
        self.loader.load_state_dict(state)
"""
_EACH_EPOCH = '''\
class EachEpoch:
    """A loader that is rebuilt for each epoch, because it is given the epoch's number."""

    def __init__(self, make):
        self.make = make
        self.epoch = 0

    def set_epoch(self, epoch):
        self.epoch = epoch

    def __iter__(self):
        return iter(self.make(self.epoch))
'''
_KNOWN = """\
# Of torch's own loader, so that they do not hide yours. Remove what your loader does right.
known_failures = {
"""
_OF_ALL = """\
    "ERROR-3": dict(
        case="ERROR-3-n1,w1,b1,keep,e2,stop@0",
        reason="a StopIteration of the dataset passes through torch's loader, and ends the epoch",
        perhaps=True,
    ),
    "ORDER-11": dict(
        case="ORDER-11-n0,w1,b1,keep,random-state",
        reason="torch's loader draws the seed of its workers, even where it has none",
        perhaps=True,
    ),
}
"""
_OF_LOADERS = """\
    "WORK-9": dict(
        case="WORK-9-n2,w2,b1,keep,k2,workers",
        reason="torch seeds workers from the caller's global generator: ranks that were seeded alike draw alike",
        perhaps=True,
    ),
    "WORK-17": [
        dict(
            case=f"WORK-17-n3,w1,b3,keep,kind={kind}",
            reason="default_collate refuses None, and makes lists of tuples",
            perhaps=True,
        )
        for kind in ("none", "tuple", "nested", "empty")
    ],
"""


def adapter(shape: Shape, place: str, claims: Mapping[str, Any]) -> str:
    """The whole adapter for the target in the module or file `place`."""
    head = f'"""{shape.name} for loaderspec: what it promises, and how it is made. Edit it freely."""'
    return "\n\n".join([head, f"{imports(shape)}\n\n{import_of(shape, place)}".strip(), code(shape, claims)])


def import_of(shape: Shape, place: str) -> str:
    """The import of the target itself, from a module or from a file whose folder is on the import path."""
    path = place.replace("\\", "/")
    module = path.rpartition("/")[2].removesuffix(".py") if path.endswith(".py") else place
    named = shape.name if shape.called == shape.name else f"{shape.name} as {shape.called}"
    return f"from {module} import {named}"


def code(shape: Shape, claims: Mapping[str, Any]) -> str:
    """The adapter without its imports: claims, known failures, and `load`."""
    what = f"# What {shape.name} promises; what is left out is not judged. `loaderspec claims` finds out what holds."
    head = "\n".join([what, *claims_lines(claims)]) + "\n"
    if shape.is_sampler or shape.kind == "torch loader":
        head += _KNOWN + ("" if shape.is_sampler else _OF_LOADERS) + _OF_ALL
    return f"{head}\n\n{made(shape)}"


def made(shape: Shape) -> str:
    """How the loader is made: `load`, and what it needs."""
    parts = []
    if _needs_sampler(shape):
        parts.append(_WITH_EPOCHS + (_STATES if "state_dict" in shape.methods else ""))
    if _is_made_anew(shape):
        parts.append(_EACH_EPOCH)
    return "\n\n".join([*parts, "\n".join(_load(shape)) + "\n"])


def imports(shape: Shape) -> str:
    """The imports of the adapter but for that of the target."""
    return "\n".join(_imports(shape))


def told_of(shape: Shape, claims: Any) -> tuple[str, ...]:
    """What a report says of a loader without an adapter: what it is asked for and taken to claim, and what it isn't."""
    taken = [
        f'{name}="{value}"'
        for name in ("when_dropping", "when_keeping", "shuffle")
        if (value := getattr(claims, name)) is not None
    ]
    asked = ", ".join(f"{name}=" for name in shape.filled)
    taken += [name for name in ("workers", "length", "resume") if getattr(claims, name)]
    what = f"no adapter: {shape.name}({asked}) is taken to claim {', '.join(taken) or 'nothing'}"
    missing = unfilled(shape)
    told = [f"{what}; loaderspec init writes the adapter"]
    return tuple([*told, f"what could not be filled: {missing}"] if missing else told)


def unfilled(shape: Shape) -> str:
    """What a target can't be asked for, by name, and what that means; or ""."""
    without = claims_of(shape).get("without", ())
    told = {
        "rank": "it is judged as one rank" if "ranks" in without else "",
        "shuffle": "" if shape.shuffles else "no shuffle is asked for",
        "seed": "no shuffle is asked for" if shape.asks("shuffle") and not shape.shuffles else "",
        "drop_last": "drop_last=True is not asked for" if "drop_last" in without else "",
        "batch_size": "steps of one sample are asked for" if "batch_size" in without else "",
        "num_workers": "no workers are asked for" if not shape.is_sampler else "",
    }
    return "; ".join(f"no {name}, so {told[name]}" for name in shape.absent if told.get(name))


def _imports(shape: Shape) -> list[str]:
    found = []
    if shape.draws_from_generator and shape.shuffles:
        found.append("import torch")
    if shape.is_sampler:
        found.append("from torch.utils.data import DataLoader")
    if shape.takes_sampler:
        found.append("from torch.utils.data.distributed import DistributedSampler")
    return found


def claims_lines(claims: Mapping[str, Any]) -> Iterator[str]:
    """The claims as an adapter has them, with a word on those that need one."""
    if not claims:
        yield "claims = {}"
        return
    yield "claims = dict("
    for name, value in claims.items():
        yield f"    {name}={_literal(value)},{_comment(name, value)}"
    yield ")"


def _literal(value: Any) -> str:
    text = repr(value)
    return text.replace("'", '"') if '"' not in text else text


def _comment(name: str, value: Any) -> str:
    if name == "without":
        return f"  # {_WORDS[name].format(', '.join(value))}"
    if name in _WORDS:
        return f"  # {_WORDS[name]} {MEANINGS[value]}"
    return ""


def _needs_sampler(shape: Shape) -> bool:
    return shape.takes_sampler or (shape.is_sampler and "set_epoch" in shape.methods)


def _is_made_anew(shape: Shape) -> bool:
    return "epoch" in shape.played and "set_epoch" not in shape.methods and not _needs_sampler(shape)


def _load(shape: Shape) -> Iterator[str]:
    yield "def load(request):  # one rank's loader; iterating it once is one epoch"
    if shape.takes_sampler:
        asked = ("world_size", "rank", "shuffle", "seed", "drop_last")
        words = [f"{'num_replicas' if each == 'world_size' else each}=request.{each}" for each in asked]
        yield from _assigned("sampler", "DistributedSampler", ["request.dataset", *words])
    made = list(_arguments(shape))
    if shape.is_sampler:
        outer = "sampler" if not shape.takes_sampler else "batches"
        yield from _assigned(outer, shape.called, made)
        told = "sampler" if shape.takes_sampler or "set_epoch" in shape.methods else ""
        yield from _assigned("loader", "DataLoader", _around(shape, outer))
        yield f"    return WithEpochs(loader, {told})" if told else "    return loader"
    elif shape.takes_sampler:
        yield from _assigned("loader", shape.called, made)
        yield "    return WithEpochs(loader, sampler)"
    elif _is_made_anew(shape):
        yield from _called("return EachEpoch(lambda epoch: ", shape.called, made, end="))")
    else:
        yield from _called("return ", shape.called, made)


def _around(shape: Shape, outer: str) -> list[str]:
    """What torch's loader is given around a sampler: steps are lists of samples, so that none is changed."""
    if shape.kind == "batch sampler":
        return ["request.dataset", f"batch_sampler={outer}", "collate_fn=list"]
    steps = ["request.batch_size", f"sampler={outer}", "drop_last=request.drop_last"]
    return ["request.dataset", *steps, "collate_fn=list"]


def _arguments(shape: Shape) -> Iterator[str]:
    for name, asked in shape.filled.items():
        if asked in ("shuffle", "seed") and (shape.takes_sampler or not shape.shuffles):
            continue
        if asked in ("timeout", "persistent_workers"):
            otherwise = 0 if asked == "timeout" else False
            yield f"{name}=request.{asked} if request.num_workers else {otherwise}"
        else:
            yield f"{name}=request.{asked}"
    if shape.takes_sampler:
        yield "sampler=sampler"
    if shape.draws_from_generator and shape.shuffles:
        yield "generator=torch.Generator().manual_seed(request.seed)"
    if _is_made_anew(shape):
        yield "epoch=epoch"
    yield from (f"{name}=...,  # TODO: it needs this" for name in shape.open)


def _assigned(name: str, function: str, words: list[str]) -> Iterator[str]:
    yield from _called(f"{name} = ", function, words)


def _called(before: str, function: str, words: list[str], end: str = ")") -> Iterator[str]:
    line = f"    {before}{function}({', '.join(words)}{end}"
    if len(line) <= _COLUMNS and not any("#" in word for word in words):
        yield line
        return
    yield f"    {before}{function}("
    yield from textwrap.indent("\n".join(word if "#" in word else f"{word}," for word in words), " " * 8).split("\n")
    yield f"    {end}"
