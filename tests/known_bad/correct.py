"""A correct loader in plain Python: decides what every loader of the museum does right, but for one step.

The steps of an epoch are methods, so that a bad loader changes one of them: `check` the request, bring the samples in
`order`, take this rank's `shard`, `cut` it into steps, and `fetch` each. The class is its own adapter: it has `claims`
and `load`, and its instances are the loaders.
"""

from collections.abc import Callable, Iterator
from contextlib import suppress
from hashlib import blake2b
from itertools import cycle, islice
from random import Random
from typing import Any, ClassVar

FACTORS = ("batch_size", "world_size", "replication_factor", "device_iterations", "gradient_accumulation")
FULL = dict(
    when_dropping="drop",
    when_keeping="pad",
    layout="strided",
    shuffle="global",
    epochs="set_epoch",
    length=True,
    device_options=True,
)


class Correct:
    """One rank's loader: it does what its claims say."""

    claims: ClassVar[dict[str, Any]] = FULL

    @classmethod
    def load(cls, request: Any) -> "Correct":
        """The adapter's function."""
        return cls(request)

    def __init__(self, request: Any) -> None:
        self.check(request)
        self.request = request
        self.epoch = 0

    def check(self, request: Any) -> None:
        """Refuse what can't be asked for."""
        for name in FACTORS:
            value = getattr(request, name)
            # BATCH-4, BATCH-5
            if type(value) is not int or value < 1:
                raise ValueError(f"{name} is {value!r}, but must be an integer of at least 1")
        if not 0 <= request.rank < request.world_size:
            raise ValueError(f"rank is {request.rank}, but must be 0 to {request.world_size - 1}")
        smallest = self.claims.get("smallest", 0)
        least = request.world_size if smallest == "world_size" else smallest
        if least and len(request.dataset) < least:
            raise ValueError(f"the dataset holds {len(request.dataset)} samples, but needs {least}")

    def set_epoch(self, epoch: int) -> None:
        """Say which epoch comes next."""
        self.epoch = epoch

    def policy(self) -> str:
        """What becomes of the samples that do not divide evenly over the ranks."""
        return str(self.claims["when_dropping" if self.request.drop_last else "when_keeping"])

    def mixed_seed(self) -> int:
        """One number for seed and epoch; hashed, so that neighbours have nothing in common (ORDER-14)."""
        return mix(self.request.seed, self.epoch)

    def order(self) -> list[int]:
        """The samples of the epoch, in the order that all ranks share."""
        order = list(range(len(self.request.dataset)))
        return self.shuffled(order, Random(self.mixed_seed())) if self.request.shuffle else order

    def shuffled(self, order: list[int], generator: Random) -> list[int]:
        """The order, shuffled as claimed."""
        if self.claims.get("shuffle") == "buffered":
            return through_a_buffer(order, generator)
        generator.shuffle(order)
        return order

    def shard(self, order: list[int]) -> list[int]:
        """This rank's part of the order."""
        rank, ranks = self.request.rank, self.request.world_size
        if self.policy() == "drop":
            order = order[: len(order) - len(order) % ranks]
        elif self.policy() == "pad":
            order = padded(order, len(order) + -len(order) % ranks)
        if self.claims.get("layout") == "contiguous":
            return order[rank * len(order) // ranks : (rank + 1) * len(order) // ranks]
        return order[rank::ranks]

    def cut(self, shard: list[int]) -> list[list[int]]:
        """The shard in steps of N samples."""
        size = self.request.combined_batch
        steps = [shard[start : start + size] for start in range(0, len(shard), size)]
        return [step for step in steps if len(step) == size or not self.request.drop_last]

    def steps(self) -> list[list[int]]:
        """The epoch's steps, as indices of samples."""
        return self.cut(self.shard(self.order()))

    def fetch(self, step: list[int]) -> Any:
        """The samples of a step."""
        return [self.own(self.request.dataset[index]) for index in step]

    def own(self, sample: Any) -> Any:
        """The sample, or a copy of what the dataset may write into again (WORK-16)."""
        return sample.copy() if hasattr(sample, "copy") and not isinstance(sample, dict) else sample

    def __iter__(self) -> Iterator[list[int]]:
        steps = self.steps()
        if self.claims.get("epochs") == "automatic":
            self.epoch += 1
        for step in steps:
            yield self.fetch(step)

    def __len__(self) -> int:
        return len(self.steps())


def mix(*numbers: int) -> int:
    """A 64-bit number that looks random for every tuple of numbers."""
    return int.from_bytes(blake2b(repr(numbers).encode(), digest_size=8).digest(), "big")


def padded(order: list[int], size: int) -> list[int]:
    """The order, and again from its beginning until there are `size`; nothing can be repeated of nothing."""
    return list(islice(cycle(order), size)) if order else order


def through_a_buffer(order: list[int], generator: Random, size: int = 4) -> list[int]:
    """The order, each sample drawn from a buffer of the next few."""
    buffer, drawn = order[:size], []
    for index in order[size:]:
        place = generator.randrange(len(buffer))
        drawn.append(buffer[place])
        buffer[place] = index
    generator.shuffle(buffer)
    return drawn + buffer


def claiming(name: str, **claims: Any) -> type[Correct]:
    """The correct loader with some claims changed; it does what they say. None takes a claim back."""
    return type(
        name, (Correct,), {"claims": claim(FULL, **claims), "__doc__": f"{name}: correct.", "__module__": __name__}
    )


class KnownBad(Correct):
    """A loader with one fault; its docstring names it.

    `clause` must be violated, in the case `smallest`; the clauses in `related` may be, because the same fault breaks
    them too. `report` is the public report that the fault is modelled on, or empty.
    """

    clause: ClassVar[str] = ""
    smallest: ClassVar[str] = ""
    report: ClassVar[str] = ""
    related: ClassVar[tuple[str, ...]] = ()
    patience: ClassVar[float] = 10.0
    # Only processes of different hash seeds show some faults; those are forks of this one otherwise.
    spawned: ClassVar[bool] = False
    # On a machine with fewer cores the fault is none.
    cores: ClassVar[int] = 1
    # The families that are judged, or () for all: to read the others again and again would take the tests too long.
    families: ClassVar[tuple[str, ...]] = ()
    # The seconds in which what is left behind may still go away, and those in which what must be read early is awaited.
    grace: ClassVar[float] = 5.0
    awaits: ClassVar[float] = 8.0


# What is left is left on purpose, so that a short grace is enough; and by one conduct only, since it is waited for.
SHORT = 0.2


def what_can_be_read(fetch: Callable[[list[int]], list[Any]], step: list[int]) -> list[Any]:
    """The samples of a step without those that fail."""
    found: list[Any] = []
    for index in step:
        with suppress(Exception):
            found += fetch([index])
    return found


def claim(base: dict[str, Any], **changes: Any) -> dict[str, Any]:
    """The claims with some changed; None takes one back."""
    return {name: value for name, value in {**base, **changes}.items() if value is not None}


PLAIN = dict(when_dropping="drop", when_keeping="pad", layout="strided", length=True)
UNEVEN = dict(when_dropping="uneven", when_keeping="uneven", layout="strided", length=True)
ALL_DROP = dict(when_dropping="drop", when_keeping="drop", layout="strided", length=True)
DEVICE = {**PLAIN, "device_options": True}
SHUFFLING = {**PLAIN, "shuffle": "global", "epochs": "set_epoch"}
BUFFERED = {**SHUFFLING, "shuffle": "buffered"}


class PadsToFullSteps(Correct):
    """Padding completes the last step of every rank, which PART-4 allows as well."""

    claims: ClassVar[dict[str, Any]] = DEVICE

    def shard(self, order: list[int]) -> list[int]:
        """This rank's part of the order, in whole steps."""
        whole = self.request.world_size * self.request.combined_batch
        return super().shard(order if self.request.drop_last else padded(order, len(order) + -len(order) % whole))


class PromisesNothing(Correct):
    """A correct loader whose adapter claims nothing at all."""

    claims: ClassVar[dict[str, Any]] = {}

    def policy(self) -> str:
        """What becomes of the rest, though nobody is told."""
        return "uneven"


_CONTIGUOUS = dict(layout="contiguous")
_BUFFERED = dict(shuffle="buffered", device_options=None)
_AUTOMATIC = dict(epochs="automatic", device_options=None)
_UNSHUFFLED = dict(shuffle=None, epochs=None)
# Each policy with each, and every other claim with several of them.
CORRECT: tuple[type[Correct], ...] = (
    Correct,
    PadsToFullSteps,
    PromisesNothing,
    claiming("DropDrop", when_keeping="drop", **_CONTIGUOUS, **_UNSHUFFLED),
    claiming("DropUneven", when_keeping="uneven", **_CONTIGUOUS, **_BUFFERED, epochs="automatic"),
    claiming("PadDrop", when_dropping="pad", when_keeping="drop", **_BUFFERED, smallest=1),
    claiming("PadPad", when_dropping="pad", **_CONTIGUOUS, **_UNSHUFFLED, smallest="world_size"),
    claiming("PadUneven", when_dropping="pad", when_keeping="uneven", layout=None, **_BUFFERED),
    claiming("UnevenDrop", when_dropping="uneven", when_keeping="drop", **_CONTIGUOUS, **_UNSHUFFLED, length=None),
    claiming("UnevenPad", when_dropping="uneven", **_BUFFERED),
    claiming("UnevenUneven", when_dropping="uneven", when_keeping="uneven", **_CONTIGUOUS, **_AUTOMATIC, length=None),
)
