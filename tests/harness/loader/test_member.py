"""One rank's loader, read to its end or to its fault."""

import itertools
import pickle
import random
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import torch

from conformance.contract import Claims, Implementation, parse_claims
from conformance.loader.asked import others_of
from conformance.loader.datasets import FIRST_OF_ANOTHER, FIRST_SAMPLE
from conformance.loader.member import perform
from conformance.loader.runs import PERFORMER
from conformance.loader.scenario import Scenario
from conformance.processes.task import Task
from conformance.trace import Epoch, RankRun, Saved
from tests.harness import plain_loader

BATCHES = [[1000, 1001], [1002]]


@pytest.fixture
def read(tmp_path: Path) -> Callable[..., RankRun]:
    """A function that reads what `load` gives, as a rank of the fleet would."""

    def function(load: Callable[[Any], Any], samples: int = 3, epochs: int = 1, **other: Any) -> RankRun:
        claims = other.pop("claims", Claims())
        decode = other.pop("decode", None)
        rank, others = other.pop("rank", 0), other.pop("others", ())
        scenario = Scenario(samples, **{"batch_size": 2, **other})
        task = Task(PERFORMER, scenario, rank, tuple(range(epochs)), others=others)
        return perform(Implementation("mine", load, claims, decode), task, str(tmp_path))

    return function


Read = Callable[..., RankRun]


def test_what_comes_is_written_down(read: Read) -> None:
    """Indices step by step, epoch by epoch, with the length."""
    run = read(plain_loader.load, epochs=2)
    assert (Epoch(0, ((0, 1), (2,)), 2), Epoch(1, ((0, 1), (2,)), 2)) == run.epochs
    assert (0, None) == (run.rank, run.failure)


def test_other_loaders_are_read_before_it(read: Read) -> None:
    """One that is other in everything, and one for each thing that may be kept; any is the first at some size."""
    asked: list[tuple[int, int, int, bool, int, int]] = []

    def load(request: Any) -> Any:
        fields = (request.world_size, request.batch_size, request.drop_last, request.seed, request.dataset[0])
        asked.append((len(request.dataset), *fields))
        if request.world_size > 1:
            raise ValueError("one rank only")
        return plain_loader.load(request)

    run = read(load, shuffle=True, others=others_of(Scenario(3, batch_size=2, shuffle=True), Claims()))
    assert (None, 1) == (run.failure, len(run.epochs))
    before = [
        (7, 1, 2, False, 99, FIRST_SAMPLE),
        (3, 2, 2, False, 0, FIRST_SAMPLE),
        (3, 1, 3, False, 0, FIRST_SAMPLE),
        (3, 1, 2, True, 0, FIRST_SAMPLE),
        (3, 1, 2, False, 1, FIRST_SAMPLE),
        (3, 1, 2, False, 0, FIRST_OF_ANOTHER),
    ]
    # A refusal is no matter here.
    assert [*before[3:], *before[:3], (3, 1, 2, False, 0, FIRST_SAMPLE)] == asked


def test_a_loader_needs_no_length(read: Read) -> None:
    """A loader without `len` has none in the trace."""
    assert (Epoch(0, ((0, 1), (2,)), None),) == read(lambda request: iter(BATCHES)).epochs


def test_what_a_signal_handler_raises_while_a_batch_is_read_out_is_an_error(read: Read) -> None:
    """The batch can be read out when that is tried again: it was sound."""
    calls = itertools.count()

    def decode(batch: Any) -> Any:
        if next(calls) == 0:
            raise RuntimeError("a worker is killed")
        return batch

    failure = read(plain_loader.load, decode=decode).failure
    assert ("raised", "RuntimeError: a worker is killed") == (failure and failure.kind, failure and failure.message)


def test_the_old_sequence_protocol_is_a_loader(read: Read) -> None:
    """What has __getitem__ alone can be iterated."""

    class Old:
        def __getitem__(self, index: int) -> list[int]:
            return BATCHES[index]

    assert ((0, 1), (2,)) == read(lambda request: Old()).epochs[0].steps


def stops(where: str) -> Callable[[Any], Any]:
    """A loader that raises at one place."""

    class Loader:
        def set_epoch(self, epoch: int) -> None:
            trip("set_epoch")

        def __iter__(self) -> Iterator[Any]:
            trip("iter")
            return self

        def __next__(self) -> Any:
            trip("step")
            raise StopIteration

        def close(self) -> None:
            trip("close")

    def trip(here: str) -> None:
        if here == where:
            raise ValueError(f"no {here}\nsecond line at 0x7f00deadbeef")

    def load(request: Any) -> Any:
        trip("load")
        return Loader()

    return load


