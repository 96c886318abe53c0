"""What the suite does to a loader that reads ahead: consumers that take their time, interrupts, ends of processes."""

import atexit
import os
import signal
import threading
import weakref
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given

from conformance.ahead.conduct import Late, quiet
from conformance.clauses import CLAUSES
from conformance.contract import AHEAD, AdapterError, Claims, parse_claims
from conformance.loader import endings, patience
from conformance.loader.interrupts import first, interrupt
from conformance.loader.member import Reading
from conformance.loader.probes import Watch
from conformance.loader.reading import Reader
from conformance.loader.scenario import Scenario, from_code
from conformance.processes.descendants import children
from conformance.processes.sources import forget_exit_handlers
from conformance.processes.task import Task
from conformance.trace import Epoch, RankRun, Run, Trace
from tests.harness.tried import drawn, listed

ALL = parse_claims(
    dict(
        datasets=("map", "iterable"),
        asynchronous=True,
        hooks=AHEAD,
        workers=True,
        iterable_workers="split",
        shuffle="global",
        length=True,
    )
)
FEW = Claims(asynchronous=True)


# --- what is tried --------------------------------------------------------------------------------------------------


@given(drawn("async", ALL))
def test_a_code_reads_back_as_its_scenario(scenario: Scenario) -> None:
    """Whatever is drawn is asynchronous, and is replayed by its code alone."""
    assert (True, scenario) == (scenario.asynchronous, from_code(scenario.code))


@pytest.mark.parametrize("claims", [ALL, FEW], ids=["all", "few"])
def test_what_is_always_tried_reads_back(claims: Claims) -> None:
    """No two scenarios that are always tried have one code."""
    scenarios = listed("async", claims)
    assert scenarios == [from_code(scenario.code) for scenario in scenarios]
    assert len(scenarios) == len({scenario.code for scenario in scenarios})


@given(drawn("async", FEW))
def test_nothing_is_asked_for_that_is_not_claimed(scenario: Scenario) -> None:
    """Without claims there are no hooks, no workers, no streams and no shuffle."""
    usual = (0, False, True, False, 0, "map", False)
    asked = [getattr(scenario, name) for name in (*AHEAD, "num_workers", "dataset", "shuffle")]
    assert usual == tuple(asked)


def test_a_scenario_says_how_it_reads_ahead() -> None:
    """Each way of reading ahead has its words and its part of the code."""
    scenario = from_code("n4,w1,b2,keep,k1,a3,async,early,once,look@1")
    words = "asynchronous, buffer size 3, early preload, not loading indefinitely, step 1 looked at for long"
    assert f"4 samples, 1 rank, micro-batch 2, drop_last=False, 1 worker, {words}" == scenario.describe()


def test_a_hook_of_reading_ahead_needs_the_claim() -> None:
    """The sentence names the hook and the mend."""
    with pytest.raises(AdapterError, match="the hook 'buffer_size' needs asynchronous=True; claim both or neither"):
        parse_claims(dict(hooks=("buffer_size",)))


# --- consumers that take their time ---------------------------------------------------------------------------------


@pytest.fixture
def watch(tmp_path: Path) -> Watch:
    """A watch of this process."""
    return Watch(str(tmp_path), consumer=os.getpid())


def test_a_loader_is_quiet_when_no_read_comes(watch: Watch) -> None:
    """What was read by then is counted."""
    watch.read(0, None)
    watch.begin_epoch(0)
    watch.read(1, None)
    assert 2 == quiet(watch)


def test_reads_that_must_come_are_waited_for(watch: Watch, monkeypatch: pytest.MonkeyPatch) -> None:
    """The wait ends with the reads, which come however late."""
    monkeypatch.setattr("conformance.ahead.conduct._QUIET", 0.0)
    may_read = threading.Event()
    thread = threading.Thread(target=lambda: may_read.wait() and watch.read(0, None))
    thread.start()
    monkeypatch.setattr(Watch, "count", _counting(Watch.count, may_read))
    assert 1 == quiet(watch, enough=1)
    thread.join()


def _counting(count: Callable[[Watch], int], looked: threading.Event) -> Callable[[Watch], int]:
    def counted(watch: Watch) -> int:
        found = count(watch)
        looked.set()
        return found

    return counted


class OneAtATime:
    """A loader that refuses a second iterator while the first is alive."""

    def __init__(self) -> None:
        self.alive: Any = lambda: None

    def __iter__(self) -> Iterator[list[int]]:
        if self.alive() is not None:
            raise RuntimeError("one iterator at a time")
        steps = Steps([[1000], [1001]])
        self.alive = weakref.ref(steps)
        return steps


class Steps(Iterator[list[int]]):
    """An iterator that can be referred to weakly."""

    def __init__(self, steps: list[list[int]]) -> None:
        self.steps = iter(steps)

    def __next__(self) -> list[int]:
        return next(self.steps)


def late(loader: Any, watch: Watch) -> Late:
    """A consumer of two epochs."""
    reader = Reader(loader, None, sets_epoch=False, most=9, before_epoch=watch.begin_epoch)
    going: Any = Reading(None, Task("", Scenario(2), 0, (0, 1)), Scenario(2), None, watch)  # type: ignore[arg-type]
    going.reader = reader
    return Late(going)


def test_a_refused_restart_is_asked_for_again(watch: Watch) -> None:
    """A loader of one iterator at a time begins again once the first one is gone (WORK-13)."""
    consumer = late(OneAtATime(), watch)
    consumer.restart(1)
    assert [((0,),), ((0,), (1,))] == [epoch.steps for epoch in consumer.epochs]


