"""Loaders, loops and trainers that are right in each case that the text tells of, and wrong beside it (round 24)."""

import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any, ClassVar

import torch

from tests.known_bad.ahead import BadAhead, Loading
from tests.known_bad.asynchronous import FAMILY
from tests.known_bad.asynchronous import PLAIN as AHEAD
from tests.known_bad.correct import ALL_DROP, DEVICE, SHUFFLING, KnownBad, claim, mix
from tests.known_bad.life import LIFE, SAMPLES, STREAM, BadColumns
from tests.known_bad.loops_stopped import BadStoppedLoop
from tests.known_bad.mixing import KnownBadMixing
from tests.known_bad.pipelines_paths import EndsQuietlyWhilePaused
from tests.known_bad.pool import HOOKS, BadPool
from tests.known_bad.resuming import STEADY, Resuming
from tests.known_bad.trainers import Trainer
from tests.known_bad.workers import SEVERAL, WORKERS

# --- numbers --------------------------------------------------------------------------------------------------------


class CountsRoundsByAReciprocal(KnownBad):
    """Rounds are counted with 1 / (N x R), which is rounded: 49 times 1/49 is less than one. (No public report.)"""

    claims = ALL_DROP
    clause, smallest, related = "COUNT-1", "n49,w7,b7,drop", ("PART-3",)

    def steps(self) -> list[list[int]]:
        steps = super().steps()
        if not self.request.drop_last:
            return steps
        of_a_round = self.request.combined_batch * self.request.world_size
        return steps[: int(len(self.request.dataset) * (1 / of_a_round))]


class KeepsSixteenBitsOfTheEpoch(BadPool):
    """Epochs that are a multiple of 65,536 apart seed their workers alike. (No public report.)"""

    claims, families = claim(SEVERAL, epochs="set_epoch"), WORKERS
    clause, smallest = "WORK-10", "n1,w1,b1,keep,k1,e6,far,again"

    def worker_seed(self, number: int) -> int:
        return mix(self.request.seed, self.epoch % 65_536, self.request.rank, number)


class RoundsWeightsToThousandths(KnownBadMixing):
    """Weights are rounded to thousandths, and none of them to nothing. (No public report.)"""

    clause, smallest = "MIX-3", "n16268,w1,b1,keep,mixture,g2,with=rarest"

    def weights(self) -> tuple[float, ...]:
        return tuple(max(1, round(1000 * weight)) / 1000 for weight in super().weights())


