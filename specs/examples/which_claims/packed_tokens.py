"""Packed tokens: sequences are packed into steps until a budget of tokens is used up, or until there are enough."""

import random

claims = dict(
    batches=("budget", "at_least"),
    oversized="skip",
    when_dropping="drop",
    when_keeping="drop",
    shuffle="global",
    length=True,
)


class Packed:
    """All ranks make the same packs, and take them in turn; those that are not enough for all ranks are dropped."""

    def __init__(self, request):
        if request.batch_size < 1 or not 0 <= request.rank < request.world_size:
            raise ValueError(f"no step of {request.batch_size} on rank {request.rank} of {request.world_size}")
        self.request, self.epoch = request, 0

    def set_epoch(self, epoch):
        self.epoch = epoch

    def steps(self):
        request, order = self.request, list(range(len(self.request.dataset)))
        if request.shuffle:
            random.Random(f"{request.seed} {self.epoch}").shuffle(order)
        if request.batches:
            return self.share(self.packs(order))
        mine, size = self.share(order), request.batch_size  # not asked for tokens: steps of so many samples
        last = len(mine) - size + 1 if request.drop_last else len(mine)
        return [mine[at : at + size] for at in range(0, last, size)]

    def share(self, all_ranks):
        ranks = self.request.world_size
        return all_ranks[: len(all_ranks) // ranks * ranks][self.request.rank :: ranks]

    def packs(self, order):
        packs, tokens, budget = [[]], 0, self.request.budget
        for index in order:
            size = self.request.sizes[index]
            if self.request.batches == "budget" and size > budget:
                continue  # oversized="skip"
            if tokens >= budget if self.request.batches == "at_least" else tokens + size > budget:
                packs.append([])
                tokens = 0
            packs[-1].append(index)
            tokens += size
        is_rest = self.request.batches == "at_least" and tokens < budget and self.request.drop_last
        return packs[:-1] if is_rest or not packs[-1] else packs

    def __iter__(self):
        return ([self.request.dataset[index] for index in step] for step in self.steps())

    def __len__(self):
        return len(self.steps())


def load(request):
    return Packed(request)
