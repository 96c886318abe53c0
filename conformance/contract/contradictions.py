"""Claims that can't be made together: what each needs, what it contradicts, and the table that says so to readers."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any, Literal

from conformance.contract.claims import AHEAD
from conformance.contract.implementation import AdapterError

Fields = Mapping[str, Any]
_NEITHER = "claim both or neither"


@dataclass(frozen=True)
class Rule:
    """A claim, and what it needs or contradicts, in the words of specs/README.md; `told` is the mistake, or ""."""

    claim: str
    verb: Literal["needs", "contradicts"]
    other: str
    told: Callable[[Fields], str]


def refuse_contradictions(fields: Fields) -> None:
    """AdapterError if two of the claims can't both be kept, or one needs another that is not made."""
    for rule in RULES:
        if told := rule.told(fields):
            raise AdapterError(f"the claims contradict each other: {told}")


def table() -> str:
    """The rules as specs/README.md has them, a line for each claim."""
    lines = ["| claim | needs | contradicts |", "|---|---|---|"]
    for claim in dict.fromkeys(rule.claim for rule in RULES):
        cells = [
            "; ".join(rule.other for rule in RULES if (rule.claim, rule.verb) == (claim, verb))
            for verb in ("needs", "contradicts")
        ]
        lines.append(f"| {claim} | {' | '.join(cells)} |".replace("|  |", "| |"))
    return "\n".join(lines) + "\n"


def _among(fields: Fields, name: str) -> tuple[str, ...]:
    usual = ("map",) if name == "datasets" else ()
    found: tuple[str, ...] = fields.get(name, usual)
    return found


# --- what needs another claim -----------------------------------------------------------------------------------------


def _of_resuming(name: str, fields: Fields) -> str:
    missing = fields.get(name) and not fields.get("resume")
    return f"{name}={fields[name]!r} needs resume=True; {_NEITHER}" if missing else ""


def _of_loops(fields: Fields) -> str:
    return f"checkpoints needs loop; {_NEITHER}" if fields.get("checkpoints") and not fields.get("loop") else ""


def _of_dataset(name: str, kind: str, fields: Fields) -> str:
    missing = fields.get(name) and kind not in _among(fields, "datasets")
    return f"{name} needs {kind!r} in datasets; {_NEITHER}" if missing else ""


def _hook_of_iterables(fields: Fields) -> str:
    missing = "set_epoch" in _among(fields, "hooks") and "iterable" not in _among(fields, "datasets")
    return f"the hook 'set_epoch' needs 'iterable' in datasets; {_NEITHER}" if missing else ""


def _of_budgets(fields: Fields) -> str:
    missing = fields.get("oversized") and "budget" not in _among(fields, "batches")
    return f"oversized needs 'budget' in batches; {_NEITHER}" if missing else ""


def _hooks_ahead(fields: Fields) -> str:
    ahead = [name for name in _among(fields, "hooks") if name in AHEAD]
    missing = ahead and not fields.get("asynchronous")
    return f"the hook {ahead[0]!r} needs asynchronous=True; {_NEITHER}" if missing else ""


def _hook_of_draws(fields: Fields) -> str:
    missing = "weights" in _among(fields, "hooks") and not fields.get("sampling")
    return f"the hook 'weights' needs sampling='replacement'; {_NEITHER}" if missing else ""


def _shared(name: str, nothing: Callable[[Fields], bool], fields: Fields) -> str:
    if not fields.get(name) or not nothing(fields):
        return ""
    return (
        f"{name}={fields[name]!r} speaks of datasets that ranks share, and here is none: no 'map' in datasets, no "
        f"iterable_workers, or no ranks; leave {name} out"
    )


def _none_is_shared(fields: Fields) -> bool:
    return "map" not in _among(fields, "datasets") and not fields.get("iterable_workers")


def _without_ranks(fields: Fields) -> bool:
    return "ranks" in _among(fields, "without")


# --- what another claim denies ----------------------------------------------------------------------------------------


def _dynamic_alone(fields: Fields) -> str:
    alone = "ranks" in fields and fields["ranks"] is None and fields.get("assignment") == "dynamic"
    return (
        "ranks=None says that there is one process, and assignment='dynamic' what ranks take from each other; claim "
        "one of them"
        if alone
        else ""
    )


def _dynamic(fields: Fields) -> str:
    named = [name for name in ("layout", "resume") if fields.get(name)]
    if fields.get("assignment") != "dynamic" or not named:
        return ""
    return (
        "with assignment='dynamic' which rank has a sample hangs on time, so that "
        f"{named[0]} promises nothing; claim one of them"
    )


