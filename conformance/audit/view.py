"""A loader as the judges look at it: decides what is known of it, what it should deliver, and how that is told."""

from dataclasses import dataclass
from functools import cached_property
from typing import Any

from conformance.audit import worlds
from conformance.audit.finding import Finding
from conformance.audit.summary import EpochKey, Group, GroupKey, Summary
from conformance.audit.words import epoch_name, id_name

Replicas = tuple[tuple[int, ...], ...]


@dataclass(frozen=True)
class View:
    """One loader over all ranks. `same` are ranks that are one replica, as the user or a device mesh said."""

    key: GroupKey
    group: Group
    summary: Summary
    same: Replicas = ()

    def all_loaders(self) -> "list[View]":
        """All loaders of the record, in order, this one among them."""
        groups = sorted(self.summary.groups.items())
        return [View(key, group, self.summary, self.same) for key, group in groups]

    @property
    def facts(self) -> dict[str, Any]:
        """What the first of its ranks told of it."""
        return self.group.loaders[min(self.group.loaders, key=ranked)]

    @cached_property
    def ranks(self) -> list[int]:
        """The ranks that read it, in order."""
        read = {rank for epoch in self.group.epochs.values() for rank in epoch.ranks}
        return sorted(read or self.group.loaders, key=ranked)

    @cached_property
    def world_size(self) -> int:
        """How many ranks the job said it has; as many as read it where it said nothing."""
        told = [process.facts.get("world_size") for process in self.summary.processes]
        return max([len(self.ranks), *(number for number in told if isinstance(number, int))])

    @cached_property
    def worlds(self) -> dict[int, int]:
        """How many ranks each start of the job had, where they had different numbers of them; else {}."""
        return worlds.of_starts(self.summary.processes)

    def ranks_in(self, start: int) -> list[int]:
        """The ranks that read it in a start of the job, of which others may have had more ranks or fewer."""
        if not self.worlds:
            return self.ranks
        return sorted({rank for key, epoch in self.group.epochs.items() if key[0] == start for rank in epoch.ranks})

    def complete_in(self, start: int) -> bool:
        """Whether all is known of it in a start of the job, as `complete` has it."""
        if not self.worlds:
            return self.complete
        came = {process.rank for process in self.summary.processes if process.attempt == start}
        ranks, world = self.ranks_in(start), self.worlds.get(start, self.world_size)
        return len(ranks) >= world or (len(ranks) == 1 and came >= set(range(world)))

    @property
    def everywhere(self) -> bool:
        """Whether all ranks of the job read it; what only one of them reads is that rank's own."""
        return len(self.ranks) >= self.world_size

    @property
    def own(self) -> bool:
        """Whether one rank alone reads it."""
        return len(self.ranks) == 1

    @cached_property
    def complete(self) -> bool:
        """Whether all is known of it: all ranks read it, or one alone, while the others are in the record as well."""
        return self.everywhere or (self.own and self.came >= set(range(self.world_size)))

    @cached_property
    def came(self) -> set[object]:
        """The ranks of the job that are in the record, whatever they read."""
        return {process.facts.get("rank") for process in self.summary.processes} - {None}

    @property
    def by_content(self) -> bool:
        """Whether samples are told apart by what is in them, so that equal ones can't be told apart."""
        return bool(self.facts.get("ids", "index") == "content")

    @cached_property
    def hashed(self) -> bool:
        """Whether its ids are digests, of contents or of what the user names."""
        heads = [seen.head for epoch in self.group.epochs.values() for seen in epoch.ranks.values()]
        return any(isinstance(each, str) for head in heads for step in head for each in step)

    def named(self, id: int) -> str:
        """What a sample is called that the witnesses know by this number."""
        word = (id % (1 << 64)).to_bytes(8, "little").hex()
        return id_name(word if self.hashed else id, self.summary.texts)

    @property
    def iterable(self) -> bool:
        """Whether the dataset deals out its samples itself."""
        return bool(self.facts.get("kind") == "iterable")

    @property
    def expected(self) -> int | None:
        """How many different samples an epoch has over all ranks, where that is known."""
        told = self.facts.get("subset", self.facts.get("length"))
        return told if isinstance(told, int) else None

    @property
    def has_own_datasets(self) -> bool:
        """Whether ranks have different datasets (`files[rank::world_size]`), so that equal indices say nothing."""
        prints = {facts.get("dataset_print") for facts in self.group.loaders.values()} - {None}
        return len(prints) > 1 and self.facts.get("ids", "index") == "index"

    @property
    def batch_size(self) -> int | None:
        """The samples of a batch, if it was said."""
        told = self.facts.get("batch_size")
        return told if isinstance(told, int) and told > 0 else None

    @property
    def own_batches(self) -> bool:
        """Whether a batch sampler of the user's own cuts the batches, so that whole ones are repeated or dropped."""
        named = bool(self.facts.get("own_batches")) or self.batch_size is None
        return named or "batch" in str(self.facts.get("sampler", "")).lower()

    @cached_property
    def workers(self) -> int:
        """The workers of a rank that gave something, at the most; 0 where the process itself loads."""
        seen = [seen for epoch in self.group.epochs.values() for seen in epoch.ranks.values()]
        return max([0, *(sum(worker >= 0 and each.rows > 0 for worker, each in one.workers.items()) for one in seen)])

    @property
    def is_made_again(self) -> bool:
        """Whether its line makes several loaders, as one for each fold, or for each round."""
        return sum(key[:2] == self.key[:2] for key in self.summary.groups) > 1

    def is_of_another_fold(self, other: "View") -> bool:
        """Whether their lines make a loader for each fold, and these two are not the same one of theirs."""
        return self.is_made_again and other.is_made_again and self.key[2] != other.key[2]

    def shares_indices(self, other: "View") -> bool:
        """Whether their subsets are known to overlap, as both were there at a time; that is told by itself."""
        return self.lists(other) or other.lists(self)

    def lists(self, other: "View") -> bool:
        """Whether its own facts say that it shares samples with the other one."""
        return any(other.key == tuple(one[:3]) for one in self.facts.get("overlap") or ())

    @property
    def evaluates(self) -> bool:
        """Whether all its epochs are evaluations."""
        return bool(self.group.epochs) and all(epoch.evaluation for epoch in self.group.epochs.values())

    @property
    def file(self) -> str:
        """The file where it was made."""
        return self.key[0]

    @property
    def line(self) -> int:
        """The line where it was made."""
        return self.key[1]

    def who(self, rank: int) -> str:
        """``rank 0``, or ``process 0`` where the job did not tell its ranks."""
        return f"rank {rank}" if rank >= 0 else f"process {-1 - rank}"

    def where(self, rank: int) -> str:
        """``, rank 0``, or nothing where there is no other one."""
        return "" if self.own and self.world_size == 1 else f", {self.who(rank)}"

    def epoch_name(self, key: EpochKey) -> str:
        """``epoch 1``; after a restart with the job's number, where the sampler tells it."""
        return epoch_name(self.group, key)

    def at_loader(self, id: str, key: str, sentence: str, **more: Any) -> Finding:
        """A finding whose line is where the loader was made."""
        return Finding(id, key, sentence, self.file, self.line, **more)

    def at_dataset(self, id: str, key: str, sentence: str, **more: Any) -> Finding:
        """A finding whose line is the dataset's, if it is known."""
        file, line = self.facts.get("dataset_file"), self.facts.get("dataset_line")
        if isinstance(file, str) and isinstance(line, int):
            return Finding(id, key, sentence, file, line, **more)
        return self.at_loader(id, key, sentence, **more)


def ranked(rank: int) -> tuple[bool, int]:
    """The key that sorts ranks: first ranks, then processes that did not tell theirs (-1, -2, ...)."""
    return (rank < 0, abs(rank))
