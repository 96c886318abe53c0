"""Training loops that are stopped and resumed (chapter 12): three that go on as if nothing had been, and others."""

from itertools import islice
from typing import Any, ClassVar

from tests.known_bad.correct import Correct, KnownBad
from tests.known_bad.loops import Loop


class SavesHalfAStep(Loop):
    """A correct loop that stops in the middle of a step, and saves what that has gathered."""

    claims: ClassVar[dict[str, Any]] = dict(loop="step", checkpoints=True)

    def run(self) -> Any:
        """From the beginning or from a state; the state in which it ends."""
        self.epoch = self.taken = self.before = 0
        self.optimizer, self.weights = self.asked.optimizer, list(self.asked.module.parameters())
        if self.asked.state is not None:
            self.load(self.asked.state)
        self.go_on()
        return self.state()

    def go_on(self) -> None:
        """What is left of the job, or as much of it as was asked for."""
        while self.epoch < self.asked.epochs:
            self.tell(self.epoch)
            if not self.rest_of_epoch():
                return
            if self.asked.validation is not None:
                self.validate()
            self.before, self.taken = self.before + len(self.asked.loader), 0
            self.epoch += 1

    def rest_of_epoch(self) -> bool:
        """Train on what is left of an epoch; whether it was not stopped."""
        batches, size = len(self.asked.loader), self.asked.accumulation
        for batch in islice(self.asked.loader, self.taken, None):
            start = self.taken // size * size
            self.backward(batch, min(size, batches - start))
            self.taken += 1
            if self.taken % size == 0 or self.taken == batches:
                self.optimizer.step()
                self.optimizer.zero_grad()
            if self.is_to_stop():
                return False
        return True

    def is_to_stop(self) -> bool:
        """Whether as many micro-batches were trained on as were asked for."""
        return bool(self.trained() == self.asked.stop_after)

    def trained(self) -> int:
        """The micro-batches of the job so far."""
        return self.before + self.taken

    def state(self) -> dict[str, Any]:
        """What resumes it."""
        return {
            "at": (self.epoch, self.taken, self.before),
            "weights": [weight.detach().clone() for weight in self.weights],
            "gradients": [weight.grad for weight in self.weights],
            "buffer": self.asked.module.met.clone(),
            "optimizer": self.optimizer.state_dict(),
        }

    def no_gradients(self) -> dict[str, Any]:
        """What stands in a state for a step of which nothing is gathered."""
        return {"gradients": [None] * len(self.weights)}

    def load(self, state: dict[str, Any]) -> None:
        """Be where it was."""
        self.epoch, self.taken, self.before = state["at"]
        for weight, value, gradient in zip(self.weights, state["weights"], state["gradients"], strict=True):
            weight.data.copy_(value)
            weight.grad = gradient
        self.asked.module.met.copy_(state["buffer"])
        self.optimizer.load_state_dict(state["optimizer"])


class BeginsTheStepAgain(SavesHalfAStep):
    """A correct loop that saves no gradient, and where the step began in which it was stopped."""

    def state(self) -> dict[str, Any]:
        """As of the last step."""
        rest = self.taken % self.asked.accumulation if self.taken < len(self.asked.loader) else 0
        return {**super().state(), "at": (self.epoch, self.taken - rest, self.before), **self.no_gradients()}


class FinishesItsStep(SavesHalfAStep):
    """A correct loop that finishes the step under way, after which the next stop may lie behind it."""

    def is_to_stop(self) -> bool:
        """Whether a step is finished, and as many micro-batches were trained on as were asked for, or more."""
        return self.has_finished() and self.asked.stop_after is not None and self.trained() >= self.asked.stop_after

    def has_finished(self) -> bool:
        """Whether no step is under way."""
        return self.taken % self.asked.accumulation == 0 or self.taken == len(self.asked.loader)


CORRECT_STOPPED_LOOPS: tuple[type[Correct], ...] = (SavesHalfAStep, BeginsTheStepAgain, FinishesItsStep)


class BadStoppedLoop(SavesHalfAStep, KnownBad):
    """A loop with one fault."""


class SavesNoBuffers(BadStoppedLoop):
    """The weights are saved, and what training writes into buffers is not. (No public report.)"""

    clause, smallest = "LOOP-7", "n1,b1,loop,stopped@1"

    def state(self) -> dict[str, Any]:
        return {name: value for name, value in super().state().items() if name != "buffer"}

    def load(self, state: dict[str, Any]) -> None:
        super().load({**state, "buffer": self.asked.module.met})


class LosesHalfAStep(BadStoppedLoop):
    """The place is saved, and what the step under way has gathered is not."""

    clause = "LOOP-7"
    report, smallest = "Nerogar/OneTrainer#1465", "n2,b1,g2,loop,stopped@1"

    def state(self) -> dict[str, Any]:
        return {**super().state(), **self.no_gradients()}


