"""One campaign: what it tries, what it finds, and what it costs."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from conformance.clauses import CLAUSES
from conformance.contract import Claims, Implementation, parse_claims
from conformance.loader.runs import FIRST_EPOCH, UNDISTURBED
from conformance.loader.scenario import Scenario
from conformance.processes.fleet import Fleet
from conformance.processes.lane import Lane
from conformance.processes.sources import ForkedSource
from conformance.trace import Failure, RankRun, Run, Trace
from conformance.trial.campaign import Campaign
from conformance.trial.replay import family_clauses, replay
from conformance.trial.result import Result
from conformance.trial.tiers import Tier
from tests.harness import hostile_loaders, plain_loader

TINY = Tier("tiny", small_draws=100, floor_share=0.01)
EXAMPLES = {"map": 60, "workers": 2}
CLAIMS = parse_claims(plain_loader.claims)


def forked(load: Callable[[Any], Any], **claims: Any) -> ForkedSource:
    """A source for a loader of this process, with the claims of the plain one but for what is given."""
    return ForkedSource(Implementation("mine", load, parse_claims({**plain_loader.claims, **claims})))


@contextmanager
def campaign(
    load: Callable[[Any], Any], family: str = "map", seed: int = 0, patience: float = 10.0, **claims: Any
) -> Iterator[Campaign]:
    """A campaign against a loader of this process."""
    source = forked(load, **claims)
    with Fleet(source, patience) as fleet:
        yield Campaign(fleet, source.implementation.claims, family, TINY, seed, EXAMPLES.get(family))


class PadsSilently(plain_loader.PlainLoader):
    """Repeat samples so that ranks are equal, and say nothing."""

    def shard(self) -> list[int]:
        shard, request = super().shard(), self.request
        short = len(shard) * request.world_size < len(request.dataset) or request.rank >= (
            len(request.dataset) % request.world_size or request.world_size
        )
        return shard if request.drop_last or not short or not len(request.dataset) else [*shard, 0]


def found(result: Result) -> dict[str, str]:
    """The smallest cases by clause."""
    return {clause: case.id for clause, case in result.cases.items()}


@pytest.mark.deep
def test_a_correct_loader_has_no_case() -> None:
    """Nothing is found, and the clauses that could have failed say how often."""
    with campaign(plain_loader.load) as correct:
        result = correct.run()
    assert {} == found(result)
    assert {clause.id for clause in family_clauses("map", CLAIMS)} == set(result.exercised)
    assert result.exercised["PART-1"] > 0


def test_the_case_is_the_smallest_one() -> None:
    """Padding without saying so is shown with 1 sample and 2 ranks."""
    with campaign(PadsSilently) as padding:
        result = padding.run()
    assert "PART-1-n1,w2,b1,keep" == result.cases["PART-1"].id
    assert Scenario(1, 2) == result.cases["PART-1"].scenario == result.cases["PART-1"].trace.scenario


@pytest.mark.deep
def test_two_runs_are_equal() -> None:
    """The same loader and seed give the same counts, cases and traces."""
    results = []
    for _ in range(2):
        with campaign(PadsSilently) as padding:
            results.append(padding.run())
    assert results[0] == results[1]


def test_another_seed_tries_other_scenarios() -> None:
    """The seed chooses what is drawn."""
    tried = []
    for seed in (0, 1):
        with campaign(plain_loader.load, seed=seed) as drawing:
            tried.append(drawing.tried())
    assert tried[0] != tried[1]


def test_what_lies_in_the_folder_changes_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Hypothesis draws constants out of local modules; a campaign does not."""
    with campaign(plain_loader.load) as drawing:
        before = drawing.tried()
        (tmp_path / "harness_numbers.py").write_text("NUMBERS = [4711, 12345, 17, 23]\n")
        monkeypatch.syspath_prepend(str(tmp_path))
        monkeypatch.chdir(tmp_path)
        __import__("harness_numbers")
        assert before == drawing.tried()


