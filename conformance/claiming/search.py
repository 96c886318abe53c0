"""What a loader can promise: decides, claim by claim, which is the strongest value whose clauses all hold.

Every scenario is run once and judged under many claims. A value is taken if no clause is violated that was not
violated without it, and if each clause that it adds was exercised as often as its floor says; the next claim is looked
for on top of it. What holds in this many cases is no promise: that is its author's to make.
"""

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, fields, replace
from typing import Any

from conformance.clauses import CLAUSES, FAMILIES, Clause
from conformance.contract import AdapterError, Claims
from conformance.trial.floors import floor_of
from conformance.trial.memory import Memory, RememberingCampaign
from conformance.trial.result import Case, Result
from conformance.trial.session import Session

# Each claim with its values, strongest first. What each needs, or what it is about, stands before it.
LADDER: tuple[tuple[str, tuple[Any, ...]], ...] = (
    ("smallest", (0, 1, "world_size")),
    ("in_order", (True, False)),
    ("when_dropping", ("drop", "pad", "uneven", "once")),
    ("when_keeping", ("uneven", "once", "pad", "drop")),
    ("layout", ("contiguous", "strided")),
    ("length", (True,)),
    ("shuffle", ("global", "buffered")),
    ("workers", (True,)),
    (
        "hooks",
        ("collate_fn", "worker_init_fn", "timeout", "persistent_workers", "sampler", "batch_sampler", "generator"),
    ),
    ("iterable_workers", ("split", "replicated")),
    ("resume", (True, "unshuffled")),
    ("end_of_epoch", ("next", "empty")),
    ("elastic", (True,)),
)
# A claim that is one clause's: the cases of that clause could refute it, and no others. What COUNT-4 finds without the
# claim refutes it too.
_OWN_CLAUSE = {"length": "COUNT-4", "layout": "ORDER-2"}
# What nobody can find out by looking: whether a loader is meant to do it at all, or whether time may decide.
_OF_CHAPTER_11 = ("batches", "oversized", "stream_shuffle", "subsets", "mixtures")
_BY_DESIGN = ("equal_steps", "drops", "sampling", "lookahead")
_OF_THE_TRAINER = ("device", "launcher", "loop", "checkpoints", "pipelines")
NOT_LOOKED_FOR = ("assignment", "asynchronous", "device_options", *_OF_THE_TRAINER, *_OF_CHAPTER_11, *_BY_DESIGN)
_NEEDED = {"elastic": "resume", "end_of_epoch": "resume"}
_OF_WORKERS = ("worker_init_fn", "timeout", "persistent_workers")


@dataclass(frozen=True)
class Tried:
    """One value of one claim: whether it holds, in how many cases, and else the case that refutes it or the reason.

    `cases` is 0 where the value is the usual one. `skipped`: it was not tried, for the reason.
    """

    claim: str
    value: Any
    holds: bool
    cases: int = 0
    case: Case | None = None
    reason: str = ""
    skipped: bool = False


@dataclass
class Findings:
    """What was found out: the claims, each value that was tried, and what is violated with no more than these."""

    claims: Claims
    tried: list[Tried] = field(default_factory=list)
    always: list[Case] = field(default_factory=list)


@dataclass(frozen=True)
class _Look:
    """All families under some claims: what was exercised, and what was violated in which campaign."""

    exercised: Mapping[str, int]
    violated: Mapping[str, RememberingCampaign]


