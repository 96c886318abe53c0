"""Loaders that choose the members of a step, by group or by size (chapter 11, GROUP), with one fault each."""

from collections.abc import Iterator
from random import Random
from typing import Any, ClassVar

from tests.known_bad.correct import Correct, KnownBad, claim, mix

CHOOSING = dict(
    when_dropping="drop",
    when_keeping="uneven",
    shuffle="global",
    epochs="set_epoch",
    length=True,
    batches=("grouped", "budget", "at_least"),
    oversized="skip",
)


class Choosing(Correct):
    """A loader whose steps are of one group, or of a bounded size, as asked for."""

    claims: ClassVar[dict[str, Any]] = CHOOSING
    # What it does when nothing is chosen is what the correct loader does.
    families: ClassVar[tuple[str, ...]] = ("batches", "left")

    def steps(self) -> list[list[int]]:
        """The epoch's steps, as indices of samples."""
        if not self.request.batches:
            return super().steps()
        if self.request.batches == "grouped":
            return self.grouped(self.order())
        steps = self.bounded(self.order()) if self.request.batches == "budget" else self.reaching(self.order())
        return self.dealt(steps)

    def groups(self, order: list[int]) -> dict[int, list[int]]:
        """The samples of each group, in order."""
        members: dict[int, list[int]] = {}
        for index in order:
            members.setdefault(self.request.groups[index], []).append(index)
        return members

    def grouped(self, order: list[int]) -> list[list[int]]:
        """This rank's steps, each of one group: every group is sharded and cut by itself."""
        return [step for members in self.groups(order).values() for step in self.cut(self.shard(members))]

    def is_large(self, index: int) -> bool:
        """Whether no step has room for a sample."""
        return bool(self.request.sizes[index] > self.request.budget)

    def bounded(self, order: list[int]) -> list[list[int]]:
        """Steps whose sizes add up to the budget at most."""
        return list(self.filled([index for index in order if not self.is_large(index)]))

    def filled(self, order: list[int]) -> Iterator[list[int]]:
        """Steps that are closed before a sample that they have no room for."""
        step: list[int] = []
        for index in order:
            if step and self.size([*step, index]) > self.request.budget:
                yield step
                step = []
            step.append(index)
        if step:
            yield step

    def reaching(self, order: list[int]) -> list[list[int]]:
        """Steps that are closed behind the sample that makes them large enough."""
        steps: list[list[int]] = [[]]
        for index in order:
            steps[-1].append(index)
            if self.size(steps[-1]) >= self.request.budget:
                steps.append([])
        rest = steps.pop()
        return steps if self.request.drop_last or not rest else [*steps, rest]

    def size(self, step: list[int]) -> int:
        """What the sizes of a step add up to."""
        return sum(self.request.sizes[index] for index in step)

    def dealt(self, steps: list[list[int]]) -> list[list[int]]:
        """This rank's share of the steps of all."""
        ranks = self.request.world_size
        if self.policy() == "drop":
            steps = steps[: len(steps) - len(steps) % ranks]
        return steps[self.request.rank :: ranks]


# --- correct, in ways that are easy to mistake for faults -------------------------------------------------------------


class RefusesTheLarge(Choosing):
    """It looks at all sizes when it is made, and refuses a sample that is too large there."""

    claims: ClassVar[dict[str, Any]] = claim(CHOOSING, oversized="refuse")

    def check(self, request: Any) -> None:
        """Refuse what no step has room for."""
        super().check(request)
        if request.batches == "budget" and max(request.sizes, default=0) > request.budget:
            raise ValueError(
                f"a sample of {max(request.sizes)} has no room in a budget of {request.budget}; leave it out"
            )


class LeavesTheLargeAlone(Choosing):
    """A sample that is too large gets a step of its own, beyond the budget."""

    claims: ClassVar[dict[str, Any]] = claim(CHOOSING, oversized="alone")

    def bounded(self, order: list[int]) -> list[list[int]]:
        """Those that are too large behind the others."""
        return [*super().bounded(order), *([index] for index in order if self.is_large(index))]


