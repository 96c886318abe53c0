"""accelerate with `split_batches=True`: each batch of a script's loader is cut in as many parts as there are ranks.

Source of the claims: https://huggingface.co/docs/accelerate/package_reference/torch_wrappers (prepare_data_loader:
`split_batches`: "the observed batch size will be the same as the initial dataloader"; it "requires that the batch size
of the dataloader is a round multiple"), and those of `accelerate_prepared.py`.

A script's batch is a step of all ranks together.
"""

from typing import Any

from conformance.peers import accelerate_prepared
from conformance.peers.accelerate_prepared import prepared

claims = accelerate_prepared.claims
known_failures = accelerate_prepared.known_failures


def load(request: Any) -> Any:
    """One rank's loader, made from one of larger batches."""
    return prepared(request, request.batch_size * request.world_size, split_batches=True)
