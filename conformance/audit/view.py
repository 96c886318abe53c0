"""A loader as the judges look at it: decides what is known of it, what it should deliver, and how that is told."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from conformance.audit.repeats import Repeats, repeats_in
from conformance.audit.resumed import why_resumed
from conformance.audit.summary import Epoch, EpochKey, Group, GroupKey, RankSeen, Summary
from conformance.audit.words import epoch_name, id_name

Replicas = tuple[tuple[int, ...], ...]


@dataclass(frozen=True)
class Finding:
    """One thing that is wrong, or, as a note, one that is told without being held against the loader.

    `id` is a clause or, where no clause says it, a word. `key` names the kind: what is found of several epochs is one
    finding. `worst` sorts, highest first.
    """

    id: str
    key: str
    sentence: str
    file: str
    line: int
    excerpt: tuple[str, ...] = ()
    advice: str = ""
    epochs: tuple[EpochKey, ...] = ()
    worst: int = 5


@dataclass(frozen=True)
class View:
    """One loader over all ranks. `same` are ranks that are one replica, as the user or a device mesh said."""

    key: GroupKey
    group: Group
    summary: Summary
    same: Replicas = ()

    @property
    def facts(self) -> dict[str, Any]:
        """What the first of its ranks told of it."""
        return self.group.loaders[min(self.group.loaders, key=_ranked)]

    @cached_property
    def ranks(self) -> list[int]:
        """The ranks that read it, in order."""
        read = {rank for epoch in self.group.epochs.values() for rank in epoch.ranks}
        return sorted(read or self.group.loaders, key=_ranked)

    @cached_property
    def world_size(self) -> int:
        """How many ranks the job said it has; as many as read it where it said nothing."""
        told = [process.facts.get("world_size") for process in self.summary.processes]
        return max([len(self.ranks), *(number for number in told if isinstance(number, int))])

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
    def evaluates(self) -> bool:
        """Whether all its epochs are evaluations."""
        return bool(self.group.epochs) and all(epoch.evaluation for epoch in self.epochs())

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

    def epochs(self) -> list["EpochView"]:
        """Its epochs, in order."""
        return [EpochView(self, key, self.group.epochs[key]) for key in sorted(self.group.epochs)]

    def at_loader(self, id: str, key: str, sentence: str, **more: Any) -> Finding:
        """A finding whose line is where the loader was made."""
        return Finding(id, key, sentence, self.file, self.line, **more)

    def at_dataset(self, id: str, key: str, sentence: str, **more: Any) -> Finding:
        """A finding whose line is the dataset's, if it is known."""
        file, line = self.facts.get("dataset_file"), self.facts.get("dataset_line")
        if isinstance(file, str) and isinstance(line, int):
            return Finding(id, key, sentence, file, line, **more)
        return self.at_loader(id, key, sentence, **more)