class PadsEachGroup(Choosing):
    """Each group is filled up to full steps of all ranks with samples of its own, and steps are dealt out whole."""

    claims: ClassVar[dict[str, Any]] = claim(CHOOSING, when_keeping="pad", batches=("grouped",), oversized=None)

    def grouped(self, order: list[int]) -> list[list[int]]:
        """Rounds of one group for all ranks."""
        size = self.request.batch_size
        whole = size * self.request.world_size
        rounds: list[list[int]] = []
        for members in self.groups(order).values():
            full = len(members) - len(members) % whole if self.request.drop_last else -(-len(members) // whole) * whole
            filled = [members[at % len(members)] for at in range(full)]
            rounds += [filled[at : at + whole] for at in range(0, full, whole)]
        return [each[self.request.rank :: self.request.world_size] for each in rounds]


class DealsStepsOutByLength(Choosing):
    """It sorts by size within a window, cuts, shuffles the steps, and deals whole ones out: ranks differ by a step."""

    claims: ClassVar[dict[str, Any]] = claim(CHOOSING, when_keeping="once", when_dropping=None)

    def policy(self) -> str:
        """What becomes of the rest."""
        return "once" if not self.request.drop_last else "uneven"

    def grouped(self, order: list[int]) -> list[list[int]]:
        """Steps of all groups, mixed, and dealt out whole."""
        steps = [step for members in self.groups(order).values() for step in self.cut(members)]
        return self.dealt(self.mixed(steps))

    def bounded(self, order: list[int]) -> list[list[int]]:
        """Small ones first, in windows of eight."""
        windows = [order[at : at + 8] for at in range(0, len(order), 8)]
        by_size = [index for window in windows for index in sorted(window, key=self.request.sizes.__getitem__)]
        return self.mixed(super().bounded(by_size))

    def mixed(self, steps: list[list[int]]) -> list[list[int]]:
        """The steps in another order in each epoch."""
        if self.request.shuffle:
            Random(mix(self.request.seed, self.epoch, 1)).shuffle(steps)
        return steps


class PutsTheRestToTheLast(Choosing):
    """A rest that is too small is put to the last step, which is larger than it need be, and may be dropped whole."""

    claims: ClassVar[dict[str, Any]] = claim(CHOOSING, when_keeping="drop")

    def reaching(self, order: list[int]) -> list[list[int]]:
        """No step is too small, unless there is only one."""
        steps = super().reaching(order)
        if len(steps) > 1 and self.size(steps[-1]) < self.request.budget:
            rest = steps.pop()
            steps[-1] = steps[-1] + rest
        return steps


CORRECT_GROUPING: tuple[type[Correct], ...] = (
    Choosing,
    RefusesTheLarge,
    LeavesTheLargeAlone,
    PadsEachGroup,
    DealsStepsOutByLength,
    PutsTheRestToTheLast,
)


# --- known bad --------------------------------------------------------------------------------------------------------


class KnownBadChoosing(Choosing, KnownBad):
    """What the bad ones share."""

    families = ("batches",)


class JoinsTheRests(KnownBadChoosing):
    """The rests of all groups are put together in common steps."""

    clause, smallest = "GROUP-1", "n2,w1,b2,keep,grouped,g2"
    report = "NovelAI/novelai-aspect-ratio-bucketing#5"

    def grouped(self, order: list[int]) -> list[list[int]]:
        steps = super().grouped(order)
        rests = [index for step in steps if len(step) < self.request.batch_size for index in step]
        return [step for step in steps if len(step) == self.request.batch_size] + self.cut(rests)


class CutsWhereTheGroupChanges(KnownBadChoosing):
    """A step ends where the next sample is of another group, so that most steps are small. (No public report.)"""

    clause, smallest = "GROUP-2", "n3,w1,b2,keep,grouped,g2"

    def grouped(self, order: list[int]) -> list[list[int]]:
        if self.request.drop_last:
            return super().grouped(order)
        steps: list[list[int]] = []
        for index in self.shard(order):
            step = steps[-1] if steps else []
            same = bool(step) and self.request.groups[step[0]] == self.request.groups[index]
            if same and len(step) < self.request.batch_size:
                step.append(index)
            else:
                steps.append([index])
        return steps


class CountsOverAllGroups(KnownBadChoosing):
    """The epoch ends after as many steps as the samples would fill if they were of one group."""

    clause, smallest = "GROUP-3", "n2,w1,b2,keep,grouped,g2"
    report = "pytorch/vision#9127"

    def grouped(self, order: list[int]) -> list[list[int]]:
        steps = super().grouped(order)
        ranks, size = self.request.world_size, self.request.batch_size
        most = -(-len(order) // (ranks * size))
        return steps if self.request.drop_last else steps[: max(1, most)]


class LosesTheLastStep(KnownBadChoosing):
    """What is in the last step, which is never filled, does not come. (No public report.)"""

    clause, smallest = "GROUP-3", "n1,w1,b1,keep,budget,t1"

    def bounded(self, order: list[int]) -> list[list[int]]:
        return super().bounded(order)[:-1]


class FillsUpEachGroup(KnownBadChoosing):
    """The last step of each group is filled up with samples of the group. (No public report.)"""

    clause, smallest = "GROUP-4", "n1,w1,b2,keep,grouped"

    def grouped(self, order: list[int]) -> list[list[int]]:
        size = self.request.batch_size
        return [[step[at % len(step)] for at in range(size)] for step in super().grouped(order)]


class DealsStepsOut(KnownBadChoosing):
    """Full steps of each group are dealt out to the ranks as far as they go."""

    clause, smallest = "GROUP-5", "n1,w2,b1,drop,grouped"
    report = "open-mmlab/mmdetection#11114"

    def grouped(self, order: list[int]) -> list[list[int]]:
        if not self.request.drop_last:
            return super().grouped(order)
        steps = [step for members in self.groups(order).values() for step in self.cut(members)]
        return steps[self.request.rank :: self.request.world_size]


class CountsAfterwards(KnownBadChoosing):
    """A step is closed once it is beyond the budget."""

    clause, smallest = "GROUP-6", "n2,w1,b1,keep,budget,t1"
    report = "OpenNMT/OpenNMT-tf#959"

    def filled(self, order: list[int]) -> Iterator[list[int]]:
        step: list[int] = []
        for index in order:
            step.append(index)
            if self.size(step) > self.request.budget:
                yield step
                step = []
        if step:
            yield step


class CountsSamplesNotSizes(KnownBadChoosing):
    """As many samples as the budget is large make a step, whatever their sizes. (No public report.)"""

    clause, smallest = "GROUP-6", "n2,w1,b1,keep,budget,t2"

    def size(self, step: list[int]) -> int:
        return len(step) if self.request.batches == "budget" else super().size(step)


class GivesTheLargeAnyway(KnownBadChoosing):
    """A sample that is too large comes, though it is said to be skipped."""

    clause, smallest = "GROUP-7", "n1,w1,b1,keep,budget,t1,with=large"
    report = "huggingface/trl#6092"

    def bounded(self, order: list[int]) -> list[list[int]]:
        return [*super().bounded(order), *([index] for index in order if self.is_large(index))]


class WaitsForRoom(KnownBadChoosing):
    """A sample that is too large is put off until there is room, for ever. (No public report.)"""

    clause, smallest = "GROUP-7", "n1,w1,b1,keep,budget,t1,with=large"

    def __iter__(self) -> Iterator[list[int]]:
        yield from super().__iter__()
        while self.request.batches == "budget" and any(map(self.is_large, range(len(self.request.sizes)))):
            yield []


class SkipsWhatItRefuses(RefusesTheLarge, KnownBadChoosing):
    """What is said to be refused is left out in silence. (No public report.)"""

    claims = RefusesTheLarge.claims
    clause, smallest = "GROUP-7", "n1,w1,b1,keep,budget,t1,with=large"

    def check(self, request: Any) -> None:
        Correct.check(self, request)


class ReadsWhatHasNoRoom(KnownBadChoosing):
    """A sample is read to see whether there is room for it, and read again for the next step. (No public report.)"""

    clause, smallest = "GROUP-8", "n2,w1,b1,keep,budget,t1,e2"

    def __iter__(self) -> Iterator[list[int]]:
        steps = self.steps()
        for at, step in enumerate(steps):
            yield self.fetch(step)
            if self.request.batches == "budget" and at + 1 < len(steps):
                self.fetch(steps[at + 1][:1])


class StopsShort(KnownBadChoosing):
    """A step is closed before the sample that would make it large enough. (No public report.)"""

    clause, smallest = "GROUP-9", "n3,w1,b1,keep,at-least,t2"

    def reaching(self, order: list[int]) -> list[list[int]]:
        steps = list(self.filled(order))
        return steps if not self.request.drop_last else super().reaching(order)


class GoesOnTooLong(KnownBadChoosing):
    """A step that is large enough takes as much again. (No public report.)"""

    clause, smallest = "GROUP-9", "n4,w1,b1,keep,at-least,t1"

    def reaching(self, order: list[int]) -> list[list[int]]:
        steps = super().reaching(order)
        if self.request.drop_last:
            return steps
        return [[index for step in steps[at : at + 2] for index in step] for at in range(0, len(steps), 2)]


class FloorsItsLength(KnownBadChoosing):
    """The length is that of the samples divided by the size of a step, whatever the groups."""

    clause, smallest = "GROUP-10", "n1,w1,b2,keep,grouped"
    report = "pytorch/vision#9127"

    def __len__(self) -> int:
        if self.request.batches != "grouped":
            return super().__len__()
        return int(len(self.request.dataset) // (self.request.batch_size * self.request.world_size))


class OrdersStepsByHash(KnownBadChoosing):
    """The steps are put in order by the hash of a text, which each process salts. (No public report.)"""

    clause, smallest = "GROUP-11", "n2,w1,b1,keep,budget,shuffle,t1,e2,again"
    spawned = True

    def steps(self) -> list[list[int]]:
        steps = super().steps()
        if not (self.request.batches and self.request.shuffle):
            return steps
        return sorted(steps, key=lambda step: hash(f"{step} {self.mixed_seed()}"))


class KeepsItsFirstLength(KnownBadChoosing):
    """The steps are counted once, when `len()` is asked for first, and packed otherwise in a later epoch."""

    clause, smallest = "GROUP-10", "n4,w1,b1,keep,at-least,shuffle,t2,e2"
    report = "pyg-team/pytorch_geometric#8137"
    counted: int | None = None

    def __len__(self) -> int:
        if not self.request.batches:
            return super().__len__()
        self.counted = super().__len__() if self.counted is None else self.counted
        return self.counted


class GroupsAlikeInEachEpoch(KnownBadChoosing):
    """The epoch plays no part where the members of a step are chosen. (No public report.)"""

    clause, smallest = "GROUP-12", "n13,w1,b1,keep,grouped,shuffle,e2"

    def mixed_seed(self) -> int:
        return mix(self.request.seed) if self.request.batches else super().mixed_seed()


class GroupsAlikeForEachSeed(KnownBadChoosing):
    """The seed plays no part where the members of a step are chosen. (No public report.)"""

    clause, smallest = "GROUP-12", "n13,w1,b1,keep,at-least,shuffle,t1,seed+1"

    def mixed_seed(self) -> int:
        return mix(self.epoch) if self.request.batches else super().mixed_seed()
