"""Mixture: several datasets are read as one, each as often as its weight says, and a restart resumes in all of them."""

import random

claims = dict(
    mixtures=("first_exhausted", "all_exhausted"),
    when_dropping="drop",
    when_keeping="drop",
    shuffle="global",
    length=True,
    resume=True,
)


class Mixture:
    """All ranks draw the same list of samples, and share it out."""

    def __init__(self, request):
        if request.batch_size < 1 or not 0 <= request.rank < request.world_size:
            raise ValueError(f"no step of {request.batch_size} on rank {request.rank} of {request.world_size}")
        self.request, self.epoch = request, 0
        self.step = self.start = 0  # where the consumer is, and where the next iterator begins
        self.sources, self.weights = request.sources or (request.dataset,), request.weights or (1.0,)

    def drawn(self):
        """One (source, sample) after the other, until one of the sources, or each, has been through."""
        request, sizes = self.request, [len(source) for source in self.sources]
        generator = random.Random(f"{request.seed} {self.epoch if request.shuffle else 0}")
        left, unfinished = [[] for _ in sizes], {source for source, size in enumerate(sizes) if size}
        needed = 1 if request.stop == "all_exhausted" else len(sizes)
        while len(unfinished) >= needed:
            (source,) = generator.choices(range(len(sizes)), self.weights)
            if not left[source]:  # its first pass, or it begins again
                left[source] = list(range(sizes[source]))[::-1]
                if request.shuffle:
                    generator.shuffle(left[source])
            yield source, left[source].pop()
            if not left[source]:
                unfinished.discard(source)

    def steps(self):
        request, drawn = self.request, list(self.drawn())
        mine = drawn[: len(drawn) // request.world_size * request.world_size][request.rank :: request.world_size]
        last = len(mine) - request.batch_size + 1 if request.drop_last else len(mine)
        return [mine[at : at + request.batch_size] for at in range(0, last, request.batch_size)]

    def set_epoch(self, epoch):
        self.start = self.start if epoch == self.epoch else 0  # the epoch of a state goes on
        self.epoch, self.step = epoch, self.start

    def __iter__(self):
        self.step, self.start = self.start, 0
        return self.rest(self.steps()[self.step :])

    def rest(self, steps):
        for step in steps:
            samples = [self.sources[source][index] for source, index in step]
            self.step += 1
            yield samples

    def __len__(self):
        return len(self.steps())

    def state_dict(self):
        is_over = self.step == len(self)
        return {"epoch": self.epoch + is_over, "step": 0 if is_over else self.step}

    def load_state_dict(self, state):
        self.epoch, self.step, self.start = state["epoch"], state["step"], state["step"]


def load(request):
    return Mixture(request)
