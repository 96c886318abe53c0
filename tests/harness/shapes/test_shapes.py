"""Classes and functions without an adapter: what they are asked for, and what they are taken to claim."""

import ast
import subprocess
import sys
from pathlib import Path
from typing import Any, ClassVar

import pytest

from conformance import check
from conformance.clauses import CLAUSES
from conformance.contract import Claims, Request, parse_claims
from conformance.processes.resolve import from_object
from conformance.processes.sources import SpawnedSource
from conformance.report.repro import write
from conformance.report.unclaimed import missing_claims
from conformance.shapes.shape import Shape, claims_of, shape_of
from conformance.shapes.source import adapter, told_of
from conformance.trial.known import parse_case
from conformance.trial.outcome import Report
from conformance.trial.session import Options, Session
from tests.harness import plain_loader, runs
from tests.harness.shapes import shaped

PARTS = dict(
    batch_size=2,
    drop_last=False,
    num_workers=0,
    replication_factor=1,
    device_iterations=1,
    gradient_accumulation=1,
    asynchronous=False,
    workdir="",
)


def delivered(target: Any, rank: int = 0, world_size: int = 1, epoch: int = 0, **asked: Any) -> list[Any]:
    """The steps of one epoch of a target that has no adapter, over five samples."""
    request = Request(
        **{
            **PARTS,
            "dataset": [*range(5)],
            "shuffle": False,
            "seed": 3,
            **asked,
            "rank": rank,
            "world_size": world_size,
        }
    )
    loader = from_object("it", target).load(request)
    if hasattr(loader, "set_epoch"):
        loader.set_epoch(epoch)
    return list(loader)


def check_case(spec: str, case: str) -> Report:
    """The report over one case."""
    with Session(SpawnedSource(spec), spec, Options(case=parse_case(case))) as session:
        return session.report()


def shape(target: Any) -> Shape:
    """The shape of a target that has one."""
    found = shape_of(target)
    assert found is not None
    return found


@pytest.mark.parametrize("target", [shaped.Plain, shaped.OfAnEpoch])
def test_a_loader_of_one_rank_is_asked_by_its_parameters(target: Any) -> None:
    """Steps, shuffle, seed and epoch reach it."""
    assert [[0, 1], [2, 3], [4]] == delivered(target)
    orders = [delivered(target, epoch=epoch, shuffle=True, batch_size=5) for epoch in (0, 1)]
    assert orders[0] != orders[1]
    assert ("ranks", "drop_last") == claims_of(shape(target))["without"]


def test_other_usual_names_are_filled_too() -> None:
    """`data`, `bs`, `process_index` and `process_count` are a dataset, a batch size, a rank and a world size."""
    assert [[1, 3]] == delivered(shaped.Ranked, rank=1, world_size=2)


def test_a_generator_carries_the_seed() -> None:
    """A parameter `generator` gets one that is seeded anew for each loader."""
    one, again, other = (delivered(shaped.seeded_by_generator, shuffle=True, seed=seed) for seed in (1, 1, 2))
    assert one == again != other


@pytest.mark.parametrize("target", [shaped.OwnLoader, shaped.OwnBatches])
def test_ranks_reach_torchs_classes_through_its_sampler(target: Any) -> None:
    """What takes a sampler and no rank gets a DistributedSampler, which pads."""
    steps = [[[int(each) for each in step] for step in delivered(target, rank=rank, world_size=2)] for rank in (0, 1)]
    assert [[[0, 2], [4]], [[1, 3], [0]]] == steps


def test_a_sampler_is_put_under_torchs_loader() -> None:
    """It gives indices, and the loader the samples."""
    assert [[1, 3]] == delivered(shaped.OwnSampler, rank=1, world_size=2)


@pytest.mark.parametrize("target", [lambda request: [], plain_loader.load, shaped.random, 7])
def test_what_takes_a_request_has_no_shape(target: Any) -> None:
    """A function `load(request)` is an adapter's, a module or a number none of anything."""
    assert None is shape_of(target)


