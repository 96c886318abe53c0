"""torchdata's StatefulDataLoader, in the place of torch's DataLoader: "a drop-in replacement" is what is promised.

Source of the claims: https://docs.pytorch.org/data/0.11/torchdata.stateful_dataloader.html ("drop-in replacement for
torch.utils.data.DataLoader ... provides state_dict and load_state_dict"), and those of `torch_map.py`.

Not claimed: `end_of_epoch` (it is an empty rest of a map-style dataset, and of an iterable one the next epoch).
"""

from typing import Any

from torchdata.stateful_dataloader import StatefulDataLoader

from conformance.peers import torch_map
from conformance.peers.torch_map import TorchLoader, loader_of_kind

claims = {**torch_map.claims, "resume": True}
# Seen, and told in specs/findings.md; RESUME-5 and RESUME-8 of iterable datasets without a state of their own.
known_failures = {
    **torch_map.known_failures,
    "RESUME-5": [
        dict(
            case="RESUME-5-n3,w1,b1,keep,e2,iterable,save@1,with=again",
            reason="after a second restart, what was skipped at the first one is skipped once more",
        ),
        dict(
            case="RESUME-5-n1,w1,b1,keep,e2,iterable,save@1,with=again",
            reason="a state of the end of an epoch that was resumed makes the next iter() raise StopIteration",
        ),
    ],
    "RESUME-6": dict(
        case="RESUME-6-n2,w1,b1,keep,shuffle,e3,save@0,with=relayed",
        reason="state_dict() before iter() begins the epoch, so that the set_epoch() after it comes too late",
    ),
    "RESUME-8": dict(
        case="RESUME-8-n1,w1,b1,keep,e2,iterable,save@1,with=relayed",
        reason="state_dict() raises StopIteration after a state of the last step was loaded",
    ),
}


class StatefulLoader(TorchLoader):
    """The same two objects; the loader's state is that of both."""

    def state_dict(self) -> Any:
        """Where the loader is."""
        return self.loader.state_dict()  # type: ignore[attr-defined]  # a StatefulDataLoader

    def load_state_dict(self, state: Any) -> None:
        """Go on from there."""
        self.loader.load_state_dict(state)  # type: ignore[attr-defined]


def load(request: Any) -> StatefulLoader:
    """One rank's loader, as the documentation shows it."""
    made = loader_of_kind(StatefulDataLoader, request)
    return StatefulLoader(made.loader, made.sampler)
