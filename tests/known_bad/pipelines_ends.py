"""Loaders of pipelines with one fault each: how epochs, ranks and loaders end (chapter 8)."""

from collections.abc import Iterator
from threading import Event
from typing import Any, ClassVar

from reference.dataloader2 import DataLoader2, DataLoader2Iterator
from reference.datapipes import FullSync
from reference.pipelines import graph as pipe_graph
from reference.pipelines.crew import Crew, _Lane
from reference.pipelines.fullsync import END, STEP, Agreement, Message
from tests.known_bad.pipelines import Pipelines

# As they are before anything is exchanged.
_synced, _exchange, _begin = FullSync.__iter__, Agreement.exchange, DataLoader2._begin
_begin_crew, _lose, _resume = Crew.begin, _Lane.lose, DataLoader2Iterator.resume
_next = DataLoader2Iterator.__next__

# --- ranks ----------------------------------------------------------------------------------------------------------


def _each_for_itself(pipe: Any) -> Iterator[Any]:
    yield from pipe.datapipe


class RanksEndAsTheyLike(Pipelines):
    """Every rank yields all that it has."""

    clause, smallest = "PIPE-11", "n1,w2,b1,pipeline"
    report = "pytorch/data#911"
    related = ("PIPE-12",)
    changes: ClassVar[dict[str, Any]] = {"datapipes:FullSync.__iter__": _each_for_itself}


def _in_whole_rounds(loader: Any) -> Iterator[Any]:
    elements = list(_begin(loader))
    services = [loader.reading_service, *getattr(loader.reading_service, "reading_services", ())]
    workers = max(getattr(service, "num_workers", 0) or 1 for service in services)
    return iter(elements[: len(elements) - len(elements) % workers if loader._place.world_size > 1 else None])


class DropsWhatIsNoWholeRound(Pipelines):
    """On ranks, elements that are too few for all workers are dropped. (No public report.)"""

    clause, smallest = "PIPE-11", "n2,w2,b1,k2,pipeline"
    related = ("PIPE-12",)
    changes: ClassVar[dict[str, Any]] = {"dataloader2:DataLoader2._begin": _in_whole_rounds}


def _ends_at_an_error(iterator: Any) -> Any:
    try:
        return _next(iterator)
    except ValueError:
        raise StopIteration from None


class EndsAtAnError(Pipelines):
    """What an element raises is taken for the end of the epoch. (No public report.)"""

    clause, smallest = "PIPE-17", "n1,w1,b1,pipeline,raise@0"
    related = ("PIPE-12", "PIPE-15")
    changes: ClassVar[dict[str, Any]] = {"dataloader2:DataLoader2Iterator.__next__": _ends_at_an_error}


def _without_the_empty(agreement: Any, message: Message) -> list[Message]:
    said = _exchange(agreement, message)
    counted = [each for each in said if each.state != END or each.value]
    least = min(counted, key=lambda each: each.value) if message.doing == STEP and counted else None
    return said if least is None else [each if each in counted else least for each in said]


class CountsNoEmptyRank(Pipelines):
    """A rank that has nothing does not end the epoch of the others. (No public report.)"""

    clause, smallest = "PIPE-11", "n1,w2,b1,pipeline"
    changes: ClassVar[dict[str, Any]] = {"pipelines.fullsync:Agreement.exchange": _without_the_empty}


def _quietly(pipe: Any) -> Iterator[Any]:
    try:
        yield from _synced(pipe)
    except RuntimeError as error:
        if "has failed" not in str(error):
            raise


class OtherRanksStopQuietly(Pipelines):
    """Where one rank fails, the epoch of the others ends as if all was well. (No public report.)"""

    clause, smallest = "PIPE-12", "n1,w2,b1,k1,pipeline,exit@0"
    changes: ClassVar[dict[str, Any]] = {"datapipes:FullSync.__iter__": _quietly}


def _unnamed(pipe: Any) -> Iterator[Any]:
    try:
        yield from _synced(pipe)
    except RuntimeError as error:
        raise RuntimeError("another rank has failed") if "has failed" in str(error) else error from None


class NamesNoRank(Pipelines):
    """The others are told of a failure, and not whose it is. (No public report.)"""

    clause, smallest = "PIPE-12", "n1,w2,b1,k1,pipeline,exit@0"
    changes: ClassVar[dict[str, Any]] = {"datapipes:FullSync.__iter__": _unnamed}


# --- epochs that are left, and older iterators ----------------------------------------------------------------------


def _unless_dispatching(crew: Any, seed: int) -> None:
    is_left = any(lane.chunks or not lane.is_over for lane in crew.workers)
    if crew.number >= 0 and is_left and len(crew.lanes) > len(crew.workers):
        Event().wait(60)
    _begin_crew(crew, seed)


