"""Training loop: gradient accumulation over any loader, with a validation after each epoch."""

import torch

claims = dict(loop="step")


def train(request):
    for epoch in range(request.epochs):
        request.loader.set_epoch(epoch)
        request.module.train()
        group = []
        for batch in request.loader:
            group.append(batch)
            if len(group) == request.accumulation:
                step(request, group)
                group = []
        if group:  # the rest of the epoch, by its own mean
            step(request, group)
        if request.validation is not None:
            validate(request)


def step(request, group):
    request.optimizer.zero_grad()
    for x, target in group:
        loss = request.loss(request.module(x), target)
        (loss / len(group)).backward()
    request.optimizer.step()


@torch.no_grad()
def validate(request):
    request.module.eval()
    losses = [request.loss(request.module(x), target).item() for x, target in request.validation]
    request.module.train()
    return sum(losses) / max(1, len(losses))
