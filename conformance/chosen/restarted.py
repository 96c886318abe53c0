"""A mixture that is stopped, and goes on in another loader from its state: decides what becomes of the epoch."""

import pickle
from contextlib import suppress
from dataclasses import replace

from conformance.chosen.asked import Reading
from conformance.chosen.scenario import stopped_after
from conformance.contract import Request
from conformance.processes import calls
from conformance.processes.calls import Stopped


def read(going: Reading, request: Request) -> None:
    """Read a few steps, take the state, and the rest of the epoch in a loader that was given it."""
    first = going.reader(request)
    after = stopped_after(going.scenario)
    try:
        head = first.begin(0)
        more = True
        while more and len(head.steps) < after:
            more = first.step(head)
        blob = pickle.dumps(first.method("state_dict"))
    finally:
        with suppress(Stopped):
            calls.close(first.loader)
    if not more:
        going.epochs.append(head.epoch())
        return
    second = going.reader(request)
    try:
        second.method("load_state_dict", pickle.loads(blob))
        rest = second.rest(second.begin(0)).epoch()
        going.epochs.append(replace(rest, steps=(*head.steps, *rest.steps)))
    finally:
        with suppress(Stopped):
            calls.close(second.loader)
