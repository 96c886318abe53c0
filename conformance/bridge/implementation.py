"""A command as an implementation: decides what `--impl="stdio:COMMAND"` means, and when its processes begin and end."""

import os
import re
import shlex
import signal
import tempfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from conformance.bridge import beyond, loader
from conformance.bridge.exchange import Exchange, Refused
from conformance.bridge.process import Gone, Late, Process, within
from conformance.contract import OFFERS, AdapterError, Claims, Implementation, Request, parse_claims

PREFIX = "stdio:"
VERSION = 1
_START_SECONDS = 60.0  # the first start of a virtual machine on a busy machine
_LAST_WORDS = 300  # characters of its standard error

# The process that stands beside this one, where there is one: what it holds is counted as this one's.
beside: list[int] = []


@dataclass(frozen=True)
class Introduction:
    """What a command answers to `start`."""

    name: str
    claims: Claims
    has: tuple[str, ...]


def implementation_of(spec: str) -> Implementation:
    """The implementation behind ``stdio:COMMAND``. AdapterError if the command can't be used."""
    command = command_of(spec)
    introduction = introduced(command)
    bridge = Bridge(tuple(command), introduction.has)
    offers: dict[str, Callable[..., Any]] = {"merge": bridge.merge} if "merge" in introduction.has else {}
    return Implementation(spec, bridge.load, introduction.claims, offers=offers, elsewhere=bridge)


def command_of(spec: str) -> list[str]:
    """The words of the command, as a shell would read them. AdapterError if there are none."""
    try:
        words = shlex.split(spec.removeprefix(PREFIX))
    except ValueError as error:
        raise AdapterError(f"the command in {spec!r} can't be read: {error}; quote it as for a shell") from error
    if not words:
        raise AdapterError(f'{spec!r} has no command; give one, such as "{PREFIX}node loader.js"')
    return words


def files_of(spec: str) -> list[Path]:
    """The files that the command names: what a receipt knows the implementation by."""
    return [path for word in command_of(spec)[1:] if (path := Path(word)).is_file()]


def introduced(command: Sequence[str], seconds: float = _START_SECONDS) -> Introduction:
    """What the command says of itself, asked in a process that is ended again. AdapterError if it can't be used."""
    with tempfile.TemporaryFile() as words:
        process = Process(command, words)
        try:
            deadline = within(seconds)
            return introduction_of(Exchange(process, lambda: deadline))
        except (Gone, Late) as error:
            code = process.end()
            words.seek(0)
            said = _last_words(words.read().decode(errors="replace"))
            what = f"gave no answer to start within {seconds:g} s" if isinstance(error, Late) else _how(code)
            raise AdapterError(
                f"the command {shlex.join(command)} {what}"
                + (f"; its last words: {said}" if said else "")
                + "; it reads JSON lines from standard input and answers each (specs/bridge.md)"
            ) from None
        finally:
            process.end()


def _last_words(text: str) -> str:
    """The line that most likely says why: the last one that names an error, else the last one."""
    lines = [line.strip() for line in text.splitlines() if line.strip()] or [""]
    return next((line for line in reversed(lines) if re.search(r"error\b", line, re.IGNORECASE)), lines[-1])[
        :_LAST_WORDS
    ]


def _how(code: int | None) -> str:
    return "closed its output" if code is None else f"ended with exit code {code} and no answer to start"


def introduction_of(exchange: Exchange) -> Introduction:
    """What a process says of itself; its first order. AdapterError if it says what can't be."""
    try:
        answer = exchange.ask({"op": "start", "version": VERSION}, 0, ("loader", 0))
    except Refused as error:
        raise AdapterError(f"the command answers start with an error: {error}") from error
    if answer["version"] != VERSION or type(answer["version"]) is not int:
        raise AdapterError(f"the command speaks version {answer['version']!r}, and this suite {VERSION}; update one")
    has = answer.get("has", [])
    wrong = [each for each in has if each not in loader.PARTS] if isinstance(has, list) else [has]
    if wrong:
        raise AdapterError(f"the command has {wrong[0]!r}, which is none of {', '.join(loader.PARTS)}; leave it out")
    claims = parse_claims(answer.get("claims"))
    for name in OFFERS:
        if getattr(claims, name) and name != "elastic":
            raise AdapterError(f"the command claims {name}, but the bridge carries loaders only; leave the claim out")
    if claims.ranks == "process_group":
        raise AdapterError(f"the command claims ranks={claims.ranks!r}, but its rank is in the request; leave it out")
    return Introduction(str(answer.get("name", "")), claims, tuple(part for part in loader.PARTS if part in has))


@dataclass
class Bridge:
    """The command in the processes of the ranks: one each, begun before anything is asked for or counted."""

    command: tuple[str, ...]
    has: tuple[str, ...]
    _exchange: Exchange | None = None

    @property
    def beyond(self) -> Mapping[str, str]:
        """The clauses that can't be judged so, and why."""
        return {clause: f"not judged through the bridge: {why}" for clause, why in beyond.BEYOND.items()}

    def begin(self) -> None:
        """Have the command's process there."""
        if self._exchange is not None and self._exchange.owner_process == os.getpid():
            return
        process = Process(self.command)
        beside[:] = [process.pid]
        self._exchange = Exchange(process, at_end=lambda: _end_as(process))
        try:
            introduction_of(self._exchange)
        except AdapterError as error:
            self._exchange.complaint = self._exchange.complaint or str(error)

    def complaint(self) -> str:
        """What is wrong with a line of the command in this process, or ""."""
        return self._exchange.complaint if self._exchange is not None else ""

    def load(self, request: Request) -> loader.Loader:
        """One rank's loader."""
        self.begin()
        assert self._exchange is not None
        return loader.opened(self._exchange, request, self.has)

    def merge(self, states: Sequence[Any]) -> Any:
        """The one state that the command makes of those of all ranks."""
        self.begin()
        assert self._exchange is not None
        return self._exchange.ask({"op": "merge", "states": list(states)}, 0, ("loader", 0))["state"]


def _end_as(process: Process) -> None:
    """End this process as the command's has ended: the loader is the rank's, and so is its death."""
    code = process.end()
    if code == -signal.SIGKILL:
        os.kill(os.getpid(), signal.SIGKILL)
    os._exit(1 if code is None else abs(code))
