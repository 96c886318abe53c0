"""What a script needs: decides which cases get one, and which functions and lines of `script/` go into it."""

from dataclasses import MISSING, fields

from conformance.bridge.implementation import PREFIX
from conformance.contract import AHEAD, Claims
from conformance.loader.conducts import AGING_KINDS, BIG_KINDS, ODD_KINDS
from conformance.loader.scenario import Scenario
from conformance.processes.task import Task
from conformance.report.adapter_source import Adapter
from conformance.report.reached import needs_of, scripting_of
from conformance.report.script.checks import (
    CHECKS,
    COMPLETE,
    OF_CONSUMERS,
    OF_FAILURES,
    OF_REACH,
    OF_RESTARTS,
    check_of,
)
from conformance.trial.result import Case

OF_GENERATORS = ("ORDER-10", "ORDER-11")
OF_LENGTHS = ("COUNT-4", "DRAW-1", "GROUP-10", "SUBSET-6", "MIX-9")
# What every script can ask for, and what only those of a consumer can that does more than read and close.
_FACTORS = ("world_size", "batch_size", "gradient_accumulation", "replication_factor", "device_iterations")
_READ = ("drop_last", "shuffle", "num_workers", "persistent_workers", "epochs", "seed", "seeds")
_SCRIPTED = (*_FACTORS, *_READ, "variant", "refusal")
# Of restarts: what no script looks for, and what may be done with a state in one ("": nothing else).
_NOT_SCRIPTED = ("next-epoch-after-second-restart", "next-epoch-not-loaded", "refused-late")
_IN_A_RESTART = {"unbegun", "held", "shared", "used", "relayed", "again", "left"}
_OF_CONSUMERS = ("dataset", "fault", "conduct", "kind", "asynchronous", *AHEAD)
# Checks that know one rank which keeps everything: what came before a fault, and what a whole epoch is.
_OF_ANY_RANKS = (*(f"WORK-{number}" for number in range(1, 12)), "ASYNC-1", "ASYNC-6", "ASYNC-9")
_OF_ONE_RANK = tuple(name for name in OF_CONSUMERS if name not in _OF_ANY_RANKS)

_AT_A_READ = {
    "raise": "raise_broken",
    "stop": "raise_stop",
    "index": "raise_index",
    "kill": "be_killed",
    "exit": "exit_at_once",
    "hang": "hang_for_ever",
}
_CONDUCTS = {
    "leave": "leave_early",
    "two": "read_two",
    "kept": "keep_everything",
    "hold": "hold_what_came",
    "ended": "read_beyond_the_end",
    "look": "look_long",
    "before": "begin_late",
    "between": "go_on_late",
    "later": "begin_late",
    "restart": "restart",
    "length": "ask_for_length",
    "interrupt": "be_interrupted",
}
# What no script does yet.
_WITHOUT_SCRIPT = (
    "unread",
    "outlast",
    "refused",
    "forgotten",
    "closed",
    "lives",
    "hooked",
    "orders",
    "dawdle",
    "killed",
)
# What is counted, by the function that counts it and in words.
COUNTED = {
    "LEAK-1": ("held_processes", "child processes are"),
    "LEAK-2": ("held_descriptors", "open descriptors are"),
    "LEAK-3": ("held_files", "temporary files or shared-memory segments are"),
    "LEAK-4": ("held_threads", "threads are"),
    "ASYNC-8": ("held_anything", "processes, threads, descriptors and files are"),
}
# What must be seen of each read.
_WITH_INFO = ("WORK-7", "WORK-8", "WORK-9", "WORK-10", "WORK-11")
_WITH_DRAWS = ("WORK-8", "WORK-9", "WORK-10", "WORK-11")
_LOGGED = ("WORK-2", "WORK-6", *_WITH_INFO)
_ARRAYS = ("buffer", "large", "arrays", "tensors", *ODD_KINDS)


def has_script(case: Case, implementation: str = "") -> bool:
    """Whether a reproduction script can show the case: its clause has a check, and it asks for nothing unusual.

    A script imports its loader, and so has none behind a bridge.
    """
    scenario = case.scenario
    if implementation.startswith(PREFIX):
        return False
    if case.clause in OF_REACH:
        return scripting_of(case).fits(case.clause, scenario)
    if not isinstance(scenario, Scenario):
        return False
    if case.clause in OF_RESTARTS:
        told = case.finding.kind not in _NOT_SCRIPTED and not scenario.asynchronous
        return told and not scenario.fault and set(scenario.words) <= _IN_A_RESTART
    # The consumer of a script draws nothing.
    if case.finding.kind.startswith("undoes-"):
        return False
    known = (*_SCRIPTED, *_OF_CONSUMERS) if case.clause in OF_CONSUMERS else _SCRIPTED
    if case.clause in _OF_ONE_RANK and (scenario.world_size != 1 or scenario.drop_last or scenario.shuffle):
        return False
    if (
        scenario.conduct.partition("@")[0] in _WITHOUT_SCRIPT
        or scenario.is_slow
        or scenario.kind in (*AGING_KINDS, *BIG_KINDS)
    ):
        return False
    if scenario.kind == "large" and (scenario.conduct or scenario.fault):
        return False
    if scenario.variant.startswith("seed+") and scenario.variant != "seed+1":
        return False
    if scenario.fault.startswith(("again", "idle")) or (
        case.clause == "ASYNC-10" and scenario.conduct.startswith("leave")
    ):
        return False
    # Which step a worker's element would have been in is nobody's promise.
    if case.clause == "ERROR-2" and scenario.dataset == "iterable" and scenario.num_workers:
        return False
    usual = all(
        getattr(scenario, each.name) == each.default
        for each in fields(scenario)
        if each.name not in known and each.default is not MISSING
    )
    return case.clause in CHECKS and usual


