"""One line there and one back: decides what each line may be, what is served in between, and what is wrong with it.

A line that can't be understood is the fault of the side that writes lines, and says nothing of the loader: it becomes a
`Misspoken`, which names the line by its number, and every later call is answered by the same.
"""

import json
import os
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import partial
from itertools import repeat
from operator import getitem
from typing import Any, Protocol

from conformance.bridge.handles import Handles, Owner, Raised, Stream
from conformance.bridge.process import LONGEST, Gone
from conformance.contract import AdapterError

Message = Mapping[str, Any]

# What answers each order, besides an error: the names that must be there, one of each tuple.
ANSWERS: Mapping[str, tuple[str, ...]] = {
    "start": ("version",),
    "open": (),
    "len": ("len", "unknown"),
    "set_epoch": (),
    "iter": (),
    "next": ("step", "end"),
    "state": ("state",),
    "merge": ("state",),
    "restore": (),
    "drop": (),
    "close": (),
}
_ALSO = {"start": frozenset({"name", "language", "claims", "has"}), "pull": frozenset({"count"})}
_QUESTIONS = ("read", "stream", "pull")
_SHOWN = 120  # characters of a line that an error repeats


class Misspoken(AdapterError):
    """A line of the command can't be understood. The message says which one, and what is expected."""


class Line(Protocol):
    """Lines to a process and from it, as `process.Process` has them."""

    def send(self, line: bytes, deadline: float | None = None) -> None:
        """Write a line."""

    def receive(self, deadline: float | None = None) -> bytes:
        """The next line."""
        ...


class _End(Exception):
    """A stream has come to its end. (Not StopIteration, which a sample may raise.)"""


class Refused(RuntimeError):
    """The loader has answered with an error of its own; the text is the loader's."""