@pytest.mark.parametrize("where", ["load", "set_epoch", "iter", "step", "close"])
def test_an_exception_is_found_where_it_is_raised(read: Read, where: str) -> None:
    """The failure says in which call, with the first line of the message."""
    failure = read(stops(where)).failure
    assert failure is not None
    assert ("raised", where, f"ValueError: no {where}") == (failure.kind, failure.where, failure.message)


def leaves(request: Any) -> Any:
    """A loader that ends the process as a script does."""
    sys.exit(3)


def endless(request: Any) -> Any:
    """A loader that never stops."""
    return itertools.repeat([1000])


def endless_and_empty(request: Any) -> Any:
    """A loader that never stops giving nothing."""
    return itertools.repeat([])


@pytest.mark.parametrize(
    ("load", "kind", "where", "message"),
    [
        (
            lambda request: None,
            "unusable",
            "load",
            "load(request) gives None, which can't be iterated; return the loader",
        ),
        (lambda request: 7, "unusable", "load", "load(request) gives a int, which can't be iterated"),
        (lambda request: SimpleNamespace(), "unusable", "load", "load(request) gives a SimpleNamespace"),
        (lambda request: list, "raised", "iter", "TypeError: 'type' object is not iterable"),
        (leaves, "raised", "load", "SystemExit: 3"),
        (endless, "endless", "step", "after 23 steps there are still more"),
        (endless_and_empty, "endless", "step", "after 23 steps there are still more"),
        (lambda request: [["a"]], "undecodable", "step", "Undecodable: a batch holds 'a', which is no sample"),
        (lambda request: [None], "undecodable", "step", "Undecodable: a batch holds None, which is no sample"),
        (lambda: [], "raised", "load", "TypeError: "),
    ],
)
def test_a_useless_loader_is_a_failure(read: Read, load: Any, kind: str, where: str, message: str) -> None:
    """What can't be read is written down as a failure, with a sentence."""
    failure = read(load).failure
    assert failure is not None
    assert (kind, where) == (failure.kind, failure.where)
    assert message in failure.message


def test_what_came_before_the_fault_is_kept(read: Read) -> None:
    """Epochs that were read to the end stay in the trace."""

    class Tires:
        epoch = 0

        def __iter__(self) -> Iterator[Any]:
            self.epoch += 1
            if self.epoch == 2:
                raise RuntimeError("tired")
            return iter(BATCHES)

    run = read(lambda request: Tires(), epochs=3)
    assert (1, 1) == (len(run.epochs), run.failure and run.failure.epoch)


@pytest.mark.parametrize(
    ("error", "length"),
    [
        (TypeError("unknown"), "TypeError: unknown"),
        (ZeroDivisionError(), "ZeroDivisionError"),
        (SystemExit(1), "SystemExit: 1"),
    ],
)
def test_an_error_of_len_is_its_length(read: Read, error: BaseException, length: str) -> None:
    """`len` may raise: the epoch is read all the same, and the judge decides."""

    class Loader:
        def __len__(self) -> int:
            raise error

        def __iter__(self) -> Iterator[Any]:
            return iter(BATCHES)

    run = read(lambda request: Loader())
    assert (Epoch(0, ((0, 1), (2,)), length),) == run.epochs


def test_a_negative_length_is_an_error_of_len(read: Read) -> None:
    """Python itself refuses it."""

    class Loader(list[Any]):
        def __len__(self) -> int:
            return -1

    assert "ValueError: __len__() should return >= 0" == read(lambda request: Loader(BATCHES)).epochs[0].length


@pytest.mark.parametrize("name", ["close", "shutdown", "terminate"])
def test_a_loader_is_closed_by_its_own_word(read: Read, name: str) -> None:
    """Whichever of the three it has is called once, at the end."""
    calls: list[str] = []

    class Loader(list[Any]):
        pass

    setattr(Loader, name, lambda self: calls.append(name))
    read(lambda request: Loader(BATCHES), epochs=2)
    assert [name] == calls


