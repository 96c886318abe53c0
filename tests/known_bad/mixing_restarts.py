"""Loaders of mixtures with one fault each in what they make of a state (chapter 11, MIX-8)."""

from typing import Any

from tests.known_bad.mixing import KnownBadMixing, Picks


class MixesBeforeItKnowsItsEpoch(KnownBadMixing):
    """The mixture of a rest is drawn when the state is loaded, before its epoch is taken over. (No public report.)"""

    clause, smallest = "MIX-8", "n3,w1,b1,keep,mixture,shuffle,e2,with=saved"
    ready: list[Picks] | None = None

    def load_state_dict(self, state: dict[str, int]) -> None:
        """Draw what the rest is of, and go on from there."""
        self.ready = self.mixed()
        super().load_state_dict(state)

    def left(self, steps: list[Picks], skipped: int) -> list[Picks]:
        """What is left of what was drawn."""
        ready, self.ready = self.ready, None
        return super().left(steps if ready is None else ready, skipped)


class WaitsForItsEpochToGoOn(KnownBadMixing):
    """A state is looked at by set_epoch alone, so that one that is loaded after it is ignored. (No public report.)"""

    clause, smallest = "MIX-8", "n3,w1,b1,keep,mixture,with=saved+inside"
    loaded: dict[str, int] | None = None

    def load_state_dict(self, state: dict[str, Any]) -> None:
        """Keep the state until its epoch comes."""
        self.loaded = state

    def set_epoch(self, epoch: int) -> None:
        """Go on from the state, if it is of this epoch."""
        super().set_epoch(epoch)
        if self.loaded is not None and self.loaded["epoch"] == epoch:
            super().load_state_dict(self.loaded)
        self.loaded = None


class KeepsItsPlaceInAMixtureForOneCall(KnownBadMixing):
    """After a restart set_epoch leaves the place alone once; a second call begins the epoch. (No public report.)"""

    clause, smallest = "MIX-8", "n3,w1,b1,keep,mixture,with=saved+retold"
    loaded = False

    def load_state_dict(self, state: dict[str, int]) -> None:
        """Go on from there, and remember it."""
        super().load_state_dict(state)
        self.loaded = True

    def set_epoch(self, epoch: int) -> None:
        """Begin an epoch, but for the first time after a restart."""
        loaded, self.loaded = self.loaded, False
        self.skipped = self.skipped if loaded and epoch == self.epoch else 0
        super().set_epoch(epoch)


class ForgetsWhoIsDone(KnownBadMixing):
    """After a restart a source has been through that has no samples left, and no later one. (No public report.)"""

    clause, smallest = "MIX-8", "n11,w2,b3,keep,mixture,g4,with=all+saved"
    forgets_at = 0

    def picks(self) -> Picks:
        """The mixture; at the place of the restart, sources that have begun again are none that are done."""
        sizes = [len(source) for source in self.request.sources]
        passes = [self.passes(source) for source in range(len(sizes))]
        taken, exhausted, picks = [0] * len(sizes), set[int](), Picks()
        for source in self.sources():
            if len(picks) == self.forgets_at:
                exhausted = {each for each in exhausted if taken[each] % sizes[each] == 0}
            picks.append((source, next(passes[source])))
            taken[source] += 1
            exhausted |= {source} if taken[source] % sizes[source] == 0 else set()
            if self.is_over(exhausted):
                return picks
        raise AssertionError("sources come without end")

    def left(self, steps: list[Picks], skipped: int) -> list[Picks]:
        """What comes from the place of the restart on."""
        self.forgets_at = skipped * self.request.batch_size * self.request.world_size
        steps, self.forgets_at = self.mixed(), 0
        return super().left(steps, skipped)
