"""What a watched job's processes are told by the command that started the job: decides the names in the environment."""

import importlib
import importlib.util
import json
import os
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from conformance.records.names import NoIdentity, field_of
from conformance.records.wrapper import FOLDER as RECORD

FOLDER = "LOADERSPEC_WATCH"
HOME = "LOADERSPEC_WATCH_HOME"
OPTIONS = "LOADERSPEC_WATCH_OPTIONS"
SITE = Path(__file__).parent / "site"
# For the .pth of an installed wheel, which runs where PYTHONPATH does not count: `python -I`, or a script that sets it.
SITE_NAME = "LOADERSPEC_WATCH_SITE"


@dataclass(frozen=True)
class Options:
    """How a job is watched. `deadline` is in seconds since 1970, `seconds` how long that was when it was said."""

    steps: int | None = None
    deadline: float | None = None
    seconds: float | None = None
    id_field: str | None = None
    identify: str | None = None
    same_data: tuple[tuple[int, ...], ...] = ()

    @property
    def named(self) -> str | None:
        """How the user says who a sample is, in the words of a loader's facts; None if the user does not."""
        if self.identify:
            return f"function {self.identify}"
        return f"field {self.id_field}" if self.id_field else None


def environment(folder: Path, options: Options, of: dict[str, str]) -> dict[str, str]:
    """The environment of a job that is recorded into a folder."""
    path = [str(SITE), *filter(None, [of.get("PYTHONPATH")])]
    told = {name: value for name, value in asdict(options).items() if value is not None}
    home = str(Path(__file__).resolve().parents[2])
    return {
        **of,
        "PYTHONPATH": os.pathsep.join(path),
        SITE_NAME: str(SITE),
        FOLDER: str(folder.resolve()),
        RECORD: str(folder.resolve()),
        HOME: home,
        OPTIONS: json.dumps(told),
    }


def given() -> Options:
    """The options of this process, which a watched job started."""
    return Options(**json.loads(os.environ.get(OPTIONS) or "{}"))


def identifier(options: Options) -> Callable[[Any], Any] | None:
    """What says who an element is, if the user says it; else None. NoIdentity if it isn't there."""
    if options.identify:
        return _function(options.identify)
    if options.id_field:
        return lambda element: field_of(element, options.id_field, f"--id-field {options.id_field}")
    return None


def _function(name: str) -> Callable[[Any], Any]:
    """``module:function``, or ``file.py:function``."""
    where, _, attribute = name.rpartition(":")
    if not where:
        raise NoIdentity(f"--identify takes module:function, and {name!r} has no colon")
    try:
        if where.endswith(".py"):
            spec = importlib.util.spec_from_file_location(f"_loaderspec_{Path(where).stem}", where)
            if spec is None or spec.loader is None:
                raise ImportError(f"{where} is no Python file")
            module = importlib.util.module_from_spec(spec)
            spec.loader.exec_module(module)
        else:
            module = importlib.import_module(where)
        found: Callable[[Any], Any] = getattr(module, attribute)
    except (ImportError, AttributeError, OSError) as error:
        raise NoIdentity(f"--identify {name}: {error}") from error
    return found
