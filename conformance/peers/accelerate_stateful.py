"""accelerate with `use_stateful_dataloader`: the loader of `accelerate_prepared.py`, with a state.

Source of the claims: https://huggingface.co/docs/accelerate/usage_guides/checkpoint ("use_stateful_dataloader": with
torchdata installed, `load_state` resumes from the exact point in the middle of an epoch), and those of that adapter.
"""

from typing import Any

from conformance.peers import accelerate_prepared
from conformance.peers.accelerate_prepared import prepared

claims: dict[str, Any] = {**accelerate_prepared.claims, "resume": True}
# The case of WORK-9 shows nothing here.
known_failures = {name: known for name, known in accelerate_prepared.known_failures.items() if name != "WORK-9"}


def load(request: Any) -> Any:
    """One rank's loader, with a state."""
    return prepared(request, request.batch_size, use_stateful_dataloader=True)
