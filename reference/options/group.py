"""Decides how a group of options holds its values: typed, closed to unknown names, frozen after first use.

`Options` is such a group, and so are `Options.Training`, `Options.Distributed` and the groups that concern
only hardware. A value can be read and assigned as an attribute under its name (`options.replication_factor = 4`).
A deep copy is not frozen, as it is nobody's yet.
"""

import copy
from collections.abc import Callable, Mapping
from difflib import get_close_matches
from enum import Enum
from typing import Any, Self

from ..rules.checks import check_integer, check_type, show
from .hardware import Setter
from .readable import MISSING, READABLE, Readable


class Group:
    """Named values with setters that chain; see the module docstring.

    Setting anything raises AttributeError once frozen. Reading or calling an unknown name raises
    AttributeError and lists the valid ones.
    """

    def __init__(self, path: str, setters: Mapping[str, Setter], **defaults: object) -> None:
        self._path = path
        self._frozen = False
        self._defaults = defaults
        self._values: dict[str, object] = dict(defaults)
        self._hardware_setters = setters
        self._recorded: dict[str, Any] = {}

    def set(self, **values: object) -> Self:
        """Set values by name. Raises AttributeError for an unknown name, TypeError for another type."""
        for name, value in values.items():
            self._check_not_frozen(name)
            if name in self._values:
                self._values[name] = self._checked(name, value)
            elif name in self._readable and self._readable[name].told is None:
                self._recorder(self._readable[name].setter)(value)
            else:
                raise AttributeError(self._unknown(name))
        return self

    @property
    def _readable(self) -> dict[str, Readable]:
        """The values of hardware setters. Looked up, and not kept: options travel to other processes."""
        return READABLE.get(self._path.removeprefix("Options").removeprefix("."), {})

    def exists(self, option: str) -> bool:
        """Return whether there is a value of this name; some exist only once they were set."""
        return option in self._values or self._told(option) is not MISSING

    def checkIsFrozen(self, option: str | None = None) -> None:
        """Raise AttributeError if frozen."""
        self._check_not_frozen(option)

    def _checked(self, name: str, value: object) -> object:
        """Return the value if it may stand where it is to be set."""
        path = f"{self._path}.{name}"
        kind = type(self._values[name])
        default = self._defaults.get(name)
        if type(default) is int:
            # A default of 1 says that 0 makes no sense.
            return check_integer(path, value, least=min(default, 1))
        check_type(path, value, kind)
        return value

    def _add(self, name: str, value: object) -> Self:
        """Set a value that may not exist yet, such as the random seed."""
        self._check_not_frozen(name)
        self._values[name] = value
        return self

    def _check_not_frozen(self, name: str | None) -> None:
        if self._frozen:
            what = "what is set now" if name is None else f"{self._path}.{name}"
            raise AttributeError(
                f"Can't modify frozen Options: {what} comes after a DataLoader or a model was "
                f"built with them. Set it before, or build the next one with a copy, options.clone()."
            )

    def _unknown(self, name: str) -> str:
        names = self._names()
        close = get_close_matches(name, names, n=1)
        hint = f"did you mean {close[0]}? " if close else ""
        return f"{self._path} has no option {name!r}: {hint}Valid are {', '.join(names)}."

    def _names(self) -> list[str]:
        """Return what may be read or called: values, setters and groups."""
        public = {name for name in dir(type(self)) if not name.startswith("_")}
        return sorted(public | set(self._values) | set(self._readable) | set(self._hardware_setters))

    def __dir__(self) -> list[str]:
        return [*super().__dir__(), *self._names()]

    def __getattr__(self, name: str) -> Any:
        # Only asked for what is not an ordinary attribute: a value, a hardware setter, or a mistake. Names
        # with an underscore are never options; while a copy is being made they may not exist yet.
        if name.startswith("_"):
            raise AttributeError(name)
        if name in self._values:
            return self._values[name]
        if name in self._hardware_setters:
            return self._recorder(name)
        told = self._told(name)
        if told is not MISSING:
            return told
        raise AttributeError(self._unknown(name))

    def _told(self, name: str) -> object:
        """Return what a hardware setter has recorded, under the name of its value, or MISSING."""
        readable = self._readable.get(name)
        if readable is None:
            return MISSING
        if readable.setter not in self._recorded:
            return copy.copy(readable.default) if readable.default is not MISSING else MISSING
        recorded = self._recorded[readable.setter]
        return recorded if readable.told is None else readable.told(recorded)

    def __deepcopy__(self, memo: dict[int, Any]) -> Self:
        twin = type(self).__new__(type(self))
        memo[id(self)] = twin
        vars(twin).update({name: copy.deepcopy(value, memo) for name, value in vars(self).items()})
        twin._frozen = False
        return twin

    def __setattr__(self, name: str, value: object) -> None:
        if not name.startswith("_"):
            self._assign(name, value)
            return
        super().__setattr__(name, value)

    def _assign(self, name: str, value: object) -> None:
        self._check_not_frozen(name)
        if name in self._values or name in self._readable:
            self.set(**{name: value})
            return
        if name not in self._names():
            raise AttributeError(self._unknown(name))
        raise AttributeError(
            f"{self._path}.{name} can't be assigned ({show(value)}): options are set by calling their setter, "
            f"options.deviceIterations(4) for example, or by assigning a value, options.device_iterations = 4."
        )

    def _recorder(self, name: str) -> Callable[..., "Group"]:
        """Return the setter of a hardware option: it checks and records its arguments, nothing else."""

        def setter(*args: object, **kwargs: object) -> "Group":
            self._check_not_frozen(name)
            arguments = self._hardware_setters[name].bind(f"{self._path}.{name}", args, kwargs)
            if self._hardware_setters[name].adds_up:
                self._recorded[name] = [*self._recorded.get(name, []), arguments]
            else:
                self._recorded[name] = arguments[0] if len(arguments) == 1 else arguments
            return self

        setter.__name__ = name
        return setter

    def _to_dict(self) -> dict[str, object]:
        """Return the values, and what hardware setters were called with under `Group.setter`."""
        prefix = self._path.removeprefix("Options").removeprefix(".")
        dotted = f"{prefix}." if prefix else ""
        values = {name: _plain(value) for name, value in self._values.items()}
        return values | {f"{dotted}{name}": _plain(value) for name, value in self._recorded.items()}


def _plain(value: object) -> object:
    """Return enum members as their values, so that the dictionary is plain data."""
    if isinstance(value, Enum):
        return value.value
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    if isinstance(value, dict):
        return {key: _plain(item) for key, item in value.items()}
    return value.toDict() if hasattr(value, "toDict") else value
