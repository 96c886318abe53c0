"""Training loop: gradient accumulation over any loader, with a validation after each epoch, stopped and resumed."""

from itertools import islice

import torch

claims = dict(loop="step", checkpoints=True)


def train(request):
    epoch, done, trained = restore(request)
    while epoch < request.epochs:
        request.loader.set_epoch(epoch)
        request.module.train()
        for group in islice(groups(request), done, None):  # after a stop: without those that were stepped
            step(request, group)
            done, trained = done + 1, trained + len(group)
            if request.stop_after is not None and trained >= request.stop_after:
                return checkpoint(request, epoch, done, trained)
        if request.validation is not None:
            validate(request)
        epoch, done = epoch + 1, 0
    return checkpoint(request, epoch, done, trained)


def groups(request):
    batches = iter(request.loader)
    while group := list(islice(batches, request.accumulation)):  # the rest of the epoch is smaller
        yield group


def step(request, group):
    request.optimizer.zero_grad()
    for x, target in group:
        loss = request.loss(request.module(x), target)
        (loss / len(group)).backward()
    request.optimizer.step()


def checkpoint(request, *at):
    return at, request.module.state_dict(), request.optimizer.state_dict()


def restore(request):
    if request.state is None:
        return 0, 0, 0
    at, module, optimizer = request.state
    request.module.load_state_dict(module)
    request.optimizer.load_state_dict(optimizer)
    return at


@torch.no_grad()
def validate(request):
    request.module.eval()
    losses = [request.loss(request.module(x), target).item() for x, target in request.validation]
    request.module.train()
    return sum(losses) / max(1, len(losses))
