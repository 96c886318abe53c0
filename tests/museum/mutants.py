"""How many small changes of real loading code the suite sees: the mutation score.

`python -m tests.museum.mutants --sample 300` draws changes, with a fixed seed, of the modules below, as far as the
suite executes their line at all; judges each loader that carries one; and writes mutants.json. Those that survive are
printed: each is a hole of the suite, or stands in equivalent.py with the reason why nobody can see a difference.
What was judged before is kept, so that a long run can be stopped and taken up again, on another day as well: only what
is known of a module that has changed since is forgotten. `--again` judges the survivors once more.
"""

import argparse
import json
import mmap
import os
import random
import time
from concurrent.futures import ProcessPoolExecutor
from hashlib import sha256
from importlib import import_module
from multiprocessing import get_context, set_start_method
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import conformance.clauses  # noqa: F401  (fills the table of families)
from conformance.contract.implementation import BY_NAME_ONLY
from conformance.processes.sources import source_of
from conformance.trial.clause import CLAUSES
from conformance.trial.progress import Progress
from conformance.trial.session import Options, Session
from tests.museum.equivalent import is_equivalent
from tests.museum.mutation import Change, apply, changes, count_lines

FILE = Path(__file__).with_name("mutants.json")
# The code that is changed, and the adapter that reaches it.
MODULES = {
    "conformance.peers.torch_map": (
        "torch.utils.data.dataloader",
        "torch.utils.data.sampler",
        "torch.utils.data.distributed",
        "torch.utils.data._utils.fetch",
        "torch.utils.data._utils.worker",
    ),
    "reference.loaderspec": (
        "reference.dataloader",
        "reference.loading.collate",
        "reference.loading.faults",
        "reference.loading.join",
        "reference.loading.passes",
        "reference.loading.processes",
        "reference.loading.request",
        "reference.loading.restarts",
        "reference.loading.worker",
        "reference.rules.arithmetic",
        "reference.rules.partition",
        "reference.rules.sampler",
        "reference.rules.shuffle",
        "reference.rules.splitting",
    ),
}
# Those that read a loader: the others (devices, launchers, pipelines) reach none of these modules alone.
READING = (
    *("map", "refusals", "statistics", "workers", "iterable", "samples", "life", "resume", "async", "skipping"),
    *("batches", "streams", "subsets", "mixtures", "left", "equal", "draws", "lives", "killed"),
)
PATIENCE = 10.0


def reached(adapter: str) -> dict[str, list[int]]:
    """The lines of each module that a run at the gate executes, in any process. To be called in a fresh process."""
    _prepare()
    counted = {}
    for module in MODULES[adapter]:
        source = Path(import_module(module).__file__ or "").read_text("utf-8")
        counted[module] = mmap.mmap(-1, source.count("\n") + 2)
        count_lines(module, counted[module])
    amiss = _verdict(adapter, "gate")
    if amiss:
        raise RuntimeError(f"{adapter} is not green without a change: {amiss}; no change could be told from that")
    return {module: [line for line, hit in enumerate(lines[:]) if hit] for module, lines in counted.items()}


def judge(adapter: str, change: Change) -> dict[str, Any]:
    """What the suite says of a loader with this change. To be called in a fresh process."""
    _prepare()
    began = time.monotonic()
    apply(change)
    by = _verdict(adapter, "gate")
    return {"change": str(change), "by": by, "seconds": round(time.monotonic() - began)}


def _prepare() -> None:
    # A process that was spawned spawns in its turn, and what is changed here would not be there.
    set_start_method("fork", force=True)


class _Seen(Exception):
    """A clause was violated: no run that goes on from here is green, so none of it needs to be waited for."""


def _seen(progress: Progress) -> None:
    for clause in sorted(progress.violated):
        if CLAUSES[clause].level == "MUST":
            raise _Seen(f"{clause}, by one of the first {progress.tried} cases of {progress.family!r}")


def _held(adapter: str) -> SimpleNamespace:
    """The adapter as an object: by its name it would be imported in an interpreter of its own, without the change."""
    module = import_module(adapter)
    claims = {name: value for name, value in module.claims.items() if name not in BY_NAME_ONLY}
    return SimpleNamespace(**{**vars(module), "claims": claims})


