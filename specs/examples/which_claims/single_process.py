"""Single process: torch's DataLoader as a script without ranks has it, with a word on which batch is the last."""

import torch
from torch.utils.data import DataLoader

from conformance.peers import torch_map

claims = dict(
    ranks=None,
    lookahead=1,
    when_dropping="drop",
    when_keeping="uneven",
    shuffle="global",
    epochs="automatic",
    length=True,
)
# What torch itself does otherwise than the chapters say.
known_failures = {clause: torch_map.known_failures[clause] for clause in ("ORDER-7", "WORK-17", "ERROR-3")}


class KnowsTheLast:
    """Reads a batch ahead, so that the loop can ask `is_last` of the one that it has."""

    def __init__(self, loader):
        self.loader, self.is_last = loader, False

    def __iter__(self):
        self.is_last, batches = False, iter(self.loader)
        for batch in batches:
            for following in batches:
                yield batch
                batch = following
            self.is_last = True
            yield batch

    def __len__(self):
        return len(self.loader)


def load(request):
    loader = DataLoader(
        request.dataset,
        batch_size=request.batch_size,
        shuffle=request.shuffle and len(request.dataset) > 0,  # torch shuffles no empty dataset
        generator=torch.Generator().manual_seed(request.seed),
        drop_last=request.drop_last,
    )
    return KnowsTheLast(loader)