def is_brief(case: Case) -> bool:
    """Whether the script is one of chapters 1 to 3, or 11, in which every rank only reads its loader."""
    return case.clause not in (*OF_CONSUMERS, *OF_RESTARTS)


def roots_of(case: Case, adapter: Adapter) -> dict[str, str]:
    """The functions that a script begins with, and the name of each there."""
    scenario = case.scenario
    machinery = {"judge_in_brief": "main"} if is_brief(case) else {"main": "main", "one_rank": "one_rank"}
    roots = {check_of(case.clause, scenario.samples).__name__: "check", **machinery}
    roots |= {adapter.implementation: "implementation"} | ({adapter.find: "find"} if adapter.find else {})
    if case.clause in OF_RESTARTS:
        return {**roots, "read_with_restart": "read"}
    if is_brief(case):
        return {**roots, scripting_of(case).reading(scenario): "read"}
    roots |= {_conduct(scenario): "consume"} if scenario.conduct != "quit" else {}
    roots |= {f"{scenario.kind}_sample": "make_sample"} if scenario.kind else {}
    fault = scenario.fault.partition("@")[0]
    roots |= {_AT_A_READ[fault]: "fail"} if fault in _AT_A_READ else {}
    if case.clause in COUNTED:
        return {**roots, "read_twice": "read", COUNTED[case.clause][0]: "count_held"}
    return {**roots, "read_as_consumer": "read"}


def _conduct(scenario: Scenario) -> str:
    conduct = scenario.conduct.partition("@")[0]
    if conduct in _CONDUCTS:
        return _CONDUCTS[conduct]
    if scenario.kind in ODD_KINDS:
        return "look_at_each"
    if scenario.kind not in ("", "buffer"):
        return "watch_memory" if scenario.kind == "large" else "look_at_types"
    return "read_through_fault" if scenario.fault else "read_whole"


def flags_of(case: Case, claims: Claims, tasks: list[Task], again: bool) -> frozenset[str]:
    """What this case needs of the lines that not every script needs. `tasks` are those of one rank."""
    consumers, clause = case.clause in OF_CONSUMERS, case.clause
    scenario = scripting_of(case).as_loader(case.scenario)
    fault = scenario.fault.partition("@")[0] if consumers else ""
    restarts = clause in OF_RESTARTS
    words = scenario.words if restarts else []
    needs = {
        "complete": clause in COMPLETE if consumers or restarts else clause not in OF_FAILURES,
        "saved": restarts,
        "together": not restarts,
        "step": "again" in words or "left" in words,
        "second": "again" in words,
        "rest": "left" not in words,
        **{word: word in words for word in ("unbegun", "held", "shared", "used", "relayed")},
        "set_epoch": claims.epochs not in ("automatic", "endless"),
        "failures": clause in OF_FAILURES,
        "answers": clause not in OF_FAILURES,
        "length": clause in OF_LENGTHS,
        "states": clause in OF_GENERATORS,
        "cores": clause in ("ORDER-4", "ORDER-5"),
        "numpy": clause in (*OF_GENERATORS, *_WITH_DRAWS),
        "close": clause in (*OF_FAILURES, *OF_GENERATORS),
        "others": any(task.others for task in tasks),
        "again": again,
        "once": not again,
        "group": claims.ranks == "process_group",
        scenario.dataset: True,
        "numbers": not scenario.kind,
        "kind": bool(scenario.kind),
        "arrays": scenario.kind in _ARRAYS,
        "buffer": scenario.kind == "buffer",
        "consumer": consumers or restarts,
        "watched": bool(fault) or clause in _LOGGED or scenario.asynchronous,
        "log": clause in _LOGGED or scenario.asynchronous,
        "info": clause in _WITH_INFO,
        "draws": clause in _WITH_DRAWS,
        "seeded": not consumers or clause in _WITH_DRAWS or scenario.shuffle,
        "fault": bool(fault),
        "broken": fault in _AT_A_READ,
        "spared": fault in ("kill", "exit", "hang"),
        "collate": fault == "collate",
        "init": fault == "init",
        "closed": not scenario.conduct.startswith(("dropped", "hold")),
        "ended": scenario.conduct == "ended",
        "left": clause in COUNTED,
        "asynchronous": scenario.asynchronous,
        "interrupts": scenario.conduct.startswith("interrupt"),
        "quits": scenario.conduct == "quit",
        "stays": scenario.conduct != "quit",
        **needs_of(case),
    }
    return frozenset(name for name, needed in needs.items() if needed)
