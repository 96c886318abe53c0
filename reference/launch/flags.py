"""Decides what poprun's command line means: `poprun [options] program [arguments]`.

Options end where the program begins, at the first word that is no option and no option's value. So each option must be
known, whether it has an effect or not: of one that nobody knows it can't be said whether the next word is its value.
"""

import shlex
import socket
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import pairwise

from ..rules.checks import show
from .launched import check_divides

# Options that concern the hardware, its servers, MPI, or how processes are placed: taken, and said to have no effect.
_NO_EFFECT = frozenset(
    {
        "bind-to",
        "executable-cache-path",
        "gateway-mode",
        "host-rank-limit",
        "host-subnet",
        "instances-per-host",
        "map-by",
        "mpi-global-args",
        "num-ilds",
        "numa-aware",
        "offline-mode",
        "print-topology",
        "process-placement",
        "remove-partition",
        "reset-partition",
        "sync-type",
        "tag-output",
        "update-partition",
        "vipu-allocation",
        "vipu-cluster",
        "vipu-partition",
        "vipu-server-host",
        "vipu-server-port",
        "vipu-server-timeout",
    }
)
_NUMBERS = frozenset({"num-replicas", "num-instances", "ipus-per-replica", "only-output-from-instance"})
_TEXTS = frozenset({"host", "mpi-local-args"})
_SWITCHES = frozenset({"-v", "-vv", "-vvv", "--v", "--vv", "--vvv", "--verbose"})
USAGE = (
    "poprun --num-replicas R --num-instances I [--ipus-per-replica K] [--only-output-from-instance N] "
    "[--host localhost] program [arguments]"
)


class Refused(ValueError):
    """A command line that can't be carried out; nothing has been started."""


@dataclass(frozen=True)
class Launch:
    """What is to be started."""

    program: tuple[str, ...]
    replicas: int
    instances: int
    ipus_per_replica: int = 1
    only_output_from: int | None = None
    variables: dict[str, str] = field(default_factory=dict)
    without_effect: tuple[str, ...] = ()


def parse(words: Sequence[str]) -> Launch:
    """Return what a command line asks for. Raises Refused, with a sentence."""
    given, without_effect, program = _split(words)
    if not program:
        raise Refused(f"There is no program to start: {USAGE}.")
    numbers = {name: _number(name, given[name]) for name in _NUMBERS & set(given)}
    instances = numbers.get("num-instances", 1)
    replicas = numbers.get("num-replicas", instances)
    try:
        check_divides(replicas, instances)
    except ValueError as error:
        raise Refused(f"--num-replicas {replicas} --num-instances {instances}: {error}") from None
    only = numbers.get("only-output-from-instance")
    if only is not None and not 0 <= only < instances:
        raise Refused(
            f"--only-output-from-instance is {only}, but instances count from 0: give at most {instances - 1}."
        )
    _check_hosts(given.get("host", "localhost"))
    return Launch(
        program=tuple(program),
        replicas=replicas,
        instances=instances,
        ipus_per_replica=numbers.get("ipus-per-replica", 1),
        only_output_from=only,
        variables=_exports(given.get("mpi-local-args", "")),
        without_effect=tuple(without_effect),
    )


def _split(words: Sequence[str]) -> tuple[dict[str, str], list[str], list[str]]:
    """Return options with their values, the options that have no effect, and the program with its arguments."""
    given: dict[str, str] = {}
    without_effect = []
    rest = list(words)
    while rest and rest[0].startswith("-"):
        word = rest.pop(0)
        if word == "--":
            break
        if word in _SWITCHES:
            continue
        name, sign, value = word.removeprefix("--").partition("=")
        if word.startswith("--") and sign and name not in _NUMBERS | _TEXTS:
            without_effect.append(f"--{name}")
            continue
        if not word.startswith("--") or name not in _NUMBERS | _TEXTS | _NO_EFFECT:
            raise Refused(f"{word} is no option that is known here: leave it out, or write it as {word}=value. {USAGE}")
        if not sign and not rest:
            raise Refused(f"{word} has no value: write it as {word}=value. {USAGE}")
        value = value if sign else rest.pop(0)
        if name in _NO_EFFECT:
            without_effect.append(f"--{name}")
        else:
            given[name] = value
    return given, without_effect, rest


def _number(name: str, text: str) -> int:
    try:
        return int(text)
    except ValueError:
        raise Refused(f"--{name} is {show(text)}, but must be a whole number: give --{name} 2, say.") from None


def _check_hosts(text: str) -> None:
    local = {"localhost", "127.0.0.1", "::1", socket.gethostname(), socket.getfqdn()}
    others = [host for host in (part.strip() for part in text.split(",")) if host and host not in local]
    if others:
        raise Refused(
            f"--host names {', '.join(others)}, but instances are started on this machine only: leave --host out, or "
            f"start the program with torchrun on each host (--nnodes, --node-rank); the options understand that too."
        )


def _exports(text: str) -> dict[str, str]:
    """Return the variables that mpirun's `-x NAME=value` would set; without a value they are passed on anyway."""
    words = shlex.split(text)
    values = [after for word, after in pairwise(words) if word == "-x" and "=" in after]
    return dict(value.split("=", 1) for value in values)
