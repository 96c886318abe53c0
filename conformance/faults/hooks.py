"""Whether hooks are honoured: decides what the log of a reading says of those that were asked for, in every epoch.

Process ids are compared here, in the rank's own process: in a trace they would differ from run to run.
"""

from collections import Counter
from collections.abc import Sequence
from typing import Any

from conformance.loader import samplers
from conformance.loader.probes import Watch
from conformance.loader.scenario import Scenario
from conformance.trace import Epoch
from conformance.trial.words import count


def not_honoured(watch: Watch, scenario: Scenario, epochs: Sequence[Epoch]) -> str:
    """What was not done as the hooks of the scenario's words say, beginning with the hook's name; "" if all was."""
    entries = watch.entries()
    looks = {"collated": _not_collated, "begun": _not_begun, "lasting": _not_lasting}
    found = (look(entries, watch.consumer, epochs) for word, look in looks.items() if word in scenario.words)
    told = next((told for told in found if told), "")
    if not told and samplers.HOOKS.keys() & set(scenario.words):
        return samplers.not_followed(watch.folder, scenario, epochs)
    return told


def _not_collated(entries: list[Any], consumer: int, epochs: Sequence[Epoch]) -> str:
    """A step that the collate function has not made. A user who keeps what was read may keep the step as well."""
    made = Counter(tuple(sorted(each["collated"])) for each in entries if _is(each, "collated"))
    read = Counter(each[0] for each in entries if isinstance(each, list))
    given = Counter(index for epoch in epochs for index in epoch.samples)
    came = Counter(tuple(sorted(step)) for epoch in epochs for step in epoch.steps)
    for epoch in epochs:
        for at, step in enumerate(epoch.steps):
            key = tuple(sorted(step))
            # Which of its epochs lacks a call the log can't say of a loader that reads ahead.
            if made[key] < came[key] and all(read[index] >= given[index] for index in step):
                times = f"{count(made[key], 'call')} for {count(came[key], 'step')}"
                return f"collate_fn: {times} like step {at} of epoch {epoch.number}"
    return ""


def _not_begun(entries: list[Any], consumer: int, epochs: Sequence[Epoch]) -> str:
    """A worker process that reads before the initialiser was called in it, or in which it is called twice."""
    begun: Counter[int] = Counter()
    for each in entries:
        if _is(each, "begun"):
            begun[each["process"]] += 1
            if begun[each["process"]] > 1:
                return f"worker_init_fn: it was called twice in worker {each['begun']}"
        elif isinstance(each, list) and each[1] != consumer and not begun[each[1]]:
            return f"worker_init_fn: sample {each[0]} was read by a worker in which it had not been called"
    return ""


def _not_lasting(entries: list[Any], consumer: int, epochs: Sequence[Epoch]) -> str:
    """A later epoch that is read by processes which the first one did not have."""
    readers: list[set[int]] = []
    for each in entries:
        if isinstance(each, int):
            readers.append(set())
        elif readers and isinstance(each, list) and each[1] != consumer:
            readers[-1].add(each[1])
        elif readers and _is(each, "begun"):
            readers[-1].add(each["process"])
    for number, later in enumerate(readers[1:], 1):
        more = later - readers[0]
        if more and readers[0]:
            return f"persistent_workers: epoch {number} has {count(len(more), 'worker process')} of its own"
    return ""


def _is(entry: Any, kind: str) -> bool:
    return isinstance(entry, dict) and kind in entry
