"""The processes in which ranks run: whatever a loader does to its process, the run goes on."""

import os
import signal
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from conformance.contract import AdapterError, Claims, Implementation, parse_claims
from conformance.loader.runs import PERFORMER
from conformance.loader.scenario import Scenario
from conformance.processes.fleet import Fleet
from conformance.processes.sources import ForkedSource, SpawnedSource
from conformance.processes.task import Task
from conformance.trace import Failure, RankRun
from tests.harness import hostile_loaders, plain_loader
from tests.harness.proc import children, descriptors, marked, needs_proc

HERE = Path(__file__).parents[1]
PATIENCE = 0.5


def task(samples: int = 4, rank: int = 0, meets: bool = False, **asked: Any) -> Task:
    """One rank's part."""
    return Task(PERFORMER, Scenario(samples, **{"batch_size": 2, **asked}), rank, (0,), meets=meets)


def forked(load: Callable[[Any], Any], claims: Claims | None = None) -> ForkedSource:
    """A source for a loader that exists in this process only."""
    return ForkedSource(Implementation("mine", load, claims or parse_claims(plain_loader.claims)))


def samples(run: RankRun) -> tuple[int, ...]:
    """What the first epoch delivered."""
    return run.epochs[0].samples


@pytest.fixture(scope="module")
def plain() -> Iterator[Fleet]:
    """A fleet of its own interpreters, as the command line starts it."""
    with Fleet(SpawnedSource(str(HERE / "plain_loader.py"))) as fleet:
        yield fleet


def test_the_claims_come_from_the_other_process(plain: Fleet) -> None:
    """This process never imports the implementation."""
    assert parse_claims(plain_loader.claims) == plain.claims


def test_ranks_run_side_by_side(plain: Fleet) -> None:
    """Each rank answers for itself, in order."""
    runs = plain.run([task(rank=rank, world_size=3) for rank in range(3)])
    assert [(0, (0, 3)), (1, (1,)), (2, (2,))] == [(run.rank, samples(run)) for run in runs]


def test_a_process_is_used_a_hundred_times(plain: Fleet) -> None:
    """The same members answer again and again."""
    before = plain.run([task()])
    members = children()
    assert [before] * 100 == [plain.run([task()]) for _ in range(100)]
    assert members == children()


@pytest.fixture(scope="module")
def telling(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Fleet]:
    """A fleet whose loader tells where it runs."""
    path = tmp_path_factory.mktemp("adapter") / "telling.py"
    path.write_text(
        "import os\ndef load(request):\n    cores = len(os.sched_getaffinity(0))\n"
        "    return [[1000 + hash('loaderspec') % 10**6, 1000 + os.getpid()], [1000 + cores]]\n"
    )
    with Fleet(SpawnedSource(str(path))) as fleet:
        yield fleet


def told(fleet: Fleet, ranks: int = 1, shift: int = 0) -> list[tuple[int, ...]]:
    """Hash and process of each rank."""
    return [
        run.epochs[0].steps[0] for run in fleet.run([task(rank=rank, world_size=ranks) for rank in range(ranks)], shift)
    ]


def test_two_ranks_have_two_hash_seeds(telling: Fleet) -> None:
    """Ranks of a real job share no hash seed, and no process."""
    (one, first), (two, second) = told(telling, ranks=2)
    assert one != two
    assert first != second


def test_every_second_rank_has_the_same_hash_seed(telling: Fleet) -> None:
    """There are two seeds; which rank has which is always the same."""
    hashes = [hash_value for hash_value, _ in told(telling, ranks=4)]
    assert (hashes[0], hashes[1]) == (hashes[2], hashes[3])


def test_the_other_process_has_the_other_hash_seed(telling: Fleet) -> None:
    """`shift` moves a rank to another process with another seed."""
    ((one, first),) = told(telling)
    ((two, second),) = told(telling, shift=1)
    assert one != two
    assert first != second


def test_two_ranks_may_use_other_numbers_of_cores(telling: Fleet) -> None:
    """The second one has a core less, if there are two: an order that is made by their number differs."""
    runs = telling.run([task(rank=rank, world_size=2) for rank in range(2)])
    cores = len(os.sched_getaffinity(0))
    assert [(cores,), (max(1, cores - 1),)] == [run.epochs[0].steps[1] for run in runs]


def test_renewed_members_are_new_processes(telling: Fleet) -> None:
    """After `renew` nothing runs where it ran before, with the hash seeds as they were."""
    ((hash_before, process_before),) = told(telling)
    telling.renew()
    ((hash_after, process_after),) = told(telling)
    assert hash_before == hash_after
    assert process_before != process_after


@pytest.mark.parametrize("name", hostile_loaders.ENDINGS)
def test_a_loader_that_ends_its_process_is_a_failure(name: str) -> None:
    """The failure says how the process ended, and the next task is answered by a new one."""
    load, kind, message = hostile_loaders.ENDINGS[name]

    def once(request: Any) -> Any:
        return load(request) if request.seed == 1 else hostile_loaders.BATCHES

    with Fleet(forked(once), PATIENCE) as fleet:
        (run,) = fleet.run([task(seed=1)])
        assert run.failure is not None
        assert (kind, message) == (run.failure.kind, run.failure.message)
        assert (0, 1, 2, 3) == samples(fleet.run([task()])[0])


def test_one_rank_that_hangs_leaves_the_others_alone() -> None:
    """The other ranks' runs are whole."""

    def load(request: Any) -> Any:
        return hostile_loaders.hangs(request) if request.rank == 1 else plain_loader.load(request)

    with Fleet(forked(load), PATIENCE) as fleet:
        runs = fleet.run([task(rank=rank, world_size=3) for rank in range(3)])
    assert [None, "hung", None] == [run.failure and run.failure.kind for run in runs]
    assert ((0, 3), (2,)) == (samples(runs[0]), samples(runs[2]))