class Overwrites:
    """A loader whose step changes while the loader is looked at."""

    def __init__(self, watch: Watch) -> None:
        self.watch = watch

    def __iter__(self) -> Iterator[list[int]]:
        return iter([Changing([1000]), [1001]])


class Changing(list[int]):
    """A step that is another one each time it is read."""

    def __iter__(self) -> Iterator[int]:
        self[0] += 1
        return super().__iter__()


def test_a_step_that_changes_while_it_is_held_is_remarked(watch: Watch) -> None:
    """What it was and what it has become are told."""
    consumer = late(Overwrites(watch), watch)
    consumer.look_long(0)
    assert [("held", "0"), ("changed", "step 0: 1 became 2")] == consumer.remarks


# --- what a judge may not say ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("clause", ["ASYNC-3", "ASYNC-4", "ASYNC-5"])
@pytest.mark.parametrize(("loaded", "read"), [(9, 9), (0, 0)])
def test_a_loader_of_files_is_not_seen(clause: str, loaded: int, read: int) -> None:
    """Who has read all when it was loaded, or has files of an earlier request, says nothing of how far it is."""
    case = {"ASYNC-3": "a1,async,look@0", "ASYNC-4": "async,early,before", "ASYNC-5": "async,between"}[clause]
    scenario = from_code(f"n9,w1,b1,keep,{case}")
    remarks = [(at, str(read)) for at in ("before", "held", "between", "read")]
    run = RankRun(0, (Epoch(0, ((0,),)),), remarks=(("loaded", str(loaded)), *remarks))  # type: ignore[arg-type]
    assert CLAUSES[clause].judge(scenario, ALL, Trace(scenario, (Run("main", (run,)),))) is None


# --- interrupts -----------------------------------------------------------------------------------------------------


@pytest.fixture
def _can_be_interrupted() -> Iterator[None]:
    """Whoever runs the tests in the background has taken Python's handler away."""
    usual = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, usual)


@pytest.mark.usefixtures("_can_be_interrupted")
def test_a_consumer_is_interrupted_in_its_wait(watch: Watch) -> None:
    """The read strikes once the consumer sleeps, and goes on when it has noticed."""
    reading = threading.Thread(target=interrupt, args=(watch.folder, os.getpid()))
    reading.start()
    first(watch.folder, "asks")
    with pytest.raises(KeyboardInterrupt):
        threading.Event().wait(30)
    first(watch.folder, "noticed")
    reading.join()


def test_a_consumer_that_does_not_ask_is_spared(watch: Watch, monkeypatch: pytest.MonkeyPatch) -> None:
    """A loader that reads ahead in `load` is not interrupted there."""
    monkeypatch.setattr("conformance.loader.interrupts._UNTIL_ASKED", 0.0)
    interrupt(watch.folder, os.getpid())
    assert not Path(watch.folder, "struck").exists()


# --- the end of a process -------------------------------------------------------------------------------------------


def test_a_process_that_ends_leaves_nothing_to_say(tmp_path: Path) -> None:
    """A reader that keeps nothing but a list ends with exit code 0."""
    assert "" == endings.end_a_process(lambda: [1], str(tmp_path))


def test_a_process_that_can_not_read_is_no_case(tmp_path: Path) -> None:
    """What fails before a step was read is judged elsewhere."""
    assert endings.end_a_process(lambda: 1 // 0, str(tmp_path)) is None


def test_a_thread_that_is_no_daemon_keeps_its_process(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A process that does not end is told, and is killed."""
    monkeypatch.setattr(endings, "_UNTIL_ENDED", 0.2)
    before = children(os.getpid())
    told = endings.end_a_process(lambda: threading.Thread(target=threading.Event().wait).start(), str(tmp_path))
    assert ("it does not end within 0.2 s", before) == (told, children(os.getpid()))


def test_exit_handlers_run_at_the_end(tmp_path: Path) -> None:
    """A loader may rely on atexit."""
    left = tmp_path / "left"

    def read() -> None:
        left.touch()
        atexit.register(left.unlink)

    assert ("", False) == (_end_alone(read, tmp_path), left.exists())


def test_what_is_alive_is_let_go_of(tmp_path: Path) -> None:
    """A loader may rely on being collected."""
    left = tmp_path / "left"

    class Kept:
        def __init__(self) -> None:
            left.touch()

        def __del__(self) -> None:
            left.unlink()

    assert ("", False) == (_end_alone(Kept, tmp_path), left.exists())


def test_a_persons_own_handlers_are_not_run(tmp_path: Path) -> None:
    """What this process will do at its own end is not done by one that was forked from it."""

    class Mine:
        pass

    mine, mark = Mine(), tmp_path / "mark"
    finalizer = weakref.finalize(mine, mark.touch)
    assert ("", False) == (_end_alone(list, tmp_path), mark.exists())
    finalizer.detach()


def _end_alone(read: Callable[[], Any], folder: Path) -> str | None:
    """End a process that has none of the handlers of this one, as a member has none."""

    def read_alone() -> Any:
        forget_exit_handlers()
        return read()

    return endings.end_a_process(read_alone, str(folder))


def test_a_process_that_is_left_behind_becomes_a_child(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Orphans of the process that ended are counted as the rank's."""
    monkeypatch.setattr(patience, "SHORT_GRACE", 0.1)
    before = set(children(os.getpid()))

    def read() -> None:
        if os.fork() == 0:
            threading.Event().wait()

    assert "" == endings.end_a_process(read, str(tmp_path))
    (left,) = set(children(os.getpid())) - before
    os.kill(left, 9)
    os.waitpid(left, 0)
