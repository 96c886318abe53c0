"""A consumer that stops and goes on: decides when a state is taken and loaded, as `restarts/conduct.py` does."""

import os
import pickle
import traceback
from pathlib import Path
from typing import Any

from conformance.report.script.consumer import begin_epoch, close_loader, failure_of, take_step

AFTER = 0
SKIPS_THE_END = False


def read_with_restart(load: Any, decode: Any, request: Any, numbers: Any) -> dict[str, Any]:
    """Take a state while reading or, where an earlier process has left one, continue with it."""
    noted: dict[str, Any] = {"epochs": [], "failure": None}
    state_file = Path(os.environ["STATE"])
    try:
        loader = load(request)
        if state_file.exists():
            saved = pickle.loads(state_file.read_bytes())
            saved["state"] = pickle.loads(saved["state"])
            go_on(loader, decode, numbers, noted, saved, state_file)
            go_on(load(request), decode, numbers, noted, saved, state_file)  # only: shared
        else:
            read_and_take_state(loader, decode, numbers, noted, state_file)
        close_loader(loader)
    except (Exception, SystemExit) as error:
        traceback.print_exc()
        noted["failure"] = failure_of(error)
    return noted


def read_and_take_state(loader: Any, decode: Any, numbers: Any, noted: dict[str, Any], state_file: Path) -> None:
    """Read all epochs; in the last but one, take a state after some steps."""
    *before, number, following = numbers
    for each in before:
        read_rest(*begin_epoch(loader, each, noted), decode)
    early = loader.state_dict()  # only: unbegun
    epoch, iterator = begin_epoch(loader, number, noted)
    more = True
    while more and len(epoch["steps"]) < AFTER:
        more = take_step(epoch, iterator, decode)
    state = loader.state_dict()
    state = early  # only: unbegun
    saved = {"state": pickle.dumps(state), "ended": not more}
    if more:
        read_rest(epoch, iterator, decode)
    read_rest(*begin_epoch(loader, following, noted), decode)
    saved["later"] = pickle.dumps(state)  # only: held
    state_file.write_bytes(pickle.dumps(saved))
    loader.load_state_dict(state)  # only: used
    for each in numbers[-1:] if saved["ended"] and SKIPS_THE_END else numbers[-2:]:  # only: used
        read_rest(*begin_epoch(loader, each, noted), decode)  # only: used


def go_on(
    loader: Any, decode: Any, numbers: Any, noted: dict[str, Any], saved: dict[str, Any], state_file: Path
) -> None:
    """Load the state, and read the rest of its epoch and the next one."""
    if saved["ended"] and SKIPS_THE_END:
        numbers = numbers[-1:]
    loader.load_state_dict(saved["state"])
    keep_state(loader, False, state_file)  # only: relayed
    epoch, iterator = begin_epoch(loader, numbers[0], noted)
    more = True
    more = take_step(epoch, iterator, decode)  # only: step
    keep_state(loader, not more, state_file)  # only: second
    if more:  # only: rest
        read_rest(epoch, iterator, decode)  # only: rest
    del iterator
    for number in numbers[1:]:
        read_rest(*begin_epoch(loader, number, noted), decode)
    state_file.write_bytes(pickle.dumps({**saved, "state": saved["later"]}))  # only: held


def read_rest(epoch: dict[str, Any], iterator: Any, decode: Any) -> None:
    """Read what is left of an epoch."""
    while take_step(epoch, iterator, decode):
        pass


def keep_state(loader: Any, ended: bool, state_file: Path) -> None:
    """Leave the loader's state for the next process."""
    state_file.write_bytes(pickle.dumps({"state": pickle.dumps(loader.state_dict()), "ended": ended}))
