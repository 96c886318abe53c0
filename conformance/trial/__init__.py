"""How a run works, from `--impl=mypkg` to a verdict. This folder is the middle: it knows no chapter by its name.

    --impl=mypkg
        |
    processes/   two zygotes import the adapter, each with a hash seed of its own; members are forked from them
        |
    Session      smoke first, then what others rely on, known failures, and a campaign for each family asked for
        |
    Campaign     tried -> observed -> judged -> made smaller -> confirmed in new processes
        |
    Report       outcomes and cases: plain data, from which report/ makes the blocks, the table, JSON and pages

**Smoke.** One fixed, tiny case tests the adapter: does it load, yield, decode? If not, every clause is INVALID with a
sentence that says what to fix, and nothing else runs: an adapter that is wrong says nothing about its loader.

**What others rely on.** A loader whose steps come as its workers finish them keeps or breaks every clause about order
by chance. So one case that leaves nothing to chance is tried before all others (`Family.refutes`). If the claim falls
there, its clause accuses in that case, and the others judge as if it had not been made (`refuted.py`).

**A family** is a kind of scenario: what is drawn, how a code is read back, which runs a scenario means, how it is made
smaller (`family.py`). The wings have them: `epochs/`, `workers/`, `ahead/`, `device/`, `launch/`, `pipelines/`,
`restarts/`, `faults/` and `reach/`, a folder for each chapter of the specs or for some that share their scenarios. Only
`conformance/clauses.py` knows them all. A campaign asks its family, whatever that is about.

**A scenario** is frozen plain data: 9 samples, 2 ranks, micro-batch 2. Its code, `n9,w2,b2,keep`, replays it. Some are
listed and always tried; Hypothesis draws more, the same ones for a seed on every machine (`drawing.py`).

**A run** is all ranks of one request. `Family.runs` makes the main run and those that are compared with it: again in
another process, with another seed, from a state that the main run took. Each rank's part is a task, which names the
module that performs it; that module is imported in the rank's process only. What was delivered comes back as a trace
(`conformance/trace.py`). A rank that hangs or dies does not take the run with it: it becomes a failure in the trace.

**A judge** is a plain function of (scenario, claims, trace) that registers itself under its clause's id (`clause.py`).
It gives None where the clause could not have failed: then the scenario does not count as an exercise. Else it gives its
findings, and an empty list when the clause holds. So each scenario is run once, and judged by every clause of its
family; a judge can't tell a live trace from one that was read from a file. A clause that is in doubt wants to see more
runs before it accuses (`Family.twins`): the same request without workers, unshuffled, or while nothing goes wrong. What
fails there as well has another name. `Clause.also` names other families whose scenarios a clause judges.

**The smallest case.** For each clause that was violated, Hypothesis shrinks that clause's case by itself, over verdicts
that are remembered; then `Family.smaller` tries each number, word and place in turn (`smallest.py`). The case is run
once more in new processes, and only what shows there again is reported; what does not is NOT EXERCISED, with a note
that says so (`unjudged.py`).

**Outcomes** (`outcome.py`). A clause HOLDS if it was exercised as often as its floor says and nothing was found. Fewer
exercises are NOT EXERCISED, and the run is not green: a clause that could not fail has shown nothing. VIOLATED has a
case; KNOWN has one that the adapter lists with a reason, and that is replayed first (`known.py`).

**Always the same.** The gate draws with a fixed seed, runs in fixed places, and writes nothing down that differs from
run to run: the same implementation gives the same report, byte for byte, with any number of xdist workers.

To read it in order: `family.py`, `clause.py`, `campaign.py`, `session.py`; then one wing whole, for example `launch/`,
which has nothing to do with loaders and few kinds of scenario.
"""
