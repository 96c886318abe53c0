"""Decides how a group of options holds its values: typed, closed to unknown names, frozen after first use.

`Options` is such a group, and so are `Options.Training`, `Options.Distributed` and the groups that concern
only hardware. A value is readable as an attribute under its name (`options.replication_factor`).
"""

from collections.abc import Callable, Mapping
from difflib import get_close_matches
from enum import Enum
from typing import Any, Self

from ..rules.checks import check_integer, check_type, show
from .hardware import Setter


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
        self._recorded: dict[str, object] = {}

    def set(self, **values: object) -> Self:
        """Set values by name. Raises AttributeError for an unknown name, TypeError for another type."""
        for name, value in values.items():
            self._check_not_frozen(name)
            if name not in self._values:
                raise AttributeError(self._unknown(name))
            self._values[name] = self._checked(name, value)
        return self

    def _checked(self, name: str, value: object) -> object:
        """Return the value if it may stand where it is to be set."""
        path = f"{self._path}.{name}"
        default = self._defaults.get(name)
        if type(default) is int:
            # A default of 1 says that 0 makes no sense.
            return check_integer(path, value, least=min(default, 1))
        check_type(path, value, type(self._values[name]))
        return value

    def _add(self, name: str, value: object) -> Self:
        """Set a value that may not exist yet, such as the random seed."""
        self._check_not_frozen(name)
        self._values[name] = value
        return self

    def _check_not_frozen(self, name: str) -> None:
        if self._frozen:
            raise AttributeError(
                f"Can't modify frozen Options: {self._path}.{name} comes after a DataLoader or a model was "
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
        return sorted(public | set(self._values) | set(self._hardware_setters))

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
        raise AttributeError(self._unknown(name))

    def __setattr__(self, name: str, value: object) -> None:
        if not name.startswith("_"):
            self._check_not_frozen(name)
            raise AttributeError(
                f"{self._path}.{name} can't be assigned ({show(value)}): options are set by calling their "
                f"setter, options.deviceIterations(4) for example."
            )
        super().__setattr__(name, value)

    def _recorder(self, name: str) -> Callable[..., "Group"]:
        """Return the setter of a hardware option: it checks and records its arguments, nothing else."""

        def setter(*args: object, **kwargs: object) -> "Group":
            self._check_not_frozen(name)
            arguments = self._hardware_setters[name].bind(f"{self._path}.{name}", args, kwargs)
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
