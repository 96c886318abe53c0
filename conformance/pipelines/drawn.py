"""What is tried of loaders of pipelines: the family of chapter 8.

Processes and groups cost time. So each clause has a few scenarios of its own, and those that are drawn are few.
"""

from collections.abc import Iterator

from hypothesis import strategies as st

from conformance.contract import Claims
from conformance.pipelines.scenario import HALTED, PipelineScenario, from_code
from conformance.trial.tiers import Tier

# Codes, but for the word "pipeline"; of each line the simplest comes first.
_TRIED = (
    # who gets what, in which order
    "n0,w1,b1 n1,w1,b1 n5,w1,b1,e2 n7,w1,b2 n0,w1,b1,k2 n1,w1,b1,k2 n5,w1,b1,k1 n11,w1,b1,k2 n23,w1,b1,k3 n7,w1,b2,k2",
    "n0,w2,b1 n1,w2,b1 n2,w2,b1 n4,w2,b1,e2 n11,w2,b1 n11,w3,b1 n11,w2,b2 n4,w2,b1,k2 n10,w2,b1,k2 n12,w3,b1,k2",
    "n12,w1,b1,k2,with=slow n12,w1,b1,k3,with=slow",
    "n1,w1,b1,k2,with=dispatch n0,w1,b1,k2,with=dispatch n12,w1,b1,k1,with=dispatch n12,w1,b1,k2,e2,with=dispatch",
    "n23,w1,b1,k3,with=dispatch n12,w1,b1,k2,with=dispatch+slow n12,w2,b1,k2,e2,with=dispatch",
    # workers and ranks that have less than others
    "n12,w1,b1,k2,ended,with=one n12,w1,b1,k3,ended,with=one n12,w1,b1,k2,ended,with=ends",
    "n11,w1,b1,k3,e2,ended,with=ends",
    "n7,w2,b1,with=one n11,w2,b1,with=ends n10,w3,b1,with=ends n12,w2,b1,k2,with=one n20,w2,b1,k2,with=ends",
    # what is random
    "n12,w1,b1,shuffle n12,w1,b1,shuffle,k2,e2 n12,w1,b1,shuffle,k2,with=double n12,w1,b1,shuffle,k2,with=zip",
    "n12,w2,b1,shuffle,e2,with=own n12,w2,b1,shuffle,k2,with=own n12,w3,b1,shuffle,k1,with=own",
    "n12,w2,b1,shuffle,with=double+own n12,w2,b1,shuffle,with=zip+own",
    "n40,w1,b1,k2,with=late n60,w1,b1,k3,with=late n40,w2,b1,with=late n80,w2,b1,k2,with=late",
    "n20,w1,b1,shuffle,e3,with=reseed n20,w1,b1,shuffle,k1,e3,with=reseed n20,w1,b1,shuffle,k2,e3,with=reseed",
    # behind a fork torch keeps what comes before it under another name
    "n20,w1,b1,shuffle,e3,with=fork+reseed n20,w1,b1,shuffle,k2,e3,with=fork+reseed",
    "n20,w1,b1,shuffle,e2,with=unseeded n20,w1,b1,shuffle,k1,e2,with=unseeded n20,w1,b1,shuffle,k2,e2,with=unseeded",
    "n20,w2,b1,shuffle,e3,with=reseed n20,w2,b1,shuffle,e2,with=unseeded n20,w1,b1,shuffle,e2,leave@12,with=unseeded",
    "n12,w1,b1,shuffle,k1,e2,s3,alone n12,w1,b1,shuffle,k2,e2,s3,alone n12,w1,b1,shuffle,k3,s3,alone",
    "n12,w2,b1,shuffle,s3,alone n12,w2,b1,shuffle,k2,e2,s3,alone",
    "n12,w1,b1,shuffle,k1,with=dispatch,alone n12,w1,b1,shuffle,k2,e2,s3,with=dispatch,alone",
    "n2,w1,b1,with=bounds n2,w1,b1,k1,with=bounds",
    # epochs that are left
    "n8,w1,b1,e2,leave@0 n8,w1,b1,e3,leave@2 n8,w1,b1,k2,e2,leave@1 n300,w1,b1,k2,e4,leave@3 n300,w1,b1,k3,e2,leave@7",
    "n8,w1,b1,k2,e2,leave@1,with=dispatch n300,w1,b1,k2,e3,leave@3,with=dispatch",
    "n8,w2,b1,e2,leave@2 n12,w2,b1,k2,e2,leave@2",
    "n4,w1,b1,e2,two@0 n4,w1,b1,e2,two@1 n8,w1,b1,e2,two@3 n8,w1,b1,k2,e2,two@0 n300,w1,b1,k2,e2,two@3",
    "n12,w1,b1,k2,e2,two@2,with=dispatch",
    "n4,w1,b1,e2,two@2,with=limited n4,w1,b1,e2,two@2,with=paused n8,w1,b1,k2,e2,two@3,with=limited",
    "n12,w2,b1,e2,two@2,with=limited",
    "n8,w1,b1,with=limit n8,w1,b1,k2,with=limit n6,w1,b1,k2,with=limit n8,w1,b1,with=pause n8,w1,b1,k2,with=pause",
    "n12,w2,b1,with=limit",
    "n20,w1,b1,shuffle,with=limit n20,w1,b1,shuffle,with=unseeded+limit n20,w1,b1,shuffle,with=unseeded+pause",
    "n20,w1,b1,shuffle,k2,with=unseeded+limit n20,w2,b1,shuffle,with=unseeded+limit",
    "n20,w1,b1,shuffle,with=unseeded+begun",
    "n4,w1,b1,with=begun n8,w1,b1,k2,with=begun n8,w1,b1,shuffle,with=begun n12,w2,b1,with=begun",
    # loaders that are given up
    "n8,w1,b1,shut@0 n8,w1,b1,shut@2 n2,w1,b1,shut@4 n8,w1,b1,k2,shut@0 n8,w1,b1,k2,shut@1 n2,w1,b1,k2,shut@4",
    "n8,w1,b1,shut@2,with=limited n8,w1,b1,shut@2,with=paused n8,w1,b1,k2,shut@3,with=paused",
    "n300,w1,b1,k2,shut@3 n300,w1,b1,k2,shut@3,with=dispatch n8,w2,b1,shut@1 n8,w2,b1,k2,shut@1",
    "n8,w1,b1,e2,dropped n8,w1,b1,k2,e2,dropped n300,w1,b1,k2,e2,dropped n12,w1,b1,k2,e2,dropped,with=dispatch",
    "n8,w1,b1,raise@3 n8,w1,b1,k2,raise@3 n8,w1,b1,k2,raise@3,with=dispatch n8,w1,b1,k2,raise@3,with=dispatch+front",
    # what can't be
    "n4,w1,b1,with=twice n4,w1,b1,k1,with=twice n4,w1,b1,k2,with=twice n4,w1,b1,with=zip n8,w1,b1,k2,with=zip",
    "n4,w1,b1,with=concat n4,w1,b1,with=fork n4,w1,b1,with=zip+joined n4,w1,b1,with=concat+joined",
    "n4,w1,b1,with=fork+joined n8,w1,b1,k2,with=fork n4,w1,b1,with=zip+concat",
    "n4,w1,b1,with=zip+twice n4,w1,b1,with=concat+twice n4,w1,b1,with=fork+twice n4,w1,b1,with=zip+joined+twice",
    "n4,w1,b1,with=concat+joined+twice n4,w1,b1,with=fork+joined+twice n4,w1,b1,with=zip+concat+joined+twice",
    "n4,w1,b1,k1,with=zip+joined+twice n4,w1,b1,k2,with=zip+concat+twice n4,w1,b1,k2,with=dispatch+twice",
    "n4,w2,b1,k2,with=wrong",
    # workers that die: the number of the worker is none that stands there by chance
    "n8,w1,b1,k2,kill@3 n8,w1,b1,k2,kill@0 n9,w1,b1,k3,kill@4 n8,w1,b1,k2,exit@3 n12,w1,b1,k2,kill@5,with=dispatch",
    "n12,w1,b1,k2,kill@5,with=dispatch+front n12,w1,b1,k2,exit@5,with=dispatch+front",
    "n8,w1,b1,k2,init@0 n8,w1,b1,k2,init@1",
    # ranks that fail; of rank 1 it is worker 0
    "n12,w2,b1,raise@5 n12,w3,b1,raise@7 n12,w2,b1,k2,raise@5",
    "n12,w2,b1,k2,kill@5 n12,w2,b1,k2,exit@5 n12,w2,b1,k2,init@0",
)


