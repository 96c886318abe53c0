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
# The case of WORK-9 shows nothing here.
known_failures = {name: known for name, known in accelerate_prepared.known_failures.items() if name != "WORK-9"}


def load(request: Any) -> Any:
    """One rank's loader."""
    return prepared(request, request.batch_size, even_batches=False)