@pytest.mark.parametrize(
    "target",
    [
        shaped.Plain,
        shaped.Ranked,
        shaped.OfAnEpoch,
        shaped.seeded_by_generator,
        shaped.OwnLoader,
        shaped.OwnSampler,
        shaped.OwnBatches,
        shaped.Needy,
    ],
)
def test_the_adapter_that_is_written_is_python(target: Any) -> None:
    """Its lines are short, it defines `claims` and `load`, and the claims are some that can be made."""
    text = adapter(shape(target), "mypkg/here.py", claims_of(shape(target)))
    assert {"load"} <= {each.name for each in ast.parse(text).body if isinstance(each, ast.FunctionDef)}
    assert f"from here import {target.__name__}\n" in text
    assert 120 >= max(map(len, text.splitlines()))
    parse_claims(claims_of(shape(target)))


def test_what_nobody_can_guess_is_named() -> None:
    """A parameter that must be given makes the adapter invalid, and stands in the text with a mark."""
    report = check(shaped.Needy, tier="quick")
    assert "Needy must be given path, which is no usual name" in report.outcomes[0].note
    assert "path=...,  # TODO" in adapter(shape(shaped.Needy), "mypkg", {})


def test_what_could_not_be_filled_is_told_by_name() -> None:
    """The report says what is asked for, and what is not."""
    notes = told_of(shape(shaped.Plain), Claims(shuffle="global", without=("ranks", "drop_last")))
    assert "Plain(dataset=, batch_size=, shuffle=, seed=) is taken to claim shuffle=" in notes[0]
    assert notes[1].startswith("what could not be filled: no drop_last, so drop_last=True is not asked for; no rank")


@pytest.mark.deep
def test_a_correct_loader_gets_a_green_verdict_without_claims() -> None:
    """What it is taken to claim holds, and no clause is left unexercised by what it can't be asked for."""
    report = check(shaped.Plain)
    assert [] == [each.clause for each in report.outcomes if each.fails(strict=False)]
    assert ("uneven", None) == (report.claims.when_keeping, report.claims.when_dropping)
    assert {"NOT CLAIMED"} == {report.outcome(each).status for each in ("COUNT-5", "PART-6", "ORDER-4", "COUNT-1")}


@pytest.mark.deep
def test_a_loader_of_samples_is_judged_in_steps_of_one() -> None:
    """Without a batch size, only such scenarios are tried."""
    report = check(shaped.of_samples)
    assert [] == [each.clause for each in report.outcomes if each.fails(strict=False)]
    assert {"NOT CLAIMED"} == {report.outcome(each).status for each in ("BATCH-4", "WORK-17")}


def test_ranks_that_differ_are_not_forgiven_without_a_claim() -> None:
    """A policy is taken from a look at the loader, but for what leaves ranks waiting."""

    def load(dataset: Any, batch_size: int, rank: int, world_size: int, drop_last: bool) -> list[Any]:
        if not (type(batch_size) is type(world_size) is int and batch_size > 0 and 0 <= rank < world_size):
            raise ValueError("no such rank or step")
        mine = [dataset[index] for index in range(rank, len(dataset), world_size)]
        return [mine[at : at + batch_size] for at in range(0, len(mine), batch_size)]

    report = check(load, tier="quick")
    assert ("drop", "uneven") == (report.claims.when_dropping, report.claims.when_keeping)
    assert "VIOLATED" == report.outcome("COUNT-5").status


def test_claims_of_the_class_itself_count() -> None:
    """A class that has `claims` says more than its parameters."""

    class Claimed(shaped.Plain):
        claims: ClassVar[dict[str, str]] = dict(when_keeping="drop")

    assert ("drop", "global") == ((claims := from_object("it", Claimed).claims).when_keeping, claims.shuffle)


def test_what_needs_ranks_says_so() -> None:
    """A clause that speaks of ranks is added by ranks, and no claim."""
    assert ("with ranks",) == missing_claims(CLAUSES["PART-6"], Claims(when_keeping="uneven", without=("ranks",)))


@pytest.mark.deep
def test_a_script_makes_the_loader_as_the_suite_did(tmp_path: Path) -> None:
    """The reproduction of a sampler's fault puts it under torch's loader by itself."""
    spec = "tests.harness.shapes.shaped:OwnSampler"
    (outcome,) = check_case(spec, "COUNT-5-n1,w2,b1,drop").outcomes
    assert outcome.case is not None
    write(outcome.case, spec, tmp_path, Claims(when_dropping="drop"), shape=shape(shaped.OwnSampler))
    done = subprocess.run(
        [sys.executable, *tmp_path.iterdir()], cwd=runs.HOME, capture_output=True, text=True, check=False
    )
    assert (1, True) == (done.returncode, "still violated: the ranks yield 1, 0 steps" in done.stdout)