@pytest.mark.parametrize("name", hostile_loaders.HARMLESS)
def test_a_loader_that_is_only_rude_delivers(name: str, capfd: pytest.CaptureFixture[str]) -> None:
    """Printing, reading, leaving things behind: nothing of it reaches the person, or the next task."""
    with Fleet(forked(hostile_loaders.HARMLESS[name])) as fleet:
        runs = [fleet.run([task()])[0] for _ in range(2)]
    assert [(0, 1, 2, 3)] * 2 == [samples(run) for run in runs]
    assert ("", "") == capfd.readouterr()


def test_a_member_that_died_between_two_tasks_is_replaced(telling: Fleet) -> None:
    """The death shows as a failure of the task that finds it, and the one after that is answered."""
    ((_, process),) = told(telling)
    os.kill(process, signal.SIGKILL)
    (run,) = telling.run([task()])
    assert Failure("died", "step", "the process ended with signal SIGKILL") == run.failure
    assert told(telling) != [(_, process)]


def test_answers_of_any_size_arrive(plain: Fleet) -> None:
    """An answer that fills the pipe many times over is read to its end."""
    (run,) = plain.run([task(300_000, batch_size=1000)])
    assert 300_000 == len(samples(run))


@pytest.mark.parametrize(
    ("adapter", "sentence"),
    [
        ("raise ValueError('no luck')", "it raises ValueError: no luck"),
        ("import os; os._exit(3)", "the implementation's process ended while importing it; see what its import does"),
        ("import os, signal; os.kill(os.getpid(), signal.SIGKILL)", "was killed by SIGKILL while importing it"),
        ("raise KeyboardInterrupt", "ended while importing it"),
        ("claims = dict(shufle=1)\ndef load(request): ...", "the claim 'shufle' is unknown"),
        ("print('NOISE')", "has no load(request)"),
    ],
)
@needs_proc
def test_an_import_that_fails_leaves_nothing(
    adapter: str, sentence: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    """The sentence says what happened; no process, no folder and no descriptor is left."""
    path = tmp_path / "adapter.py"
    path.write_text(adapter)
    temporary = tmp_path / "temporary"
    temporary.mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(temporary))
    before = (children(), descriptors())
    with pytest.raises(AdapterError) as error:
        Fleet(SpawnedSource(str(path)))
    assert sentence in str(error.value)
    assert before == (children(), descriptors())
    assert [] == list(temporary.iterdir())
    assert ("", "") == capfd.readouterr()


EVERYTHING = {
    **{name: load for name, (load, _, _) in hostile_loaders.ENDINGS.items()},
    **hostile_loaders.HARMLESS,
    "plain": plain_loader.load,
}


@needs_proc
@pytest.mark.parametrize("name", EVERYTHING)
def test_a_closed_fleet_leaves_nothing(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """No process, not even a loader's own child, no folder and no descriptor is left."""
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    monkeypatch.setenv("LOADERSPEC_TEST_MARK", str(tmp_path))
    before = (children(), descriptors())
    with Fleet(forked(EVERYTHING[name]), PATIENCE) as fleet:
        fleet.run([task(rank=rank, world_size=2) for rank in range(2)])
    assert before == (children(), descriptors())
    assert [] == list(tmp_path.iterdir())
    assert [] == marked(str(tmp_path))


@needs_proc
def test_a_closed_fleet_of_interpreters_leaves_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What was spawned is gone as well, with whatever it started."""
    adapter = "import sys\nsys.path.insert(0, {!r})\nfrom tests.harness.hostile_loaders import leaves_a_child as load\n"
    path = tmp_path / "adapter.py"
    path.write_text(adapter.format(str(HERE)))
    temporary = tmp_path / "temporary"
    temporary.mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(temporary))
    monkeypatch.setenv("LOADERSPEC_TEST_MARK", str(tmp_path))
    before = (children(), descriptors())
    with Fleet(SpawnedSource(str(path))) as fleet:
        fleet.run([task(rank=rank, world_size=2) for rank in range(2)])
        assert len(marked(str(tmp_path))) > 2
    assert before == (children(), descriptors())
    assert ([], []) == (list(temporary.iterdir()), marked(str(tmp_path)))


def test_a_fleet_is_closed_twice() -> None:
    """Closing what is closed does nothing."""
    fleet = Fleet(forked(plain_loader.load))
    fleet.close()
    fleet.close()


def test_a_process_group_is_made_for_ranks_that_need_one() -> None:
    """Ranks that claim a process group find torch.distributed ready, with their rank and world size."""

    def load(request: Any) -> Any:
        import torch.distributed as distributed

        return [[1000 + distributed.get_rank(), 1000 + distributed.get_world_size()]]

    with Fleet(forked(load, parse_claims(dict(ranks="process_group")))) as fleet:
        runs = fleet.run([task(rank=rank, world_size=2, meets=True) for rank in range(2)])
    assert [(0, 2), (1, 2)] == [samples(run) for run in runs]


def test_sockets_fit_into_a_fleets_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where the temporary folder is so deep that a socket's path would be too long, another one is used."""
    deep = tmp_path / ("a" * 60)
    deep.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(deep))
    with Fleet(SpawnedSource(str(HERE / "plain_loader.py"))) as fleet:
        assert [] == list(deep.iterdir())
        assert all(run.failure is None for run in fleet.run([task()]))
