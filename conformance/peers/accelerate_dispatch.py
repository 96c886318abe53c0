"""accelerate with `dispatch_batches=True`: the first process reads, and sends each of the others its part of a batch.

Source of the claims: https://huggingface.co/docs/accelerate/package_reference/torch_wrappers (prepare_data_loader:
`dispatch_batches`: "only iterated through on the main process and then the batches are split and broadcast to each
process"; `even_batches`, `drop_last`), and those of `accelerate_prepared.py`.

Its state is one for a process, and is made new for each job here. Not claimed: `workers` (the first process reads what
others deliver); iterable datasets (their workers are torch's).
"""

import os
from typing import Any

import torch.distributed
from accelerate import PartialState

from conformance.peers import accelerate_prepared
from conformance.peers.accelerate_prepared import prepared

claims: dict[str, Any] = {**accelerate_prepared.claims, "ranks": "process_group", "workers": False}
known_failures = {name: accelerate_prepared.known_failures[name] for name in ("ORDER-7", "WORK-17")}


def load(request: Any) -> Any:
    """One rank's loader."""
    group = {"RANK": request.rank, "WORLD_SIZE": request.world_size}
    if request.world_size > 1:
        local = {f"LOCAL_{name}": value for name, value in group.items()}
        os.environ.update({name: str(value) for name, value in {**group, **local}.items()})
        os.environ.update(MASTER_ADDR="127.0.0.1", MASTER_PORT="29500")  # it asks for them; the group is there already
    PartialState._reset_state()
    state = PartialState(cpu=True)
    if torch.distributed.is_initialized() and state.num_processes != request.world_size:
        raise ValueError(f"accelerate sees {state.num_processes} processes, and not {request.world_size}")
    return prepared(request, request.batch_size, dispatch_batches=True, put_on_device=True)
