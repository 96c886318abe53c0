"""Loaders of pipelines with one fault each: graphs that branch, and pauses, resumed or not (chapter 8)."""

from collections.abc import Iterator
from itertools import chain, islice
from typing import Any, ClassVar

from reference.dataloader2 import DataLoader2, DataLoader2Iterator
from reference.pipelines import graph as pipe_graph
from reference.pipelines.states import skip
from tests.known_bad.pipelines import Pipelines

# As they are before anything is exchanged.
_begin, _next, _resume = DataLoader2._begin, DataLoader2Iterator.__next__, DataLoader2Iterator.resume


def _checking(check: Any) -> dict[str, Any]:
    return {"dataloader2:check_sharding": check, "pipelines.services:check_sharding": check}


def _refuse() -> None:
    raise RuntimeError("sharding twice on one path")


def _on_one_line(pipe: Any) -> None:
    filters = 0
    while len(before := pipe_graph.sources(pipe)) == 1:
        filters += pipe_graph.shards(pipe)
        pipe = before[0]
    if filters > 1:
        _refuse()


class LooksAlongOneLine(Pipelines):
    """Two filters are looked for up to the first pipe that has two sources. (No public report.)"""

    clause, smallest = "PIPE-18", "n1,w1,b1,pipeline,with=zip+twice"
    changes: ClassVar[dict[str, Any]] = _checking(_on_one_line)


def _in_each_branch(pipe: Any, filters: int = 0) -> None:
    before = pipe_graph.sources(pipe)
    filters += pipe_graph.shards(pipe)
    if filters > 1:
        _refuse()
    for source in before:
        _in_each_branch(source, filters if len(before) == 1 else 0)


class LooksAtEachBranchAlone(Pipelines):
    """Each branch is a line of its own, so that a filter after all of them is forgotten. (No public report.)"""

    clause, smallest = "PIPE-18", "n1,w1,b1,pipeline,with=zip+joined+twice"
    changes: ClassVar[dict[str, Any]] = _checking(_in_each_branch)


def _of_all_paths(pipe: Any) -> list[Any]:
    found = [filters for source in pipe_graph.sources(pipe) for filters in _of_all_paths(source)]
    return [*found, *([pipe] if pipe_graph.shards(pipe) else [])]


def _each_once(pipe: Any) -> None:
    found = _of_all_paths(pipe)
    if len(found) > len({id(each) for each in found}):
        _refuse()
    pipe_graph.check_sharding(pipe)


class CountsAFilterOnTwoPathsTwice(Pipelines):
    """One filter before a fork is on two paths, and is refused as two. (No public report.)"""

    clause, smallest = "PIPE-18", "n1,w1,b1,pipeline,with=fork"
    changes: ClassVar[dict[str, Any]] = _checking(_each_once)


def _peeks(iterator: Any) -> Any:
    if iterator.is_paused and iterator._limit and not iterator.is_over:
        iterator.dataloader.kept = list(islice(iterator.elements, 1))
        iterator.elements = chain(iterator.dataloader.kept, iterator.elements)
    return _next(iterator)


def _with_what_is_kept(loader: Any) -> Iterator[Any]:
    kept = vars(loader).pop("kept", [])
    return chain(kept, _begin(loader))


def _forgets_what_is_kept(iterator: Any) -> None:
    iterator.dataloader.kept = []
    _resume(iterator)


class KeepsWhatItPeeked(Pipelines):
    """What was looked at when a limit was reached comes first in the epoch that is begun next. (No public report.)"""

    clause, smallest = "PIPE-19", "n2,w1,b1,pipeline,with=begun"
    changes: ClassVar[dict[str, Any]] = {
        "dataloader2:DataLoader2Iterator.__next__": _peeks,
        "dataloader2:DataLoader2Iterator.resume": _forgets_what_is_kept,
        "dataloader2:DataLoader2._begin": _with_what_is_kept,
    }


def _opens_again(iterator: Any) -> None:
    _resume(iterator)
    loader, read = iterator.dataloader, iterator.dataloader._read
    if iterator.elements is not None and not iterator.is_over:
        loader._epoch -= 1
        iterator.elements = loader._begin()
        skip(iterator.elements, read)
        loader._read = read


class ReplaysWhatItPaused(Pipelines):
    """Resumed, an epoch is begun anew and read up to its place; without a seed in another order. (No public report.)"""

    clause, smallest = "PIPE-19", "n5,w1,b1,shuffle,pipeline,with=unseeded+limit"
    changes: ClassVar[dict[str, Any]] = {"dataloader2:DataLoader2Iterator.resume": _opens_again}


def _quiet_while_paused(iterator: Any) -> Any:
    if iterator.is_paused:
        raise StopIteration
    return _next(iterator)


class EndsQuietlyWhilePaused(Pipelines):
    """An older iterator that is paused ends, before it is asked whether a newer one was made. (No public report.)"""

    clause, smallest = "PIPE-16", "n2,w1,b1,pipeline,two@1,with=limited"
    changes: ClassVar[dict[str, Any]] = {"dataloader2:DataLoader2Iterator.__next__": _quiet_while_paused}


def _past_forks(end: Any) -> list[Any]:
    """All pipes but those before a fork, which torch keeps under a name of its own."""
    forks = [pipe for pipe in pipe_graph.walk(end) if "main_datapipe" in vars(pipe)]
    before = {id(pipe) for fork in forks for pipe in pipe_graph.walk(fork) if pipe is not fork}
    return [pipe for pipe in pipe_graph.walk(end) if id(pipe) not in before]


class SeedsNothingBeforeAFork(Pipelines):
    """The walk from pipe to pipe does not go on before a fork: a shuffle there gets no seed. (No public report.)"""

    clause, smallest = "PIPE-5", "n20,w1,b1,shuffle,pipeline,with=fork+reseed"
    changes: ClassVar[dict[str, Any]] = {"pipelines.seeds:walk": _past_forks}