@pytest.mark.deep
def test_a_scenario_is_run_once() -> None:
    """Verdicts are remembered while a case is made smaller."""
    calls: list[Scenario] = []
    with campaign(PadsSilently) as padding:
        lane = padding.fleet.lanes[0]
        run = lane.run
        lane.run = lambda tasks, *rest, **more: calls.append(tasks[0]) or run(tasks, *rest, **more)  # type: ignore
        padding.run()
        asked = len(calls)
        padding.run()
        cases = len(padding.run().cases)
    # A case that is found is confirmed in new processes each time, and nothing else is run again.
    assert (len(calls) - asked) <= 2 * 3 * cases


def hangs_on(*sizes: int) -> Callable[[Any], Any]:
    """A loader that never answers for datasets of these sizes."""

    def load(request: Any) -> Any:
        return hostile_loaders.hangs(request) if len(request.dataset) in sizes else plain_loader.load(request)

    return load


@pytest.mark.deep
def test_a_hang_is_found() -> None:
    """A loader that hangs for one size is found out by COUNT-6 or COUNT-7 like any other fault."""
    with campaign(hangs_on(3), patience=0.5) as hanging:
        result = hanging.run()
    assert result.cases
    assert {(3, "hung-in-step")} == {(case.scenario.samples, case.finding.kind) for case in result.cases.values()}


@pytest.mark.deep
@pytest.mark.parametrize("family", ["map", "statistics", "refusals"])
def test_a_loader_that_hangs_costs_a_bounded_time(family: str) -> None:
    """Six are waited for, six more for each violated clause, its case again, and four of what no clause reports."""
    waited = 0
    with campaign(hangs_on(*range(1, 100_000)), family, patience=0.2) as hanging:
        lane = hanging.fleet.lanes[0]
        run = lane.run

        def counted(*arguments: Any, **more: Any) -> Any:
            nonlocal waited
            runs = run(*arguments, **more)
            waited += any(rank.failure is not None and rank.failure.kind == "hung" for rank in runs)
            return runs

        lane.run = counted  # type: ignore[method-assign]
        result = hanging.run()
    assert 0 < waited <= 6 + 7 * len(result.cases) + 4


def test_what_does_not_show_again_is_not_reported(tmp_path: Path) -> None:
    """A case is confirmed in new processes: what only one process did is no finding."""
    mark = tmp_path / "mark"

    def load(request: Any) -> Any:
        if len(request.dataset) > 3 and not mark.exists():
            mark.touch()
            raise RuntimeError("only once")
        return plain_loader.load(request)

    with campaign(load) as flickering:
        assert {} == found(flickering.run())
    assert mark.exists()


def test_a_replay_runs_in_new_processes() -> None:
    """`replay` judges one scenario as if nothing had run before."""
    with Fleet(forked(PadsSilently)) as fleet:
        case, exercised = replay(fleet, CLAIMS, CLAUSES["PART-1"], Scenario(1, 2))
        assert case is not None
        assert ("PART-1-n1,w2,b1,keep", True) == (case.id, exercised)
        assert (None, True) == replay(fleet, CLAIMS, CLAUSES["PART-1"], Scenario(2, 2))
        assert (None, False) == replay(fleet, CLAIMS, CLAUSES["PART-1"], Scenario(0, 2))


def test_a_known_kind_is_tolerated_and_another_is_not() -> None:
    """What is known of a clause is passed over; another fault of the same clause is still found."""
    with campaign(PadsSilently) as padding:
        kind = padding.run().cases["PART-1"].finding.kind
        assert "PART-1" not in padding.run({"PART-1": frozenset({kind})}).cases
        assert "PART-1" in padding.run({"PART-1": frozenset({"another kind"})}).cases


def test_a_family_without_clauses_runs_nothing() -> None:
    """What is not claimed is not tried."""
    with campaign(hostile_loaders.exits, family="workers", workers=False) as nothing:
        assert {} == nothing.run().exercised


def test_the_clauses_of_a_family_come_in_order() -> None:
    """PART-2 comes before PART-10."""
    numbers = [clause.number for clause in family_clauses("map", Claims(shuffle="global", device_options=True))]
    assert sorted(numbers) == numbers


@pytest.mark.parametrize("family", ["refusals", "statistics"])
def test_a_listed_family_is_judged(family: str) -> None:
    """Families that are not drawn count their exercises too."""
    with campaign(plain_loader.load, family) as listed:
        result = listed.run()
    assert {} == found(result)
    assert all(result.exercised.values())