def test_a_loader_is_closed_after_a_fault(read: Read) -> None:
    """An error in an epoch does not leave the loader open."""
    calls: list[str] = []

    class Loader(list[Any]):
        def close(self) -> None:
            calls.append("close")

    failure = read(lambda request: Loader([None])).failure
    assert ("undecodable", ["close"]) == (failure and failure.kind, calls)


def test_the_first_fault_is_told(read: Read) -> None:
    """A loader that fails to close after it failed to read is told for its reading."""

    class Loader(list[Any]):
        def close(self) -> None:
            raise RuntimeError("can't close")

    failure = read(lambda request: Loader([None])).failure
    assert "undecodable" == (failure and failure.kind)


def test_the_epoch_is_set_where_it_can_be(read: Read) -> None:
    """Loaders with set_epoch are told the epoch, unless they claim to count themselves."""
    told: list[int] = []

    class Loader(list[Any]):
        def set_epoch(self, epoch: int) -> None:
            told.append(epoch)

    read(lambda request: Loader(BATCHES), epochs=2)
    read(lambda request: Loader(BATCHES), epochs=2, claims=parse_claims(dict(epochs="automatic")))
    assert [0, 1] == told


def test_the_adapters_decode_is_asked(read: Read) -> None:
    """`decode` finds samples that the default can't."""
    run = read(lambda request: [["1000", "1002"]], decode=lambda batch: [int(text) for text in batch])
    assert ((0, 2),) == run.epochs[0].steps


def test_a_decode_that_raises_is_a_failure(read: Read) -> None:
    """An error in `decode` is told as one of decoding."""
    failure = read(lambda request: BATCHES, decode=lambda batch: batch["x"]).failure
    assert failure is not None
    assert ("undecodable", "step") == (failure.kind, failure.where)
    assert failure.message.startswith("TypeError: ")


@pytest.mark.parametrize("word", ["prints", "address 0x7f00deadbeef", "pid 4711", "pid(s) 12, 13"])
def test_a_message_holds_nothing_that_changes(read: Read, word: str) -> None:
    """Addresses and process ids are taken out, so that two runs say the same."""

    def load(request: Any) -> Any:
        raise RuntimeError(f"no luck: {word}")

    failure = read(load).failure
    assert failure is not None
    assert not any(number in failure.message for number in ("deadbeef", "4711", "12", "13"))


DISTURB: dict[str, Callable[[], Any]] = {
    "random": random.random,
    "numpy": np.random.random,
    "torch": lambda: torch.manual_seed(3),
}


@pytest.mark.parametrize("library", DISTURB)
def test_a_loader_that_draws_or_seeds_is_seen(read: Read, library: str) -> None:
    """The state of the one library that was touched has changed behind the run."""

    def load(request: Any) -> Any:
        DISTURB[library]()
        return BATCHES

    states = read(load).random_states
    assert [library] == [state.library for state in states if state.before != state.after]


def test_a_loader_that_does_not_is_not_seen(read: Read) -> None:
    """Reading alone changes no state."""
    assert not [state for state in read(plain_loader.load).random_states if state.before != state.after]


def test_the_workdir_is_kept_for_one_dataset(read: Read) -> None:
    """Requests of one dataset find what an earlier one left; another dataset has another folder."""

    def load(request: Any) -> Any:
        mark = Path(request.workdir) / "mark"
        found = mark.exists()
        mark.touch()
        return [[1000 + found]]

    assert [0, 1, 0] == [read(load, samples=samples).epochs[0].samples[0] for samples in (3, 3, 4)]


def test_ranks_that_resume_from_one_state_share_no_folder(tmp_path: Path) -> None:
    """The rank that took a state finds its files; one rank more has a folder of its own, and a log of its own."""
    first, other = tmp_path / "first", tmp_path / "other"
    folders = []

    class Resumed(plain_loader.PlainLoader):
        """Says where it may write, and begins again whatever the state."""

        def load_state_dict(self, state: Any) -> None:
            folders.append(Path(self.request.workdir))

    scenario = Scenario(3, world_size=2, batch_size=2, num_workers=1, epochs=2, conduct="save@1")
    saved = (Saved(pickle.dumps({}), workdir=str(first)),)
    for rank, home in enumerate((first, other)):
        task = Task(PERFORMER, scenario, rank, (0, 1), conducts="conformance.restarts.conduct", saved=saved)
        run = perform(Implementation("mine", Resumed, Claims()), task, str(home))
        assert run.failure is None
        assert (home / "watch" / "reads.txt").exists()
    assert [first, other] == [folder.parent for folder in folders]
