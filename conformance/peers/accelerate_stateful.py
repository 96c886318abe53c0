"""accelerate with `use_stateful_dataloader`: the loader of `accelerate_prepared.py`, with a state.

Source of the claims: https://huggingface.co/docs/accelerate/usage_guides/checkpoint ("use_stateful_dataloader": with
torchdata installed, `load_state` resumes from the exact point in the middle of an epoch), and those of that adapter.
"""

from typing import Any

from conformance.peers import accelerate_prepared

claims: dict[str, Any] = {**accelerate_prepared.claims, "resume": True}
known_failures = accelerate_prepared.known_failures


def load(request: Any) -> Any:
    """One rank's loader, with a state."""
    return accelerate_prepared.prepared(request, stateful=True)