def test_what_waits_is_run_in_other_lanes() -> None:
    """Our lane runs what does not wait; a slow sample keeps no workers waiting that come and go."""
    ran: list[tuple[int, str]] = []

    def observed(lane: Lane, scenario: Scenario) -> Trace:
        ran.append((lane.number, scenario.code))
        return Trace(scenario, (Run("main", (RankRun(0, ()),)),))

    comes_and_goes = [Scenario(3, num_workers=1, conduct="leave@1", batch_size=size) for size in range(1, 8)]
    slow, plain = Scenario(3, fault="slow@0"), Scenario(3)
    with campaign(plain_loader.load, family="workers") as waiting:
        waiting.observed = observed  # type: ignore[method-assign]
        scenarios = [*comes_and_goes, slow, plain]
        waiting.aside.begin(scenarios, starts_slowly=False)
        traces = list(waiting.aside.each(scenarios, starts_slowly=False))
    assert [plain, *comes_and_goes, slow] == [scenario for scenario, _ in traces]
    assert [plain] == [scenario for scenario, trace in traces if trace is None]
    assert [comes_and_goes[0].code, comes_and_goes[5].code] == [code for lane, code in ran if lane == 1]
    assert [slow.code] == [code for lane, code in ran if lane == waiting.fleet.patient[0].number]


def test_what_hangs_aside_brings_what_a_clause_in_doubt_will_ask_for() -> None:
    """Of a run that hangs in another lane the runs that tell whether it hangs anyway are made there too."""
    scenario = Scenario(3, epochs=2, fault="raise@0")
    failures = {"hung": Failure("hung", "step", ""), "raised": Failure("raised", "step", "")}
    doubted = {}
    with campaign(plain_loader.load, family="life") as waiting:
        for kind, failure in failures.items():
            trace = Trace(scenario, (Run("main", (RankRun(0, (), failure),)),))
            waiting.observed = lambda lane, scenario, trace=trace: trace  # type: ignore[method-assign]
            begun = waiting.aside.run(waiting.fleet.patient[0], scenario)
            doubted[kind] = [run.name for run in begun.runs]
    assert {"hung": ["main", UNDISTURBED, FIRST_EPOCH], "raised": ["main"]} == doubted


def test_families_wait_in_lanes_of_their_own() -> None:
    """What a second family begins does not stand behind what the first one waits for; many runs share a few lanes."""
    with campaign(plain_loader.load, family="workers") as waiting:
        first, second = waiting.fleet.least_busy(5), waiting.fleet.least_busy(7)
        assert not {*first} & {*second}
        assert (5, 7) == (len(first), len(second))
        assert len(waiting.fleet.least_busy(1000)) < len(waiting.fleet.patient)


def test_what_waits_long_is_begun_once() -> None:
    """A family that was begun before its turn runs none of its scenarios again."""
    ran: list[Scenario] = []

    def observed(lane: Lane, scenario: Scenario) -> Trace:
        ran.append(scenario)
        return Trace(scenario, (Run("main", (RankRun(0, ()),)),))

    with campaign(plain_loader.load, family="workers") as waiting:
        waiting.observed = observed  # type: ignore[method-assign]
        waiting.begin()
        waiting.look({})
    long = [each for each in ran if each.waits > 1]
    assert long
    assert len(long) == len(set(long))


def test_a_fleet_that_closes_waits_for_no_hang() -> None:
    """A lane that waits for an answer gives up once the run is over, however long its patience is."""
    with campaign(hostile_loaders.hangs, "workers", patience=3600.0) as hanging:
        hanging.begin()
    assert hanging.aside.begun
    assert not any(share.result(timeout=0) for share in hanging.aside.begun)


def test_a_fleet_that_closes_begins_nothing_more() -> None:
    """What a lane was given and has not begun is not run after all."""
    with campaign(plain_loader.load, family="workers") as waiting:
        waiting.fleet.is_closing.set()
        waiting.begin()
        assert waiting.aside.begun
        assert not any(share.result() for share in waiting.aside.begun)
