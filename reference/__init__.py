"""The smallest readable loader and device that satisfy every clause of `specs/`, in the shape of PopTorch, on a CPU.

`import reference as poptorch` serves a script written for PopTorch as far as options, the DataLoader, the
AsynchronousDataAccessor and the models go. The files beside this one are the names that scripts ask for; how each works
stands in the folders:

- `rules/`: how many (`arithmetic`), which (`partition`), in which order (`orders`, by `shuffle` or `feistel`), step by
  step (`sampler`), by which worker (`splitting`); pure functions, each line below the clause that it obeys
- `options/`: what is asked for, and where the values come from
- `loading/`: how a step is made (`collate`, `join`, `worker`), what an error makes of it (`faults`), and how an epoch
  ends (`passes`, `processes`) or is resumed (`restarts`)
- `ahead/`: the ring of shared memory, and the processes that fill it
- `device/`: a step on the emulated device; `launch/`: one program as several instances; `pipelines/`: graphs of pipes;
  `datapipes/`: the pipes that torch has no more

To follow one step from the loop to shared memory, read in this order:

1. `dataloader.py`, `DataLoader.__iter__` and `_begun`: which epoch, and whether it is loaded ahead
2. `loading/request.py`, `make_request`: what the options mean for this rank; `rules/sampler.py`: its steps as indices
3. without reading ahead: `loading/passes.py`, `Pass.__next__`, then `loading/processes.py` and `loading/collate.py`
4. ahead: `ahead/asynchronous.py`, `consumer_of`: who fills the ring; `ahead/ring.py`: its table of moves, on paper
5. `ahead/consumer.py`, `Pass.__next__`: take the oldest slot, give back the one before; `ahead/supply.py` and
   `ahead/producing.py`: the other side, a process that makes items of indices
6. `ahead/layout.py` and `ahead/gather.py`: where an item's tensors lie in a slot; `ahead/shared_memory.py`: the slots

The names themselves stand in `names.py`, which is imported when one of them is first asked for: a script that wants the
numbers of an epoch only (`rules/plan.py`) waits for no torch.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .names import *  # noqa: F403


def __getattr__(name: str) -> Any:
    if name.startswith("__") and name != "__all__":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    names = import_module(f"{__name__}.names")
    if name != "__all__" and name not in names.__all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(names, name)


def __dir__() -> list[str]:
    return sorted({*globals(), *import_module(f"{__name__}.names").__all__})