class CountsStepsForBatches(BadStoppedLoop):
    """The loader is read up to the number of steps made, and not of micro-batches: samples are trained on again."""

    clause = "LOOP-7"
    report, smallest = "EleutherAI/gpt-neox#308", "n1,b1,g2,loop,stopped@1"

    def state(self) -> dict[str, Any]:
        at = (self.epoch, self.taken // self.asked.accumulation, self.before)
        return {**super().state(), "at": at}


class ForgetsTheMomentum(BadStoppedLoop):
    """The module is saved, and the optimizer's state is not. (No public report.)"""

    clause = "LOOP-7"
    smallest = "n1,b1,e2,loop,stopped@1"

    def load(self, state: dict[str, Any]) -> None:
        empty = self.optimizer.state_dict()
        super().load({**state, "optimizer": empty})


class ResumesInTheOrderOfTheFirst(BadStoppedLoop):
    """The loader is told of an epoch when one begins: a rest is read in another order. (No public report.)"""

    clause = "LOOP-7"
    smallest = "n3,b1,e2,loop,stopped@4"

    def tell(self, epoch: int) -> None:
        if self.taken == 0:
            super().tell(epoch)


class TrainsOnTheLastAgain(BadStoppedLoop):
    """The micro-batch at which it was stopped is taken for one that is still to come."""

    clause = "LOOP-7"
    report, smallest = "Red-Hat-AI-Innovation-Team/mini_trainer#79", "n1,b1,loop,stopped@1"

    def state(self) -> dict[str, Any]:
        return {**super().state(), "at": (self.epoch, max(0, self.taken - 1), self.before)}


class CountsFromItsRestart(BadStoppedLoop):
    """The place in the epoch is counted from the restart, and saved so at a second stop. (No public report.)"""

    clause = "LOOP-7"
    smallest = "n3,b1,loop,stopped@1,again@1"
    resumed = 0

    def load(self, state: dict[str, Any]) -> None:
        super().load(state)
        self.resumed = self.taken

    def go_on(self) -> None:
        first = self.epoch
        super().go_on()
        self.resumed = self.resumed if self.epoch == first else 0

    def state(self) -> dict[str, Any]:
        return {**super().state(), "at": (self.epoch, self.taken - self.resumed, self.before)}


class TakesARemainderForItsPlace(BadStoppedLoop):
    """How full a step is follows from the micro-batches of all epochs, as if none had a rest. (No public report.)"""

    clause = "LOOP-7"
    smallest = "n4,b1,g3,e2,loop,stopped@5"
    gathered = 0

    def load(self, state: dict[str, Any]) -> None:
        super().load(state)
        self.gathered = self.trained() % self.asked.accumulation - self.taken % self.asked.accumulation

    def rest_of_epoch(self) -> bool:
        batches, size = len(self.asked.loader), self.asked.accumulation
        for batch in islice(self.asked.loader, self.taken, None):
            start = self.taken // size * size
            self.backward(batch, min(size, batches - start))
            self.taken += 1
            if (self.taken + self.gathered) % size == 0 or self.taken == batches:
                self.optimizer.step()
                self.optimizer.zero_grad()
                self.gathered = self.gathered if self.taken < batches else 0
            if self.is_to_stop():
                return False
        return True


class AsksAtTheEndOfTheEpoch(BadStoppedLoop):
    """Whether it is to stop is asked after each epoch, when the grace period is over. (No public report.)"""

    clause = "LOOP-7"
    smallest = "n2,b1,loop,stopped@1"

    def is_to_stop(self) -> bool:
        asked = self.asked.stop_after
        return asked is not None and self.taken == len(self.asked.loader) and self.trained() >= asked


class StopsAtTheVeryNumber(FinishesItsStep, KnownBad):
    """It stops once a count meets the number, which a step that was finished before has passed. (No public report.)"""

    clause = "LOOP-7"
    smallest = "n5,b1,g2,loop,stopped@1,again@1"
    has_met = False

    def is_to_stop(self) -> bool:
        self.has_met = self.has_met or self.trained() == self.asked.stop_after
        return self.has_met and self.has_finished()


class SkipsTheValidationAtAStop(BadStoppedLoop):
    """Stopped with the last micro-batch of an epoch, it goes on with the next: nobody validates. (No public report.)"""

    clause, smallest = "LOOP-6", "n1,b1,loop,stopped@1,with=validated"

    def state(self) -> dict[str, Any]:
        state = super().state()
        if self.taken and self.taken == len(self.asked.loader):
            state["at"] = (self.epoch + 1, 0, self.trained())
        return state