class HangsAfterALeftDispatch(Pipelines):
    """A new epoch of a dispatch waits for ever, if the one before was left."""

    clause, smallest = "PIPE-14", "n2,w1,b1,k1,e2,pipeline,leave@1,with=dispatch"
    report = "pytorch/data#1198"
    patience = 3.0
    changes: ClassVar[dict[str, Any]] = {"pipelines.crew:Crew.begin": _unless_dispatching}


def _on_and_on(loader: Any) -> Any:
    return loader._elements if loader._elements is not None else _begin(loader)


class GoesOnWithALeftEpoch(Pipelines):
    """A new iterator begins where the one before was left. (No public report.)"""

    clause, smallest = "PIPE-14", "n1,w1,b1,e2,pipeline,leave@1"
    related = ("PIPE-19",)
    changes: ClassVar[dict[str, Any]] = {"dataloader2:DataLoader2._begin": _on_and_on}


def _just_ended(iterator: Any) -> None:
    iterator.dataloader._check_alive()
    if iterator.number != iterator.dataloader._newest:
        raise StopIteration


class OlderIteratorsEnd(Pipelines):
    """An iterator that a newer one has taken the place of ends, as if it had nothing more. (No public report.)"""

    clause, smallest = "PIPE-16", "n0,w1,b1,pipeline,two@0"
    changes: ClassVar[dict[str, Any]] = {"dataloader2:DataLoader2Iterator._check": _just_ended}


def _without_the_next(iterator: Any) -> None:
    next(iterator.elements, None)
    _resume(iterator)


class LosesOneInAPause(Pipelines):
    """What was about to come when the loader was paused never comes. (No public report.)"""

    clause, smallest = "PIPE-19", "n4,w1,b1,pipeline,with=begun"
    changes: ClassVar[dict[str, Any]] = {"dataloader2:DataLoader2Iterator.resume": _without_the_next}


# --- workers that die, loaders that are given up --------------------------------------------------------------------


def _without_its_name(lane: Any) -> None:
    _lose(lane)
    lane.failure = RuntimeError("a worker has ended")


class NamesNoWorker(Pipelines):
    """A worker that has died is an error that does not say which one it was."""

    clause, smallest = "PIPE-15", "n1,w1,b1,k1,pipeline,exit@0"
    report = "pytorch/data#1173"
    changes: ClassVar[dict[str, Any]] = {"pipelines.crew:_Lane.lose": _without_its_name}


def _in_peace(lane: Any) -> None:
    _lose(lane)
    lane.failure = None


class TakesDeathForTheEnd(Pipelines):
    """A worker that has died counts as one that has no more."""

    clause, smallest = "PIPE-15", "n1,w1,b1,k1,pipeline,exit@0"
    report = "pytorch/data#1109"
    related = ("PIPE-12",)
    changes: ClassVar[dict[str, Any]] = {"pipelines.crew:_Lane.lose": _in_peace}


# A crew that nobody refers to hangs up, and its workers end by that.
_kept: list[Crew] = []


class OutlivesShutdown(Pipelines):
    """Worker processes outlive shutdown()."""

    clause, smallest = "PIPE-17", "n1,w1,b1,k1,pipeline,shut@1"
    report = "pytorch/data#1176"
    changes: ClassVar[dict[str, Any]] = {"pipelines.crew:Crew.end": lambda crew: _kept.append(crew)}


class GoesOnAfterShutdown(Pipelines):
    """A loader that was shut down begins another epoch. (No public report.)"""

    clause, smallest = "PIPE-17", "n1,w1,b1,pipeline,shut@0"
    changes: ClassVar[dict[str, Any]] = {"dataloader2:DataLoader2._check_alive": lambda loader: None}


# --- what can't be --------------------------------------------------------------------------------------------------


class FiltersTwice(Pipelines):
    """A second filter on the same path takes its part of the part. (No public report.)"""

    clause, smallest = "PIPE-18", "n1,w1,b1,pipeline,with=twice"
    changes: ClassVar[dict[str, Any]] = {
        "dataloader2:check_sharding": lambda pipe: None,
        "pipelines.services:check_sharding": lambda pipe: None,
    }


def _only_one(pipe: Any) -> None:
    if sum(map(pipe_graph.shards, pipe_graph.walk(pipe))) > 1:
        raise RuntimeError("sharding twice")


class RefusesAFilterInEachBranch(Pipelines):
    """Two filters are refused, though each stands in a branch of its own."""

    clause, smallest = "PIPE-18", "n1,w1,b1,pipeline,with=zip"
    report = "pytorch/data#1082"
    changes: ClassVar[dict[str, Any]] = {"dataloader2:check_sharding": _only_one}


def _in_any_order(joined: Any, *reading_services: Any) -> None:
    joined.reading_services = reading_services


class JoinsServicesInAnyOrder(Pipelines):
    """Workers may be started before they know their rank."""

    clause, smallest = "PIPE-20", "n1,w2,b1,pipeline,with=wrong"
    report = "pytorch/data#911"
    changes: ClassVar[dict[str, Any]] = {"reading_service:SequentialReadingService.__init__": _in_any_order}
