"""Decides how options are read from text: a config file, and the variable POPTORCH_DEFAULT_OPTIONS.

A config file holds one setter call a line, as in a script but without `options.` before it:

    deviceIterations(4)
    Training.gradientAccumulation(8)    # a comment
    outputMode(poptorch.OutputMode.EveryN, 2)

The text is not executed. What may stand in it: setter calls, literals, and public names of `poptorch` and
`torch` (an enum member, a dtype, a settings object with its own calls). Everything else is an error that
names file and line.
"""

import ast
import json
from collections.abc import Callable
from enum import EnumType
from importlib import import_module
from pathlib import Path
from typing import Any, NoReturn

from .. import enums
from ..rules.checks import check_type, show

DEFAULT_OPTIONS_VARIABLE = "POPTORCH_DEFAULT_OPTIONS"


class ConfigFileError(ValueError):
    """A config file or default options that can't be read; the message says where and why."""


def apply_file(options: object, path: str | Path) -> None:
    """Call the setters that the file names. Raises ConfigFileError for a line that is not a setter call."""
    try:
        text = Path(path).read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigFileError(
            f"The options file {path} can't be read ({error}): give the path of a text file."
        ) from error
    for number, line in enumerate(text.splitlines(), start=1):
        if line.strip() and not line.strip().startswith("#"):
            _apply_line(options, line.strip(), f"line {number} of {path}")


def _apply_line(options: object, line: str, where: str) -> None:
    try:
        call = ast.parse(line, mode="eval").body
    except (SyntaxError, ValueError) as error:
        raise _no_call(line, where) from error
    if not isinstance(call, ast.Call):
        raise _no_call(line, where)
    try:
        _called(call, _setter(options, ast.unparse(call.func)))
    except (AttributeError, TypeError, ValueError) as error:
        raise _located(error, where) from error


def _no_call(line: str, where: str) -> ConfigFileError:
    return ConfigFileError(f"{where} is no setter call: {show(line)}. Write deviceIterations(4), say.")


def apply_json(options: object, text: str, where: str = f"The environment variable {DEFAULT_OPTIONS_VARIABLE}") -> None:
    """Call the setters that a JSON object names, each with its argument or its list of arguments.

    A string that names a member of an enum, such as "OutputMode.All", is that member. `where` is what an error names.
    """
    check_type(where, text, str)
    try:
        settings = json.loads(text)
    except ValueError as error:
        raise ConfigFileError(f"{where} is no JSON ({error}): {show(text)}. Give an object.") from error
    if not isinstance(settings, dict):
        raise ConfigFileError(f"{where} is {show(text)}, but must be a JSON object of setters and arguments.")
    for name, given in settings.items():
        arguments = given if isinstance(given, list) else [given]
        try:
            _setter(options, name)(*map(_enum_member, arguments))
        except (AttributeError, TypeError, ValueError) as error:
            raise _located(error, where) from error


def _located(error: Exception, where: str) -> Exception:
    """Return an error of the same kind whose sentence begins with the place."""
    kind = type(error) if type(error) in (AttributeError, TypeError, ValueError) else ConfigFileError
    return kind(f"{where}: {error}")


def _setter(options: object, path: str) -> Callable[..., object]:
    """Return the setter at a dotted path such as Training.gradientAccumulation."""
    target: Any = options
    for name in path.split("."):
        if name.startswith("_") and name != "_Popart":
            raise AttributeError(f"{path} is no option, as names with underscores are internal: use another.")
        target = getattr(target, name)
    if not callable(target):
        raise TypeError(f"{path} is no setter but {show(target)}: name a setter, such as deviceIterations.")
    return target  # type: ignore[no-any-return]


def _called(call: ast.Call, function: Callable[..., Any]) -> Any:
    """Return what the function gives for the arguments of the call."""
    named = {str(each.arg): _value(each.value) for each in call.keywords}
    return function(*map(_value, call.args), **named)


def _value(node: ast.expr) -> Any:
    """Return what an argument in a config file stands for."""
    if isinstance(node, ast.Call):
        return _called(node, _value(node.func))
    if isinstance(node, ast.Attribute) and not node.attr.startswith("_"):
        return getattr(_value(node.value), node.attr)
    if isinstance(node, ast.Name) and node.id == "poptorch":
        return _PublicNames("reference")
    if isinstance(node, ast.Name) and node.id == "torch":
        return _PublicNames("torch")
    if isinstance(node, ast.Attribute | ast.Name):
        _refuse(node)
    try:
        return ast.literal_eval(node)
    except ValueError:
        return _refuse(node)


class _PublicNames:
    """The names of a package that a config file may use: classes of `poptorch`, dtypes of `torch`."""

    def __init__(self, package: str) -> None:
        self._package = import_module(package)

    def __getattr__(self, name: str) -> Any:
        found = getattr(self._package, name, None)
        is_own = isinstance(found, type) and found.__module__.startswith("reference.")
        is_dtype = type(found).__name__ == "dtype"
        if not (is_own or is_dtype):
            raise AttributeError(f"{name} is no option value: use a literal, an enum or a settings object.")
        return found


def _refuse(node: ast.expr) -> NoReturn:
    raise ValueError(
        f"{ast.unparse(node)} can't stand in an options file: use literals and names of poptorch, such as "
        f"poptorch.OutputMode.All."
    )


def _enum_member(value: object) -> object:
    """Return the enum member that a string names, and any other value as it is."""
    if not isinstance(value, str):
        return value
    name, _, member = value.removeprefix("poptorch.").partition(".")
    kind = getattr(enums, name, None)
    return getattr(kind, member, value) if isinstance(kind, EnumType) else value
