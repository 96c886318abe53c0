"""Chapter 4, hooks: the judges of WORK-18 to WORK-20, on what a request hands over and the loader is to use."""

from conformance.contract import Claims
from conformance.loader import generators, samplers
from conformance.loader.judging import fails_anyway, wrong_length
from conformance.loader.scenario import Scenario
from conformance.trace import Epoch, Trace
from conformance.trial.clause import Finding, Verdict, clause
from conformance.workers.judges_life import ended


def _hooked(claims: Claims) -> bool:
    """Whether a hook is claimed that can be looked at; all but one are for workers."""
    of_workers = {"worker_init_fn", "persistent_workers"} & set(claims.hooks)
    return "collate_fn" in claims.hooks or bool(claims.workers and of_workers)


@clause("WORK-18", family="life", applies=_hooked, floor=1, twin=True)
def hooks_are_honoured(scenario: Scenario, claims: Claims, trace: Trace) -> Verdict:
    """What a claimed hook asks for is done, in every epoch and in every worker."""
    if scenario.conduct != "hooked" or _is_ordered(scenario) or _is_generated(scenario) or fails_anyway(trace):
        return None
    (rank,) = trace.main.ranks
    if rank.failure:
        return [ended("failed-with-hooks", rank, "whole epochs", "the hooks that are asked for are claimed")]
    told = rank.remark("hook")
    if told:
        name, _, text = told.partition(": ")
        why = f"{name} is claimed: a hook that is taken and not honoured, once or always, is worse than none"
        return [Finding(f"not-honoured-{name}", f"{name} honoured in every epoch", (f"rank 0: {text}",), why)]
    return []


@clause(
    "WORK-19",
    family="life",
    applies=lambda claims: bool({*samplers.HOOKS.values()} & {*claims.hooks}),
    floor=1,
    twin=True,
)
def samplers_are_followed(scenario: Scenario, claims: Claims, trace: Trace) -> Verdict:
    """Each epoch is one pass over the sampler, or over the batch sampler, that the request has."""
    if scenario.conduct != "hooked" or not _is_ordered(scenario) or fails_anyway(trace):
        return None
    (rank,) = trace.main.ranks
    failed = "failed" in scenario.words
    if scenario.fault and (not failed or claims.errors == "skip"):
        return None
    if failed and rank.failure and rank.failure.kind == "raised":
        return []  # it may be of no use behind an error, if it says so (WORK-14)
    failure = rank.failure or next((each.failure for each in rank.epochs if not _may_raise(scenario, each)), None)
    if failure:
        why = "the hooks that are asked for are claimed"
        return [Finding("failed-with-a-sampler", "whole epochs", (f"rank 0: {failure.sentence()}",), why)]
    told = rank.remark("hook")
    if told:
        name, _, text = told.partition(": ")
        expected = "the lists of one pass as steps" if name == "batch_sampler" else "the indices of one pass, in order"
        why = f"{name} is claimed: which samples come, how often and when, is then its choice alone"
        return [Finding(f"not-followed-{name}", expected, tuple(f"rank 0: {each}" for each in text.split("; ")), why)]
    for epoch in rank.epochs:
        wrong = "" if epoch.left or epoch.failure else wrong_length(epoch)
        if wrong:
            line = f"rank 0: before epoch {epoch.number}: {wrong}"
            why = "a length that is given is that of the epoch, and a sampler decides what an epoch is"
            return [Finding("length-of-another", f"len(loader) = {len(epoch.steps)}", (line,), why)]
    return []


def _may_raise(scenario: Scenario, epoch: Epoch) -> bool:
    """Whether an epoch may end as it did: a loader may refuse another loop after one that was left (WORK-12 to -14)."""
    if epoch.failure is None:
        return True
    refuses = "left" in scenario.words and epoch.number > 0 and not epoch.steps
    return epoch.failure.kind == "raised" and (refuses or bool({"failed", "held"} & {*scenario.words}))


@clause(
    "WORK-20",
    family="life",
    applies=lambda claims: generators.HOOK in claims.hooks and bool(claims.shuffle) and claims.in_order,
    floor=1,
    twin=True,
)
def generators_decide(scenario: Scenario, claims: Claims, trace: Trace) -> Verdict:
    """The state of the generator that the request has decides the order of each epoch, and no other one does."""
    if scenario.conduct != "hooked" or not _is_generated(scenario) or fails_anyway(trace):
        return None
    # Few samples come in one order by chance.
    if scenario.samples < generators.SAMPLES:
        return None
    (rank,) = trace.main.ranks
    if rank.failure:
        return [ended("failed-with-a-generator", rank, "whole epochs", "the hooks that are asked for are claimed")]
    told = rank.remark("hook").partition(": ")[2]
    if told:
        expected = "the same orders from the same state, others from another"
        why = "generator is claimed: a user who hands one over repeats a run by it, and keeps what else draws apart"
        return [Finding("not-decisive", expected, tuple(f"rank 0: {each}" for each in told.split("; ")), why)]
    return []


def _is_generated(scenario: Scenario) -> bool:
    return generators.WORD in scenario.words


def _is_ordered(scenario: Scenario) -> bool:
    return bool(samplers.HOOKS.keys() & set(scenario.words))
