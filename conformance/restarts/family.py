"""The family of chapter 9: states that are taken, and what resumes from them."""

from collections.abc import Iterator

from conformance.contract import Claims
from conformance.loader.scenario import from_code, may_fail, within
from conformance.loader.simpler import simplified
from conformance.loader.starting import few
from conformance.restarts import drawn, judges, judges_again, judges_others, judges_states, scenario
from conformance.restarts.runs import runs
from conformance.trial.family import Family

CHAPTERS = ("RESUME",)
# Imported, so that they register their clauses and conducts.
JUDGES = (judges, judges_again, judges_others, judges_states)
CONDUCTS = scenario


def _notes(claims: Claims) -> Iterator[str]:
    if claims.resume == "unshuffled":
        yield 'resume="unshuffled" is claimed: restarts within a shuffled epoch were not judged'


def _promises(claims: Claims, held: frozenset[str]) -> Iterator[str]:
    if {f"RESUME-{number}" for number in (1, 2, 3, 4, 5, 8)} <= held:
        unshuffled = " unshuffled" if claims.resume == "unshuffled" else ""
        others = ", also on a different number of ranks or workers" if "RESUME-10" in held else ""
        yield f"resumes an interrupted{unshuffled} epoch any number of times{others}"


FAMILIES = (
    Family(
        "resume",
        from_code,
        runs,
        drawn.each_restart,
        {"quick": 12, "gate": 70, "deep": 4000},
        drawn.restarts,
        simplified,
        # A loader that resumes wrongly once does so the second time.
        hides={
            **{f"RESUME-{number}": ("RESUME-8", "RESUME-1") for number in (2, 3, 4, 5, 6, 7, 9, 11)},
            "RESUME-1": ("RESUME-8",),
        },
        may_fail=may_fail,
        within=within,
        few=few,
        notes=_notes,
        promises=_promises,
    ),
)
