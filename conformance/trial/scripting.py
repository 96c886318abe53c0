"""What a wing tells of its cases to whoever makes a reproduction script of one."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from conformance.contract import Claims


@dataclass(frozen=True)
class Scripting:
    """How a family's cases are read in a script, and what its checks are told.

    `fits`: whether a case of a clause asks for nothing that no script does. `reading`: the function of the script that
    reads a loader. `as_loader`: the scenario as far as it is one of any loader. `arguments`: the plain fields of a
    rank's request, if they are other than those. `needs`: the lines of a script that only some cases need.
    `said`: what a run of this name does that no field of the request says. `once`: whether a rank begins one epoch
    only. `facts`: the numbers that a check reads, by name.
    """

    fits: Callable[[str, Any], bool] = lambda clause, scenario: True
    reading: Callable[[Any], str] = lambda scenario: "read_in_brief"
    as_loader: Callable[[Any], Any] = lambda scenario: scenario
    arguments: Callable[[Any, int], dict[str, Any]] | None = None
    needs: Callable[[str, Any], Mapping[str, bool]] = lambda clause, scenario: {}
    said: Callable[[Any, str], list[str]] = lambda scenario, name: []
    once: Callable[[Any], bool] = lambda scenario: False
    facts: Callable[[str, Any, Claims], Mapping[str, Any]] = lambda clause, scenario, claims: {}


USUAL = Scripting()
