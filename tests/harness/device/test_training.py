"""Whoever trains is judged without a loader, by scenarios that can be met or that must be refused."""

from typing import Any, ClassVar

import pytest
from hypothesis import given

from conformance import check
from conformance.contract import AdapterError, Claims, parse_claims
from conformance.device.scenario import DeviceScenario, from_code
from conformance.processes.resolve import from_object
from conformance.report.guarantees import guarantees
from conformance.trial.known import parse_case
from tests.harness.tried import drawn, listed
from tests.known_bad.trainers import PARTS, Trainer
from tests.museum.judged import judged, violated

ALL = Claims(device=PARTS)


class Accumulating:
    """A loop that accumulates gradients, as an adapter that has no loader; `divides` if it takes their mean."""

    __name__ = "accumulating"
    claims: ClassVar[dict[str, Any]] = {"device": ("training",)}

    def __init__(self, divides: bool) -> None:
        self.divides = divides

    def model(self, request: Any) -> Any:
        """The step of one rank."""

        class Loop(Trainer):
            """The correct trainer, but for what is asked."""

        if not self.divides:
            Loop.count = lambda trainer: 1  # type: ignore[method-assign]
        return Loop.model(request)


@pytest.mark.deep
def test_a_training_loop_needs_no_loader() -> None:
    """Its adapter has `model` alone; no clause of loaders binds it, and the report says what its updates are."""
    report = check(Accumulating(divides=True), tier="quick")
    assert report.passed
    assert {"DEVICE"} == {each.clause.partition("-")[0] for each in report.outcomes if each.status != "NOT CLAIMED"}
    assert ("an update equals one step on the combined batch",) == guarantees(report)


def test_a_loop_that_adds_is_accused_of_that() -> None:
    """Two micro-batches are enough to see it."""
    report = check(Accumulating(divides=False), tier="quick")
    violated = {each.clause: each.case.scenario.code for each in report.outcomes if each.case}
    assert {"DEVICE-4": "n2,w1,b1,g2,device", "DEVICE-5": "n2,w1,b1,g2,device,with=sum,mean"} == violated


class Brittle:
    """A correct loop, as an adapter, that is of no use once the module has failed in it."""

    families = ("device",)

    __name__ = "brittle"
    claims: ClassVar[dict[str, Any]] = {"device": ("training", "outputs")}

    @staticmethod
    def model(request: Any) -> Any:
        """The step of one rank."""
        loop, failed = Trainer.model(request), []

        def step(x: Any, target: Any) -> Any:
            if failed:
                raise RuntimeError("the module has failed in an earlier step")
            broken = bool((x[:, 0] < 0).any())
            failed.extend([True] * broken)
            return loop(x, target)

        return step


@pytest.mark.parametrize(
    "case", ["DEVICE-1-n2,w1,b1,g2,e2,device,with=failed", "DEVICE-6-n2,w1,b1,g2,e2,device,with=failed+every"]
)
def test_what_has_failed_may_refuse_to_go_on(case: str) -> None:
    """No clause says that a model is of use after an error of the user's module."""
    assert {} == violated(judged(Brittle(), case=parse_case(case)))


def test_a_claim_without_its_function_is_refused() -> None:
    """Who claims to train must have a model."""

    class Without:
        """An adapter that lacks it."""

        claims: ClassVar[dict[str, Any]] = {"device": ("training",)}

        @staticmethod
        def load(request: Any) -> Any:
            """A loader."""

    with pytest.raises(AdapterError, match=r"claims device, but has no function model"):
        from_object("without", Without)


@given(drawn("device", ALL))
def test_a_drawn_step_is_whole(scenario: DeviceScenario) -> None:
    """A call that is drawn can be met, and its code replays it."""
    assert scenario.samples == scenario.combined_batch
    assert scenario == from_code(scenario.code)


def test_what_does_not_divide_is_listed() -> None:
    """The refusals are left to no chance."""
    tried = listed("device", ALL)
    assert any(each.samples % each.combined_batch for each in tried)
    assert any(each.gradient_accumulation > 1 and "infer" in each.asked for each in tried)


def test_only_what_is_claimed_is_asked_for() -> None:
    """Without ranks, outputs and inference there is neither."""
    claims = parse_claims({"device": ("training",)})
    assert {1} == {each.ranks for each in listed("device", claims)}
    assert not any("infer" in each.asked or "all" in each.asked for each in listed("device", claims))


@pytest.mark.parametrize("code", ["n1,w1,b1,device,with=loud", "n1,w1,b1,device,with=adam+twice"])
def test_a_word_of_no_subject_is_refused(code: str) -> None:
    """The words that there are stand in the sentence."""
    with pytest.raises(ValueError, match="is no word of its subject; the words are"):
        from_code(code)