class Exchange:
    """The lines of one process.

    `deadline` gives the moment until which an answer must come, or None where somebody else bounds the wait.
    `at_end` is called when the process has ended; `tap` is told each line with its side, ">" for the suite's.
    """

    def __init__(
        self,
        process: Line,
        deadline: Callable[[], float | None] = lambda: None,
        at_end: Callable[[], None] = lambda: None,
        tap: Callable[[str, str], None] = lambda side, line: None,
    ) -> None:
        self.process = process
        self.owner_process = os.getpid()
        self.handles = Handles()
        self.datasets: dict[int, Any] = {}
        self.complaint = ""
        self.heard = 0
        self._last = 0
        self._deadline = deadline
        self._at_end = at_end
        self._tap = tap
        self._busy = False
        self._postponed: list[tuple[Message, int, Owner]] = []

    def number(self) -> int:
        """A number for a loader or an iterator: never the same twice."""
        self._last += 1
        return self._last

    def ask(self, order: Message, loader: int, owner: Owner) -> dict[str, Any]:
        """The answer to an order; what the loader asks for meanwhile is served from the loader's dataset.

        Raises what the loader passes on, Refused for an error of its own, Misspoken for a line that is none, and Gone
        and Late as the process does.
        """
        if self.complaint:
            raise Misspoken(self.complaint)
        self._busy = True
        try:
            answer = self._exchanged(order, loader, owner)
        except Gone:
            self._at_end()
            raise
        finally:
            self._busy = False
        self._do_postponed()
        return answer

    def later(self, order: Message, loader: int, owner: Owner) -> None:
        """Give an order about something that nobody holds any more: now, or when the order that is under way is done.

        An object may be released at any moment, and in a process that was forked from this one too.
        """
        if os.getpid() == self.owner_process:
            self._postponed.append((order, loader, owner))
            self._do_postponed()

    def let_go(self, loader: int, owner: Owner) -> None:
        """Forget what an owner was given; a loader's dataset with it, if that is the owner."""
        self.handles.let_go(owner)
        if owner[0] == "loader":
            self.datasets.pop(loader, None)

    def settle(self) -> None:
        """Raise what went wrong with an order about something that nobody held any more."""
        if self.complaint:
            raise Misspoken(self.complaint)

    def _do_postponed(self) -> None:
        while self._postponed and not self._busy and not self.complaint:
            order, loader, owner = self._postponed.pop(0)
            self._busy = True
            try:
                self._exchanged(order, loader, owner)
            except Exception:
                pass  # nobody is there who could be told; what can't be understood is kept as the complaint
            finally:
                self._busy = False
                self.let_go(loader, owner)

    def _exchanged(self, order: Message, loader: int, owner: Owner) -> dict[str, Any]:
        self._send(order)
        while True:
            answer = self._heard(order)
            kind = next((name for name in _QUESTIONS if name in answer), None)
            if kind is None:
                return self._settled(order, answer)
            if loader not in self.datasets:
                self._complain(answer, order, "asks for samples where no loader is asked; read in orders to one")
            self._send(self._served(kind, answer, order, self.datasets[loader], owner))

    def _send(self, message: Message) -> None:
        line = json.dumps(message, separators=(",", ":"))
        self._tap(">", line)
        self.process.send(line.encode(), self._deadline())

    def _heard(self, order: Message) -> dict[str, Any]:
        line = self.process.receive(self._deadline())
        self.heard += 1
        text = line.decode(errors="replace").strip()
        self._tap("<", text)
        if len(line) > LONGEST:
            self._complain(text, order, f"is longer than {LONGEST} bytes; write a line feed after each object")
        try:
            answer = json.loads(text)
        except ValueError:
            answer = None
        if not isinstance(answer, dict):
            rule = "is no JSON object; write one object a line to standard output, and all else to standard error"
            self._complain(text, order, rule)
        return dict(answer)

    def _complain(self, line: object, order: Message, rule: str) -> None:
        shown = line if isinstance(line, str) else json.dumps(line)
        shown = shown if len(shown) <= _SHOWN else f"{shown[:_SHOWN]}..."
        self.complaint = f"line {self.heard} of the command, {shown}, in answer to {_short(order)}: {rule}"
        raise Misspoken(self.complaint)

    # --- answers --------------------------------------------------------------------------------------------------

    def _settled(self, order: Message, answer: dict[str, Any]) -> dict[str, Any]:
        op = str(order["op"])
        if set(answer) == {"raised"}:
            thing = self._named(answer["raised"], Raised, answer, order)
            raise _for_a_loop(thing.given())
        if set(answer) == {"error"}:
            if not isinstance(answer["error"], str):
                self._complain(answer, order, "has an error that is no text; write a sentence")
            raise Refused(answer["error"])
        wanted = ANSWERS[op]
        found = [name for name in wanted if name in answer]
        unknown = set(answer) - set(wanted) - _ALSO.get(op, frozenset())
        if unknown or len(found) != min(1, len(wanted)):
            forms = " or ".join(f'{{"{name}":...}}' for name in wanted) or "{}"
            # An error in answer to start ends the run.
            also = "" if op == "start" else ', {"raised":...} or {"error":...}'
            self._complain(answer, order, f"is no answer; this one is {forms}{also}")
        return self._checked(op, answer, order)

    def _checked(self, op: str, answer: dict[str, Any], order: Message) -> dict[str, Any]:
        if "len" in answer and (type(answer["len"]) is not int or answer["len"] < 0):
            self._complain(answer, order, 'has a length that is no number from 0 on; say {"unknown":true} without one')
        for name in ("end", "unknown"):
            if name in answer and answer[name] is not True:
                self._complain(answer, order, f'says "{name}" with another value than true; leave it out, or say true')
        if "step" in answer:
            if not isinstance(answer["step"], list):
                self._complain(answer, order, "has a step that is no list; give the handles of its samples, in order")
            answer["step"] = [self._sample(number, answer, order) for number in answer["step"]]
        return answer

    def _sample(self, number: object, answer: Message, order: Message) -> Any:
        thing = self._named(number, object, answer, order)
        if isinstance(thing, Stream | Raised):
            self._complain(answer, order, f"delivers {number}, which is no sample's handle; deliver what was read")
        return thing

    def _named(self, number: object, kind: type[Any], answer: Message, order: Message) -> Any:
        try:
            thing = self.handles.named(number)
        except KeyError:
            thing = None
            rule = "that was never given, or was released with its iterator; name one that is valid"
            self._complain(answer, order, f"names {json.dumps(number)}, a handle {rule}")
        if not isinstance(thing, kind):
            wanted = "what a sample raised" if kind is Raised else "a stream"
            self._complain(answer, order, f"names {number}, a handle of something else; name one of {wanted}")
        return thing

    # --- questions ------------------------------------------------------------------------------------------------

    def _served(self, kind: str, asked: dict[str, Any], order: Message, dataset: Any, owner: Owner) -> Message:
        if unknown := set(asked) - {kind} - _ALSO.get(kind, frozenset()):
            self._complain(asked, order, f"says {sorted(unknown)[0]!r}, which a question has not; leave it out")
        is_stream = not hasattr(dataset, "__getitem__")
        if is_stream == (kind == "read"):
            rule = "a stream is asked for by stream and pull, a dataset with a number of samples by read"
            self._complain(asked, order, f"asks in the wrong way: {rule}")
        if kind == "stream":
            if asked["stream"] is not True:
                self._complain(asked, order, 'asks for a stream with another value than true; say {"stream":true}')
            return {"stream": self.handles.give([Stream(iter(dataset))], owner)[0]}
        if kind == "pull":
            return self._pulled(asked, order, owner)
        indices = asked["read"]
        if not isinstance(indices, list) or any(type(index) is not int for index in indices):
            self._complain(asked, order, "reads what is no list of whole numbers; give the numbers of the samples")
        return self._gathered((partial(getitem, dataset, index) for index in indices), owner)

    def _pulled(self, asked: dict[str, Any], order: Message, owner: Owner) -> Message:
        stream = self._named(asked["pull"], Stream, asked, order)
        count = asked.get("count", 1)
        if type(count) is not int or count < 1:
            self._complain(asked, order, "pulls a count that is no number from 1 on; leave it out for 1")
        return self._gathered(repeat(partial(_pull, stream.samples), min(count, sys.maxsize)), owner)

    def _gathered(self, reads: Iterable[Callable[[], Any]], owner: Owner) -> Message:
        """The samples that these reads give, up to the first that raises, and what that one raises."""
        samples: list[Any] = []
        more: dict[str, Any] = {}
        for read in reads:
            try:
                samples.append(read())
            except _End:
                more = {"end": True}
                break
            except (
                BaseException
            ) as error:  # a dataset may raise what `except Exception` lets pass, and the loader is told
                # Its traceback would hold the iterator, which would never be dropped if nobody passes the error on.
                more = {"raised": self.handles.give([Raised(error.with_traceback(None))], owner)[0]}
                break
        return {"samples": self.handles.give(samples, owner), **more}


def _pull(samples: Iterator[Any]) -> Any:
    try:
        return next(samples)
    except StopIteration:
        raise _End from None


def _for_a_loop(error: BaseException) -> BaseException:
    """What an exception of the dataset's is to whoever iterates: out of `next()` a StopIteration would be the end."""
    if not isinstance(error, StopIteration):
        return error
    told = RuntimeError(f"the dataset raised StopIteration: {error}")
    told.__cause__ = error
    return told


def _short(order: Message) -> str:
    text = json.dumps(order, separators=(",", ":"))
    return text if len(text) <= _SHOWN else f"{text[:_SHOWN]}..."
