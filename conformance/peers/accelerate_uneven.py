"""accelerate with `even_batches=False`: nothing is repeated, and ranks may have a step more or less than others.

Source of the claims: https://huggingface.co/docs/accelerate/package_reference/torch_wrappers (prepare_data_loader:
`even_batches=True` is what duplicates samples; BatchSamplerShard: `even_batches`, "whether or not to loop back at the
beginning of the sampler") and https://huggingface.co/docs/accelerate/concept_guides/join (uneven inputs), and those of
`accelerate_prepared.py`.

Whole batches go to the ranks in turn, so that the rest of one rank may be a batch: "once".
"""

from typing import Any

from conformance.peers import accelerate_prepared
from conformance.peers.accelerate_prepared import prepared

claims: dict[str, Any] = {**accelerate_prepared.claims, "when_keeping": "once"}
known_failures = {
    **accelerate_prepared.known_failures,
    "WORK-9": {**accelerate_prepared.known_failures["WORK-9"], "case": "WORK-9-n2,w2,b1,keep,k1,workers"},
}


def load(request: Any) -> Any:
    """One rank's loader."""
    return prepared(request, request.batch_size, even_batches=False)