class Search:
    """A search over one session, whose loader was smoke-tested."""

    def __init__(self, session: Session) -> None:
        self.session = session
        self.memory = Memory()
        self._looks: dict[Claims, _Look] = {}

    def run(self) -> Findings:
        """Try every claim in turn."""
        found = Findings(_nothing_but_limits(self.session.claims))
        for claim, values in LADDER:
            if claim == "hooks":
                for value in values:
                    self._try(found, claim, (value,))
            else:
                self._try(found, claim, values)
        look = self._look(found.claims)
        found.always = [case for clause in look.violated if (case := self._case(look, CLAUSES[clause]))]
        return found

    def _try(self, found: Findings, claim: str, values: tuple[Any, ...]) -> None:
        for value in values:
            wanted = self._with(found.claims, claim, value)
            if isinstance(wanted, str):
                found.tried.append(Tried(claim, value, False, reason=wanted, skipped=True))
                return
            tried = self._judged(found.claims, claim, value, wanted)
            found.tried.append(tried)
            if tried.holds:
                found.claims = wanted
                return

    def _with(self, claims: Claims, claim: str, value: Any) -> Claims | str:
        """The claims with one more, or the sentence why that makes no sense."""
        shape = self.session.origin.shape
        if claim in _NEEDED and not getattr(claims, _NEEDED[claim]):
            return f"needs {_NEEDED[claim]}"
        if claim == "when_dropping" and "drop_last" in claims.without:
            return "it can't be asked for drop_last"
        if claim == "layout" and "ranks" in claims.without:
            return "it has no ranks"
        if shape is not None:
            asked = {"workers": "num_workers", "hooks": value}.get(claim, claim)
            if claim in ("workers", "hooks") and not shape.asks(asked):
                return f"it has no parameter for {asked}"
            if claim == "shuffle" and not shape.shuffles:
                return "it has no parameters for shuffle and seed"
            if claim == "resume" and "load_state_dict" not in shape.methods:
                return "it has no state_dict and load_state_dict"
        if claim == "iterable_workers":
            if "iterable" not in self.session.claims.datasets:
                return 'it claims no "iterable" in datasets'
            return replace(claims, datasets=("map", "iterable"), iterable_workers=value, workers=True)
        if claim == "hooks":
            if value in _OF_WORKERS and not claims.workers:
                return "needs workers"
            if value == "generator" and not claims.shuffle:
                return "needs shuffle"
            return replace(claims, hooks=(*claims.hooks, value))
        return replace(claims, **{claim: value})

    def _judged(self, before: Claims, claim: str, value: Any, wanted: Claims) -> Tried:
        usual, look = self._look(before), self._look(wanted)
        own = _OWN_CLAUSE.get(claim)
        new = [
            clause
            for clause in look.violated
            if (clause not in usual.violated or clause == own) and CLAUSES[clause].level == "MUST"
        ]
        if new:
            first = min(new, key=lambda clause: (CLAUSES[clause].applies(before), CLAUSES[clause].number))
            case = self._case(look, CLAUSES[first])
            return Tried(claim, value, False, case=case, reason="" if case else f"{first} was violated once")
        added = {each: times for each, times in look.exercised.items() if not CLAUSES[each].applies(before)}
        floors = {each: floor_of(CLAUSES[each], self.session.tier, self.session.claims) for each in added}
        seldom = next((each for each, times in added.items() if times < floors[each]), "")
        if seldom:
            told = f"{seldom} could have failed in {added[seldom]} cases, and {floors[seldom]} are needed"
            return Tried(claim, value, False, reason=f"not found out: {told}")
        if claim == "workers" and not self._has_read_elsewhere():
            return Tried(claim, value, False, reason="it was asked for workers, and read everything by itself")
        more = (times - usual.exercised.get(each, 0) for each, times in look.exercised.items())
        cases = look.exercised.get(own, 0) if own else max(more, default=0)
        if cases <= 0 and value != getattr(Claims(), claim):
            return Tried(claim, value, False, reason="not found out: no case could have refuted it")
        return Tried(claim, value, True, max(0, cases))

    def _has_read_elsewhere(self) -> bool:
        """Whether any sample was read by a process that is not the one that iterates."""
        runs = (run for trace in self.memory.traces.values() for run in trace.runs)
        return any(read.process for run in runs for rank in run.ranks for read in rank.reads)

    def _look(self, claims: Claims) -> _Look:
        if claims not in self._looks:
            exercised, violated = Counter[str](), dict[str, RememberingCampaign]()
            for family in FAMILIES:
                campaign = RememberingCampaign(
                    self.memory, self.session.fleet, claims, family, self.session.tier, self.session.options.seed
                )
                result, clauses = campaign.look(self.session.tolerated.kinds_of(family))
                exercised.update(result.exercised)
                violated = dict.fromkeys(sorted(clauses), campaign) | violated
            self._looks[claims] = _Look(exercised, violated)
        return self._looks[claims]

    def _case(self, look: _Look, clause: Clause) -> Case | None:
        result = Result({})
        known = self.session.tolerated.kinds_of(clause.family).get(clause.id, frozenset())
        look.violated[clause.id].confirm(clause, known, result)
        return result.cases.get(clause.id)


def _nothing_but_limits(claims: Claims) -> Claims:
    """What an adapter says of what it can be asked for, without its promises."""
    if "map" not in claims.datasets:
        raise AdapterError("it reads no map-style dataset; what else a loader can promise is not looked for")
    return Claims(ranks=claims.ranks, without=claims.without, epochs=claims.epochs, aliases=claims.aliases)


def unless_claimed(clause: Clause, claims: Claims) -> str:
    """The claim that is not made, and with which the clause would not bind; "" if it binds whatever else is claimed."""
    for claim, values in LADDER:
        if claim == "hooks" or getattr(claims, claim):
            continue
        if not any(clause.applies(replace(claims, **{claim: value})) for value in values if value):
            return claim
    return ""


def made_of(claims: Claims) -> Iterator[tuple[str, Any]]:
    """The claims that are not the usual ones, in the order of the ladder and then of the contract."""
    usual = Claims()
    names = [name for name, _ in LADDER]
    ordered = [*names, *(each.name for each in fields(Claims) if each.name not in names)]
    for name in ordered:
        if getattr(claims, name) != getattr(usual, name):
            yield name, getattr(claims, name)