@dataclass(frozen=True)
class EpochView:
    """One epoch of a loader. Ranks that are one replica are counted once."""

    view: View
    key: EpochKey
    epoch: Epoch
    notes: list[Finding] = field(default_factory=list)

    @cached_property
    def ranks(self) -> dict[int, RankSeen]:
        """What each rank got, one rank for each replica: the first of it that is there."""
        there = [[rank for rank in sorted(group) if rank in self.epoch.ranks] for group in self.view.same]
        second = {rank for group in there for rank in group[1:]}
        return {rank: self.epoch.ranks[rank] for rank in sorted(self.epoch.ranks, key=_ranked) if rank not in second}

    @property
    def copies(self) -> int:
        """How many ranks of a replica are in the counts; they can't be told apart if replicas differ in that."""
        return max(1, len(self.epoch.ranks) // max(1, len(self.ranks)))

    @cached_property
    def histogram(self) -> dict[int, int]:
        """How many samples came how often, once for each replica; what never came is under 0 if that is known."""
        found: dict[int, int] = dict(Counter(self._times.values()))
        for times, number in self.epoch.histogram().items() if not found else ():
            each = -(-times // self.copies)
            found[each] = found.get(each, 0) + number
        found.pop(0, None)
        if self.view.expected is not None and not self.view.has_own_datasets:
            found[0] = max(0, self.view.expected - sum(found.values()))
        return found

    @cached_property
    def _times(self) -> Counter[int]:
        """How often each sample came where counts don't tell, as replicas have different numbers of ranks."""
        witnesses = self.view.group.witnesses
        replicas = [[rank for rank in group if rank in self.epoch.ranks] for group in self.view.same]
        even = {len(ranks) for ranks in replicas if ranks} in ({self.copies}, set())
        even = even and len(self.epoch.ranks) == self.copies * len(self.ranks)
        if even or not witnesses.keeps_all:
            return Counter()
        rows = witnesses.of_epoch(self.key)
        return Counter(rows[np.isin(rows[:, 3], list(self.ranks)), 0].tolist())

    def came_again(self, limit: int = 8) -> list[int]:
        """The first samples that came more than once, of those that are known by an index."""
        if not self.epoch.counts.total:
            return []
        if self._times:
            return sorted(index for index, times in self._times.items() if times > 1)[:limit]
        return self.epoch.counts.first(self.copies + 1, limit=limit)

    def names_again(self, limit: int) -> list[str]:
        """What the first samples are called that came more than once: none is without a name."""
        known = self.came_again(limit) or self.repeats.first(limit)
        if known:
            return [self.view.named(id) for id in known]
        words = [digest for digest, times in self.epoch.digests.repeated(limit) if times > self.copies]
        if self.view.hashed:
            return [id_name(digest[:8].hex(), self.view.summary.texts) for digest in words]
        return [str(int.from_bytes(digest[8:], "little", signed=True)) for digest in words]

    @property
    def came(self) -> int:
        """How many different samples came."""
        return sum(number for times, number in self.histogram.items() if times)

    @property
    def again(self) -> int:
        """How many samples came more than once."""
        return sum(number for times, number in self.histogram.items() if times > 1)

    @property
    def rows(self) -> int:
        """How many samples were delivered, each as often as it came."""
        return sum(seen.rows for seen in self.ranks.values())

    @property
    def full_batch(self) -> int:
        """The samples of a full batch: as was said, else as many as the largest had."""
        return self.view.batch_size or max((size for seen in self.ranks.values() for size in seen.sizes), default=1)

    @property
    def whole(self) -> bool:
        """Whether all ranks of the job read it to its end, so that what did not come is missing."""
        there = self.view.complete and not self.resumed
        return there and len(self.epoch.ranks) == len(self.view.ranks) and self.epoch.whole

    @cached_property
    def resumed(self) -> str:
        """Why it may be the rest of an epoch that was begun elsewhere, so that what did not come is not missing."""
        return "" if self._begun_again else why_resumed(self.view.group, self.key)

    @property
    def _begun_again(self) -> bool:
        """Whether it is the first epoch of a restart, and all of it came: it is no rest."""
        expected = self.view.expected
        if not self.key[0] or self.key[1] or expected is None or not self.epoch.whole or self.view.by_content:
            return False
        others = [each for key, each in self.view.group.epochs.items() if key != self.key and each.whole]
        most = {
            rank: max((each.ranks[rank].steps for each in others if rank in each.ranks), default=0)
            for rank in self.ranks
        }
        drops = len(self.ranks) * self.full_batch if self.view.facts.get("drop_last") else 0
        return self.rows + drops >= expected and all(seen.steps >= most[rank] for rank, seen in self.ranks.items())

    @property
    def evaluation(self) -> bool:
        """Whether it was read with gradients off, or the models in eval mode: then every sample counts."""
        facts = [seen.facts for seen in self.epoch.ranks.values()]
        return all(bool(one.get("no_grad") or one.get("eval")) for one in facts)

    @cached_property
    def repeats(self) -> Repeats:
        """Who got the samples that came more than once, as far as that is kept."""
        rows = self.view.group.witnesses.of_epoch(self.key)
        return repeats_in(rows[np.isin(rows[:, 3], list(self.ranks))], self.view.iterable)

    @property
    def name(self) -> str:
        """``epoch 1``, or ``epoch 1 after restart 2``."""
        return self.view.epoch_name(self.key)

    @property
    def read_at(self) -> tuple[str, int]:
        """The line where it is iterated; where the loader was made if that is not known."""
        facts = next(iter(self.epoch.ranks.values())).facts
        file, line = facts.get("file"), facts.get("line")
        return (file, line) if isinstance(file, str) and isinstance(line, int) else (self.view.file, self.view.line)

    def at_loop(self, id: str, key: str, sentence: str, **more: Any) -> Finding:
        """A finding whose line is where the loader is iterated."""
        return Finding(id, key, sentence, *self.read_at, epochs=(self.key,), **more)


def joined(view: View, parts: Sequence[EpochView]) -> EpochView:
    """The parts of one epoch, which restarts took up, as one: what came of it, and its first part's ranks."""
    if len(parts) == 1:
        return parts[0]
    whole = Epoch(parts[0].epoch.ranks)
    for part in parts:
        whole.counts.merge(part.epoch.counts)
        whole.digests.merge(part.epoch.digests)
    return EpochView(view, parts[0].key, whole)


def _ranked(rank: int) -> tuple[bool, int]:
    # Ranks first, then processes that did not tell theirs: -1, -2, ...
    return (rank < 0, abs(rank))