def _unequal(fields: Fields) -> str:
    unequal = (("when_dropping", "uneven"), ("when_keeping", "uneven"), ("when_keeping", "once"))
    found = [f"{name}={policy!r}" for name, policy in unequal if fields.get(name) == policy]
    if not fields.get("equal_steps") or not found:
        return ""
    return (
        f"{found[0]} gives one rank a sample more, and so a step more, which equal_steps=True denies; claim one of them"
    )


def _two_bounds(fields: Fields) -> str:
    found = [f"{name}={fields[name]!r}" for name in ("when_dropping", "when_keeping") if fields.get(name)]
    if not fields.get("drops") or not found:
        return ""
    return (
        f"{found[0]} bounds what is dropped by the ranks, and drops={fields['drops']!r} by the files; claim one of them"
    )


def _two_epochs(fields: Fields) -> str:
    if not fields.get("sampling") or not fields.get("shuffle"):
        return ""
    return (
        f"with shuffle={fields['shuffle']!r} a shuffled epoch holds each sample once, and with "
        f"sampling={fields['sampling']!r} it is drawn; claim one of them"
    )


def _two_lookaheads(fields: Fields) -> str:
    if not fields.get("lookahead") or not fields.get("asynchronous"):
        return ""
    return (
        "how far an asynchronous loader reads ahead is asked of it (the hook 'buffer_size'), and lookahead=1 is said "
        "of one that is not; claim one of them"
    )


# What can't be said of a loader without an end: how many steps it has, and what comes behind them.
_ENDS = ("length", "end_of_epoch", "elastic", "sampling", "equal_steps")


def _without_end(fields: Fields) -> str:
    ends = [name for name in _ENDS if fields.get(name)]
    if fields.get("epochs") != "endless" or not ends:
        return ""
    return (
        f"{ends[0]}={fields[ends[0]]!r} speaks of an epoch that ends, and with epochs='endless' none does; claim one "
        "of them"
    )


_ITERABLE, _MAP = '`"iterable"` in `datasets`', '`"map"` in `datasets`'
_EITHER = f"{_MAP}, or `iterable_workers`"
_NO_RANKS = '`"ranks"` in `without`, `ranks=None`'
_UNEQUAL = '`"uneven"` as either policy, `when_keeping="once"`'
RULES: tuple[Rule, ...] = (
    Rule("`elastic`", "needs", "`resume`", partial(_of_resuming, "elastic")),
    Rule("`end_of_epoch`", "needs", "`resume`", partial(_of_resuming, "end_of_epoch")),
    Rule("`checkpoints`", "needs", "`loop`", _of_loops),
    Rule("`iterable_workers`", "needs", _ITERABLE, partial(_of_dataset, "iterable_workers", "iterable")),
    Rule("`stream_shuffle`", "needs", _ITERABLE, partial(_of_dataset, "stream_shuffle", "iterable")),
    Rule("hook `set_epoch`", "needs", _ITERABLE, _hook_of_iterables),
    Rule("`oversized`", "needs", '`"budget"` in `batches`', _of_budgets),
    Rule("hooks " + ", ".join(f"`{name}`" for name in AHEAD), "needs", "`asynchronous`", _hooks_ahead),
    Rule('`assignment="dynamic"`', "contradicts", "`ranks=None`", _dynamic_alone),
    Rule('`assignment="dynamic"`', "contradicts", "`layout`, `resume`", _dynamic),
    Rule("`equal_steps`", "needs", _EITHER, partial(_shared, "equal_steps", _none_is_shared)),
    Rule("`equal_steps`", "contradicts", _NO_RANKS, partial(_shared, "equal_steps", _without_ranks)),
    Rule("`equal_steps`", "contradicts", _UNEQUAL, _unequal),
    Rule("`drops`", "needs", _EITHER, partial(_shared, "drops", _none_is_shared)),
    Rule("`drops`", "contradicts", _NO_RANKS, partial(_shared, "drops", _without_ranks)),
    Rule("`drops`", "contradicts", "`when_dropping`, `when_keeping`", _two_bounds),
    Rule("`sampling`", "needs", _MAP, partial(_of_dataset, "sampling", "map")),
    Rule("`sampling`", "contradicts", "`shuffle`", _two_epochs),
    Rule("`lookahead=1`", "contradicts", "`asynchronous`", _two_lookaheads),
    Rule("hook `weights`", "needs", "`sampling`", _hook_of_draws),
    Rule('`epochs="endless"`', "contradicts", ", ".join(f"`{name}`" for name in _ENDS), _without_end),
    Rule("`layout`", "needs", _MAP, partial(_of_dataset, "layout", "map")),
)
