"""Stateful: a loader whose state_dict says where it is, so that a job resumes in the middle of an epoch."""

import random

claims = dict(
    when_dropping="drop",
    when_keeping="pad",
    layout="strided",
    shuffle="global",
    length=True,
    resume=True,
    end_of_epoch="next",
)


class Stateful:
    def __init__(self, request):
        if request.batch_size < 1 or not 0 <= request.rank < request.world_size:
            raise ValueError(f"no step of {request.batch_size} on rank {request.rank} of {request.world_size}")
        self.request, self.epoch = request, 0
        self.step = self.start = 0  # where the consumer is, and where the next iterator begins

    def steps(self):
        request, order = self.request, list(range(len(self.request.dataset)))
        if request.shuffle:
            random.Random(f"{request.seed} {self.epoch}").shuffle(order)
        share = len(order) // request.world_size if request.drop_last else -(-len(order) // request.world_size)
        places = range(request.rank, share * request.world_size, request.world_size)
        mine, size = [order[place % len(order)] for place in places], request.batch_size
        last = len(mine) - size + 1 if request.drop_last else len(mine)
        return [mine[at : at + size] for at in range(0, last, size)]

    def set_epoch(self, epoch):
        self.start = self.start if epoch == self.epoch else 0  # the epoch of a state goes on
        self.epoch, self.step = epoch, self.start

    def __iter__(self):
        self.step, self.start = self.start, 0
        return self.rest(self.steps()[self.step :])

    def rest(self, steps):
        for step in steps:
            samples = [self.request.dataset[index] for index in step]
            self.step += 1
            yield samples

    def __len__(self):
        return len(self.steps())

    def state_dict(self):
        is_over = self.step == len(self)
        return {"epoch": self.epoch + is_over, "step": 0 if is_over else self.step, "of": self.facts()}

    def load_state_dict(self, state):
        if state["of"] != self.facts():
            raise ValueError("the state is of another request, whose steps are not these")
        self.epoch, self.step, self.start = state["epoch"], state["step"], state["step"]

    def facts(self):
        names = ("batch_size", "world_size", "shuffle", "seed", "drop_last")
        return {"samples": len(self.request.dataset), **{name: getattr(self.request, name) for name in names}}


def load(request):
    return Stateful(request)
