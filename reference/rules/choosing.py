"""Decides which samples make a step together, where a step is no mere run of the order: by group, or by size.

Each class is a batch sampler for the DataLoader's `batch_sampler=`, of one rank: `epoch` says which order its next
iteration cuts. All ranks cut the same order, and take turns at what comes of it.
"""

from collections.abc import Iterator, Sequence

from .checks import check_integer, check_rank, show
from .shuffle import permutation

Steps = list[list[int]]


class ChosenBatches:
    """The steps of one rank, epoch by epoch; `_steps` says how the order of an epoch is cut for all ranks."""

    def __init__(self, samples: int, ranks: int, rank: int, drop_last: bool, shuffle_seed: int | None) -> None:
        """Prepare the steps of one rank; `shuffle_seed` None means the order of the dataset."""
        self.samples = samples
        self.rank, self.ranks = check_rank(rank, ranks)
        self.drop_last = drop_last
        self.shuffle_seed = shuffle_seed
        self.epoch = 0

    def __iter__(self) -> Iterator[list[int]]:
        # LEFT-1: cut anew, so that nothing waits that an epoch before this one has gathered.
        # Not itself a generator: the epoch must be read now, not at the first step.
        return iter(self._of_rank())

    def __len__(self) -> int:
        # GROUP-10: the steps are those that come, counted; the rests of several groups have no short formula.
        return len(self._of_rank())

    def _order(self) -> Sequence[int]:
        # GROUP-11, GROUP-12: a function of seed and epoch, as any order of ours.
        if self.shuffle_seed is None:
            return range(self.samples)
        order: list[int] = permutation(self.samples, self.shuffle_seed, self.epoch).tolist()
        return order

    def _of_rank(self) -> Steps:
        steps = self._steps(self._order())
        if self.drop_last:
            # GROUP-5: a round in which a rank would find no step is dropped.
            steps = steps[: len(steps) - len(steps) % self.ranks]
        return steps[self.rank :: self.ranks]

    def _steps(self, order: Sequence[int]) -> Steps:
        raise NotImplementedError


class GroupedBatches(ChosenBatches):
    """Steps of one group each: samples of one length, say, or of one source."""

    def __init__(
        self,
        groups: Sequence[int],
        batch_size: int,
        ranks: int = 1,
        rank: int = 0,
        drop_last: bool = True,
        shuffle_seed: int | None = None,
    ) -> None:
        """Prepare steps of `batch_size` samples; `groups` is the group of each sample."""
        super().__init__(len(groups), ranks, rank, drop_last, shuffle_seed)
        self.groups = groups
        self.batch_size = check_integer("batch_size", batch_size)

    def _steps(self, order: Sequence[int]) -> Steps:
        members: dict[int, list[int]] = {}
        for index in order:
            members.setdefault(self.groups[index], []).append(index)
        # GROUP-1: each group is cut by itself. A group's steps follow each other, so that the ranks of a round, of
        # which each takes one, work on samples of about one length.
        return [step for each in members.values() for step in self._cut(each)]

    def _cut(self, members: list[int]) -> Steps:
        size = self.batch_size
        if self.drop_last:
            # GROUP-3: whole rounds of one group; less than one is dropped of each.
            members = members[: len(members) - len(members) % (size * self.ranks)]
        # GROUP-2: only the last step of a group can find less. GROUP-4: nothing fills it up.
        return [members[at : at + size] for at in range(0, len(members), size)]


class BoundedBatches(ChosenBatches):
    """Steps of samples whose sizes add up to a budget at most: so many tokens, or elements."""

    def __init__(
        self,
        sizes: Sequence[int],
        budget: int,
        ranks: int = 1,
        rank: int = 0,
        drop_last: bool = False,
        shuffle_seed: int | None = None,
    ) -> None:
        """Prepare the steps. ValueError for a sample that is larger than the budget: nobody could ever deliver it."""
        super().__init__(len(sizes), ranks, rank, drop_last, shuffle_seed)
        self.budget = check_integer("budget", budget)
        # GROUP-7: said before anything is read, and not found out in the middle of an epoch.
        too_large = next((index for index, size in enumerate(sizes) if size > budget), None)
        if too_large is not None:
            raise ValueError(
                f"Sample {too_large} has the size {show(sizes[too_large])}, and no step has room for more than "
                f"{show(budget)}: leave it out, cut it, or give a larger budget."
            )
        self.sizes = sizes

    def _steps(self, order: Sequence[int]) -> Steps:
        steps: Steps = []
        room = 0
        for index in order:
            # GROUP-6: a step is closed before the sample that it has no room for, which begins the next one.
            # GROUP-8: the sizes are known, so nothing is read to find that out.
            if not steps or self.sizes[index] > room:
                steps.append([])
                room = self.budget
            steps[-1].append(index)
            room -= self.sizes[index]
        return steps


class ReachingBatches(ChosenBatches):
    """Steps that are closed once the sizes of their samples add up to a least size."""

    def __init__(
        self,
        sizes: Sequence[int],
        least: int,
        ranks: int = 1,
        rank: int = 0,
        drop_last: bool = False,
        shuffle_seed: int | None = None,
    ) -> None:
        """Prepare the steps; `drop_last` says what becomes of a rest that is too small."""
        super().__init__(len(sizes), ranks, rank, drop_last, shuffle_seed)
        self.sizes = sizes
        self.least = check_integer("least size", least)

    def _steps(self, order: Sequence[int]) -> Steps:
        steps: Steps = []
        lacking = 0
        for index in order:
            if lacking <= 0:
                steps.append([])
                lacking = self.least
            steps[-1].append(index)
            lacking -= self.sizes[index]
        # GROUP-9: only the last step can lack something.
        return steps[:-1] if self.drop_last and lacking > 0 else steps
