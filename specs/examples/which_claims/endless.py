"""Endless: one iterator for all of training, that gives pass after pass and can go on from any step."""

import random

claims = dict(
    epochs="endless",
    shuffle="global",
    resume=True,
)


class Endless:
    """All passes are one long list of samples, of which each rank takes every world_size-th."""

    def __init__(self, request):
        if request.batch_size < 1 or not 0 <= request.rank < request.world_size:
            raise ValueError(f"no step of {request.batch_size} on rank {request.rank} of {request.world_size}")
        self.request, self.steps = request, 0

    def order(self, number):
        order = list(range(len(self.request.dataset)))
        if self.request.shuffle:
            random.Random(f"{self.request.seed} {number}").shuffle(order)
        return order

    def __iter__(self):
        request, samples = self.request, len(self.request.dataset)
        number = order = None
        while samples:
            step = []
            for at in range(self.steps * request.batch_size, (self.steps + 1) * request.batch_size):
                wanted, place = divmod(at * request.world_size + request.rank, samples)
                if wanted != number:
                    number, order = wanted, self.order(wanted)
                step.append(request.dataset[order[place]])
            self.steps += 1
            yield step

    def state_dict(self):
        return {"steps": self.steps}

    def load_state_dict(self, state):
        self.steps = state["steps"]


def load(request):
    return Endless(request)