def _verdict(adapter: str, tier: str) -> str:
    """What gives a loader away: the clause with its case, or why the run is not green; "" if it is."""
    try:
        with Session(*source_of(_held(adapter)), Options(tier=tier, patience=PATIENCE), _seen) as session:
            for family in READING:
                report = session.report([each for each in CLAUSES.values() if each.family == family])
                found = [each for each in report.outcomes if each.fails(strict=False)]
                if found:
                    worst = next((each for each in found if each.case), found[0])
                    told = worst.case.scenario.code if worst.case else worst.note
                    return f"{worst.clause}-{told}"
    except _Seen as seen:
        return str(seen)
    except Exception as error:
        return f"{type(error).__name__}: {error}"
    return ""


def drawn(lines: dict[str, dict[str, list[int]]], sample: int, seed: int) -> list[tuple[str, Change]]:
    """That many changes of the lines that are reached, the same ones for the same seed."""
    candidates = [
        (adapter, change)
        for adapter, modules in MODULES.items()
        for module in modules
        for change in changes(module)
        if change.line in lines[adapter][module]
    ]
    # One that turns out to be equivalent makes room for the next, and the others stay.
    random.Random(seed).shuffle(candidates)
    return [each for each in candidates if not is_equivalent(each[1])][:sample]


def main() -> None:
    """Judge a sample, two at a time; write and print the score."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sample", type=int, default=300)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--jobs", type=int, default=os.cpu_count(), help="how many are judged at a time")
    parser.add_argument("--again", action="store_true", help="judge the survivors again")
    asked = parser.parse_args()
    known = _still_true(json.loads(FILE.read_text("utf-8"))) if FILE.exists() else {"reached": {}, "judged": {}}
    known["sources"] = _sources()
    with ProcessPoolExecutor(asked.jobs, get_context("spawn"), max_tasks_per_child=1) as pool:
        lacking = [adapter for adapter in MODULES if adapter not in known["reached"]]
        known["reached"] |= dict(zip(lacking, pool.map(reached, lacking), strict=True))
        chosen = drawn(known["reached"], asked.sample, asked.seed)
        judged = known["judged"]
        todo = [each for each in chosen if (asked.again and not judged.get(str(each[1]))) or str(each[1]) not in judged]
        for row in pool.map(judge, *zip(*todo, strict=True)) if todo else ():
            judged[row["change"]] = row["by"]
            print(f"{row['seconds']:4d} s  {row['change']}  {row['by'] or 'SURVIVES'}", flush=True)
            _write(known)
    _write(known)
    print(score([str(change) for _, change in chosen]), flush=True)


def _sources() -> dict[str, str]:
    """A print of each module as it is now."""
    files = {name: import_module(name).__file__ or "" for modules in MODULES.values() for name in modules}
    return {name: sha256(Path(file).read_bytes()).hexdigest()[:16] for name, file in files.items()}


def _still_true(known: dict[str, Any]) -> dict[str, Any]:
    """What is known, without the modules that are not as they were; a change is named by its module and line."""
    now = _sources()
    changed = {name for name, was in known["sources"].items() if now.get(name) != was}
    judged = {each: by for each, by in known["judged"].items() if each.partition(":")[0] not in changed}
    reached = {adapter: lines for adapter, lines in known["reached"].items() if not changed & {*lines}}
    return {"reached": reached, "judged": judged}


def score(chosen: list[str]) -> str:
    """The survivors, and the share of the changes that were seen."""
    judged = json.loads(FILE.read_text("utf-8"))["judged"]
    survivors = [f"survives  {change}" for change in chosen if not judged[change]]
    seen = len(chosen) - len(survivors)
    return "\n".join([*survivors, f"{seen} of {len(chosen)} changes seen, {seen / len(chosen):.1%}"])


def _write(known: dict[str, Any]) -> None:
    FILE.write_text(json.dumps(known, indent=1, sort_keys=True) + "\n", "utf-8")


if __name__ == "__main__":
    main()