class CountsMicroBatchesInAState(Resuming):
    """A state counts what one device iteration takes, so that a job with two goes back. (No public report.)"""

    claims, families = claim(STEADY, **DEVICE), ("resume",)
    clause, smallest = "RESUME-1", "n3,w1,b1,keep,i2,e2,save@1"

    def load_state_dict(self, state: Any) -> None:
        super().load_state_dict({**state, "given": state["given"] // self.request.device_iterations})


# --- epochs ---------------------------------------------------------------------------------------------------------


class CountsWholeEpochsAlone(KnownBad):
    """An epoch that is left is not counted, and its order comes again. (No public report.)"""

    claims, families = claim(SHUFFLING, epochs="automatic"), ("cut short",)
    clause, smallest = "ORDER-6", "n24,w1,b12,keep,shuffle,e6,head"

    def __iter__(self) -> Iterator[Any]:
        for step in self.steps():
            yield self.fetch(step)
        self.epoch += 1


class TurnsEverySecondOrder(KnownBad):
    """Each second epoch is the one before it, backwards. (No public report.)"""

    claims = SHUFFLING
    clause, smallest = "ORDER-12", "n2,w1,b1,keep,shuffle,e200,x20"

    def mixed_seed(self) -> int:
        return mix(self.request.seed, self.epoch // 2)

    def order(self) -> list[int]:
        return super().order()[:: -1 if self.epoch % 2 and self.request.shuffle else 1]


class StaysBehind(Loading):
    """A reading that was left, and whose read takes longer than anybody waits: its step is for the one after it."""

    latest: ClassVar["StaysBehind"]
    waits = 5.0

    def __init__(self, epoch: int, batches: Iterator[Any], room: int) -> None:
        StaysBehind.latest = self
        super().__init__(epoch, batches, room)

    def put(self, kind: str, value: Any = None) -> None:
        late = self.stopped and kind == "batch"
        super(StaysBehind, StaysBehind.latest if late else self).put(kind, value)


class WaitsFiveSecondsForAThread(BadAhead):
    """The thread of an epoch that was left is waited for five seconds, and no longer. (No public report.)"""

    claims, families = AHEAD, FAMILY
    clause, smallest = "ASYNC-6", "n3,w1,b1,keep,async,long@1,outlast"

    def begin(self, epoch: int) -> Loading:
        return StaysBehind(epoch, self.reader(epoch), self.room)


# --- errors and refusals --------------------------------------------------------------------------------------------


class EndsWhenCollatingEnds(BadPool):
    """A StopIteration of the collate function passes through the iterator, and ends the epoch."""

    claims, families = claim(hooks=HOOKS[:1], base={}), LIFE
    clause, smallest = "ERROR-5", "n4,w1,b1,keep,collate@3,with=iteration"
    report = "pytorch/pytorch#82732"

    def __iter__(self) -> Iterator[Any]:
        return iter(_Steps(self))


class _Steps:
    """An iterator of its own class: no generator makes an error of a StopIteration."""

    def __init__(self, loader: BadPool) -> None:
        self.loader, self.plan = loader, iter(loader.steps())

    def __iter__(self) -> "_Steps":
        return self

    def __next__(self) -> Any:
        step = next(self.plan)
        try:
            samples = self.loader.fetch(step)
        except StopIteration as error:
            raise RuntimeError("a sample has raised StopIteration") from error
        return self.loader.collate(samples)


class LeavesAFolderOfARefusal(BadPool):
    """The folder that a loader works in is made before its request is looked at. (No public report.)"""

    claims, families, grace = STREAM, LIFE, 0.3
    clause, smallest = "LEAK-3", "n1,w1,b1,keep,iterable,refused"

    def __init__(self, request: Any) -> None:
        self.folder = tempfile.mkdtemp()
        super().__init__(request)
        Path(self.folder).rmdir()


class KeepsTheKeysOfTheFirst(BadColumns):
    """A step of dicts has the keys of its first sample."""

    claims, families = STREAM, SAMPLES
    clause, smallest = "WORK-17", "n3,w1,b3,keep,iterable,kind=optional"
    report = "pyg-team/pytorch_geometric#10802"


class WeighsTheLargestFirst(KnownBadMixing):
    """The sources are sorted by their size, and the weights are not. (No public report.)"""

    clause, smallest = "MIX-3", "n300,w1,b1,keep,mixture,g3,with=all+weighted+unlike"

    def weights(self) -> tuple[float, ...]:
        sizes = [-len(source) for source in self.request.sources]
        largest_first = sorted(range(len(sizes)), key=sizes.__getitem__)
        return tuple(self.request.weights[largest_first.index(source)] for source in range(len(sizes)))


# --- training -------------------------------------------------------------------------------------------------------


class ReducesWhatItHas(Trainer):
    """Each rank reduces the gradients that it has, whatever the others have. (No public report.)"""

    clause, smallest, related = "DEVICE-13", "n1,w2,b1,device,with=headed", ("DEVICE-10",)

    def gradients(self) -> list[torch.Tensor]:
        return [parameter.grad for parameter in self.module.parameters() if parameter.grad is not None]


class SavesZeroesForNothing(BadStoppedLoop):
    """What has no gradient is saved with one of zeroes, and momentum moves it then. (No public report.)"""

    clause, smallest = "LOOP-7", "n2,b1,loop,stopped@1"

    def state(self) -> dict[str, Any]:
        state = super().state()
        given = zip(self.weights, state["gradients"], strict=True)
        return {**state, "gradients": [torch.zeros_like(weight) if each is None else each for weight, each in given]}


class NeedsAGradientOfItsInput(Trainer):
    """Where gradients are accumulated, the caller's own tensor is made to require one. (No public report.)"""

    clause, smallest = "DEVICE-12", "n2,w1,b1,g2,device"

    def __call__(self, *tensors: torch.Tensor) -> Any:
        if self.optimizer is not None and self.request.gradient_accumulation > 1:
            tensors[0].requires_grad_()
        return super().__call__(*tensors)


# --- pipelines ------------------------------------------------------------------------------------------------------


class LooksAtThePauseFirst(EndsQuietlyWhilePaused):
    """An iterator that is paused ends its loop, though the loader was shut down. (No public report.)"""

    clause, smallest = "PIPE-17", "n2,w1,b1,pipeline,shut@1,with=paused"
    related = ("PIPE-16",)
