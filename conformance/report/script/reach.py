"""How the ranks of chapter 11 read, where they do more than read their loader: beside another, restarted, launched."""

import os
import pickle
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from unittest.mock import patch

from conformance.report.script.brief import read_in_brief
from conformance.report.script.consumer import Unfit

CASE = SimpleNamespace()


def read_launched(load: Any, decode: Any, request: Any, numbers: Any, epochs: list[Any]) -> None:
    """What is done: the loader is read, and then another one as rank 1 of 2, by all that launchers tell."""
    read_in_brief(load, decode, request, numbers, epochs)
    ranks = ("RANK", "LOCAL_RANK", "GLOBAL_RANK", "OMPI_COMM_WORLD_RANK", "SLURM_PROCID", "PMI_RANK")
    sizes = ("WORLD_SIZE", "LOCAL_WORLD_SIZE", "OMPI_COMM_WORLD_SIZE", "SLURM_NTASKS", "PMI_SIZE")
    with patch.dict(os.environ, {**dict.fromkeys(ranks, "1"), **dict.fromkeys(sizes, "2")}):
        for name in ("MASTER_ADDR", "MASTER_PORT"):
            os.environ.pop(name, None)
        try:
            read_in_brief(load, decode, request, numbers, epochs)
        except Unfit:
            raise
        except (Exception, SystemExit) as error:
            epochs[1:] = [SimpleNamespace(number=0, steps=[], refused=f"{type(error).__name__}: {error}")]


def read_beside(load: Any, decode: Any, request: Any, run: Any, epochs: list[Any]) -> None:
    """What one rank does: it reads its loaders, a step of each in turn; what the second gives comes behind."""
    loaders = [load(each) for each in (request, *(replace(request, **other) for other in run["beside"]))]
    noted: list[list[Any]] = [[] for _ in loaders]
    for number in run["epochs"]:
        for loader, mine in zip(loaders, noted, strict=True):
            if hasattr(loader, "set_epoch"):  # only: set_epoch
                loader.set_epoch(number)  # only: set_epoch
            mine.append(SimpleNamespace(number=number, steps=[], iterator=iter(loader)))
        going = [mine[-1] for mine in noted]
        while going:
            for epoch in list(going):
                batch = next(epoch.iterator, None)
                if batch is None:
                    going.remove(epoch)
                else:
                    epoch.steps.append([int(value) - 1000 for value in decode(batch)])
        for mine in noted:
            del mine[-1].iterator
    epochs += [epoch for mine in noted for epoch in mine]


def read_restarted(load: Any, decode: Any, request: Any, run: Any, epochs: list[Any]) -> None:
    """What is done: some steps, the state, and the rest of the epoch in a loader that is given it."""
    loader = load(request)
    for number in run["epochs"]:
        steps: list[list[int]] = []
        epochs.append(SimpleNamespace(number=number, steps=steps))
        if hasattr(loader, "set_epoch"):  # only: set_epoch
            loader.set_epoch(number)  # only: set_epoch
        iterator = iter(loader)
        if run["stops"] and number == run["epochs"][-1]:
            ended = False
            while not ended and len(steps) < run["stops"]:
                ended = not one_more(iterator, decode, steps)
            state = pickle.loads(pickle.dumps(loader.state_dict()))
            if ended:
                return
            loader = load(request)
            if run.get("inside") and hasattr(loader, "set_epoch"):  # only: set_epoch
                loader.set_epoch(number)  # only: set_epoch
            loader.load_state_dict(state)
            if not run.get("inside") and hasattr(loader, "set_epoch"):  # only: set_epoch
                loader.set_epoch(number)  # only: set_epoch
            iterator = iter(loader)
        while one_more(iterator, decode, steps):
            pass


def read_stopped(load: Any, decode: Any, request: Any, numbers: Any, epochs: list[Any]) -> None:
    """What is done: so many steps, and a state on the way; or, from that state in another process, the rest of them."""
    steps: list[list[int]] = []
    epochs.append(SimpleNamespace(number=0, steps=steps))
    loader, state = load(request), Path(os.environ["STATE"])
    resumes = state.exists()
    if resumes:
        loader.load_state_dict(pickle.loads(state.read_bytes()))
    if hasattr(loader, "set_epoch"):  # only: set_epoch
        loader.set_epoch(0)  # only: set_epoch
    iterator = iter(loader)
    last = CASE.steps - (CASE.place if resumes else 0)
    for at in range(last + 1):
        if at == CASE.place and not resumes:
            try:
                state.write_bytes(pickle.dumps(loader.state_dict()))
            except Exception as error:
                raise Unfit(f"no state can be taken: {error}") from error
        if at < last and not one_more(iterator, decode, steps):
            break


def one_more(iterator: Any, decode: Any, steps: list[list[int]]) -> bool:
    """Take a step; False at the end."""
    nothing = object()
    batch = next(iterator, nothing)
    if batch is not nothing:
        steps.append([int(value) - 1000 for value in decode(batch)])
    return batch is not nothing