def a_few_pipelines(claims: Claims, tier: Tier) -> Iterator[PipelineScenario]:
    """What is tried before any is drawn, as far as it is claimed."""
    every = (from_code(f"{code},pipeline") for line in _TRIED for code in line.split())
    return (scenario for scenario in every if _needed(scenario) <= {*claims.pipelines})


def _needed(scenario: PipelineScenario) -> set[str]:
    """The parts of `pipelines` that a scenario asks for. Dispatching, or joining services, needs workers."""
    if "wrong" in scenario.asked:
        return {"services"}
    asked = {
        "workers": scenario.workers > 0 and "dispatch" not in scenario.asked,
        "ranks": scenario.ranks > 1,
        "dispatch": "dispatch" in scenario.asked,
        "initialiser": scenario.fault.startswith("init"),
        "pause": bool(({"limit", "pause", "begun"} | HALTED) & scenario.asked),
    }
    return {part for part, is_asked in asked.items() if is_asked}


@st.composite
def pipelines(draw: st.DrawFn, claims: Claims) -> PipelineScenario:
    """A pipeline that can be read, by a few workers of a few ranks; shuffled, filtered, dispatched, or left early."""
    workers = draw(st.integers(0, 3)) if "workers" in claims.pipelines else 0
    ranks = draw(st.sampled_from((1, 1, 2, 3))) if "ranks" in claims.pipelines else 1
    what = draw(st.sampled_from(("", "", "shuffle", "shuffle", "one", "ends", "leave", "two")))
    dispatches = workers and "dispatch" in claims.pipelines and what not in ("one", "ends")
    words = {what} & {"one", "ends"} | ({"dispatch"} if dispatches and draw(st.booleans()) else set())
    is_left = what in ("leave", "two")
    # What ranks lose in the end is another matter.
    samples = draw(st.integers(0, 24 // ranks)) * ranks if is_left or what == "shuffle" else draw(st.integers(0, 23))
    is_compared = what == "shuffle" and draw(st.booleans())
    return PipelineScenario(
        samples,
        ranks,
        draw(st.integers(1, 2)) if what in ("", "one", "ends") else 1,
        shuffle=what == "shuffle",
        workers=workers,
        epochs=2 if is_left else draw(st.integers(1, 2)),
        seed=draw(st.integers(0, 3)) if what == "shuffle" else 0,
        conduct=f"{what}@{draw(st.integers(0, 3))}" if is_left else "",
        variant="alone" if is_compared else "none",
        asked=frozenset(words),
    )
