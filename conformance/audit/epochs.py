"""One epoch of a loader as the judges look at it: decides what came, what came again, and whether it was read whole."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from conformance.audit.counts import different
from conformance.audit.finding import Finding
from conformance.audit.repeats import Repeats, repeats_in
from conformance.audit.resumed import why_resumed
from conformance.audit.summary import Epoch, EpochKey, RankSeen
from conformance.audit.view import View, ranked
from conformance.audit.words import id_name


@dataclass(frozen=True)
class EpochView:
    """One epoch of a loader. Ranks that are one replica are counted once."""

    view: View
    key: EpochKey
    epoch: Epoch

    @cached_property
    def ranks(self) -> dict[int, RankSeen]:
        """What each rank got, one rank for each replica: the first of it that is there."""
        there = [[rank for rank in sorted(group) if rank in self.epoch.ranks] for group in self.view.same]
        second = {rank for group in there for rank in group[1:]}
        return {rank: self.epoch.ranks[rank] for rank in sorted(self.epoch.ranks, key=ranked) if rank not in second}

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
        if self.view.expected is not None and not self.view.has_own_datasets and not self.has_copies:
            found[0] = max(0, self.view.expected - sum(found.values()))
        return found

    @cached_property
    def has_copies(self) -> bool:
        """Whether several samples may have one name, as a rank got some name twice: then it is not known how many names
        there are, and which never came.
        """
        return self.view.facts.get("ids", "index") == "named" and self.repeats.within_a_rank > 0

    @cached_property
    def witnesses(self) -> npt.NDArray[np.int64]:
        """The deliveries to its ranks of which it is kept who got them, as `Witnesses` has them."""
        rows = self.view.group.witnesses.of_epoch(self.key)
        return rows[np.isin(rows[:, 3], list(self.ranks))]

    def places(self, rows: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
        """At which place of its rank's stream each of these deliveries stood."""
        # All batches of a worker but its last one are full.
        found: npt.NDArray[np.int64] = rows[:, 5] * self.full_batch + rows[:, 6] % self.full_batch
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
        return Counter(self.witnesses[:, 0].tolist())

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
        return different(self.histogram)

    @property
    def again(self) -> int:
        """How many samples came more than once."""
        return sum(number for times, number in self.histogram.items() if times > 1)

    @property
    def rows(self) -> int:
        """How many samples were delivered, each as often as it came."""
        return sum(seen.rows for seen in self.ranks.values())

    def made_with(self, name: str, rank: int | None = None) -> Any:
        """What the loader was made with for this epoch, on a rank or on its first one: other starts may differ."""
        rank = next(iter(self.epoch.ranks)) if rank is None else rank
        facts = self.view.group.loaders.get(rank, self.view.facts)
        told: dict[str, Any] = self.epoch.ranks[rank].facts.get("made_with") or {}
        return told.get(name, facts.get(name))

    @property
    def batch_size(self) -> int | None:
        """The samples of a batch, if it was said."""
        told = self.made_with("batch_size")
        return told if isinstance(told, int) and told > 0 else None

    @property
    def full_batch(self) -> int:
        """The samples of a full batch: as was said, else as many as the largest had."""
        return self.batch_size or max((size for seen in self.ranks.values() for size in seen.sizes), default=1)

    @property
    def whole(self) -> bool:
        """Whether all ranks of the job read it to its end, so that what did not come is missing."""
        there = self.view.complete_in(self.key[0]) and not self.resumed
        return there and len(self.epoch.ranks) == len(self.view.ranks_in(self.key[0])) and self.epoch.whole

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
        others = [each for each in others if each.ranks.keys() == self.epoch.ranks.keys() or not self.view.worlds]
        most = {
            rank: max((each.ranks[rank].steps for each in others if rank in each.ranks), default=0)
            for rank in self.ranks
        }
        drops = len(self.ranks) * self.full_batch if self.made_with("drop_last") else 0
        return self.rows + drops >= expected and all(seen.steps >= most[rank] for rank, seen in self.ranks.items())

    @property
    def evaluation(self) -> bool:
        """Whether it was read with gradients off, or the models in eval mode: then every sample counts."""
        return self.epoch.evaluation

    @cached_property
    def repeats(self) -> Repeats:
        """Who got the samples that came more than once, as far as that is kept."""
        return repeats_in(self.witnesses, self.view.iterable)

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


def epochs_of(view: View) -> list[EpochView]:
    """A loader's epochs, in order."""
    return [EpochView(view, key, view.group.epochs[key]) for key in sorted(view.group.epochs)]


def joined(view: View, parts: Sequence[EpochView]) -> EpochView:
    """The parts of one epoch, which restarts took up, as one: what came of it, and its first part's ranks."""
    if len(parts) == 1:
        return parts[0]
    whole = Epoch(parts[0].epoch.ranks)
    for part in parts:
        whole.counts.merge(part.epoch.counts)
        whole.digests.merge(part.epoch.digests)
    return EpochView(view, parts[0].key, whole)
