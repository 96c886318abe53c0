"""The environments of the peers: decides where they are kept, what is put into each, and when one is rebuilt.

One is a virtual environment for a group of `peers/catalog.py`, in a folder of the user's cache. Its name stands for all
that pip is asked for, so that a change of a version makes another one, and one that was left half made is made again.
"""

import os
import platform
import shutil
import subprocess
import sys
import venv
from hashlib import blake2b
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from conformance.matrix.processes import Processes
from conformance.peers.catalog import Group

_INSTALL_SECONDS = 1800.0
_MADE = "complete.txt"
# What the suite itself needs there. The same Hypothesis draws the same scenarios; torch comes only with whom it serves.
_PIP = ("-m", "pip", "--disable-pip-version-check", "--no-input")


class NotInstalled(Exception):
    """A group can't be installed here. The message says what pip says."""


def default_cache() -> Path:
    """The folder for what can be made again, as the user's system has it."""
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "loaderspec" / "peers"


def environment(name: str, group: Group, cache: Path, processes: Processes) -> Path:
    """The interpreter of the group's environment, which is made if it isn't there. NotInstalled if it can't be."""
    wanted = (*group.requires, f"hypothesis=={version('hypothesis')}", "numpy")
    folder = cache / f"{name}-{_digest((*wanted, *group.removes, platform.python_version()))}"
    python = folder / "bin" / "python"
    if (folder / _MADE).exists():
        return python
    shutil.rmtree(folder, ignore_errors=True)
    try:
        venv.create(folder, with_pip=True)
    except (OSError, subprocess.CalledProcessError) as error:
        raise NotInstalled(f"no virtual environment can be made in {folder}: {error}") from error
    commands = [("install", "--quiet", *wanted)]
    if group.removes:
        commands.append(("uninstall", "--quiet", "--yes", *group.removes))
    for command in commands:
        ran = processes.run([str(python), *_PIP, *command], _INSTALL_SECONDS)
        if ran.code:
            raise NotInstalled(f"pip {command[0]} {' '.join(group.requires)}: {ran.last_words('no answer in time')}")
    (folder / _MADE).write_text("\n".join(wanted) + "\n", encoding="utf-8")
    return python


def _digest(words: tuple[str, ...]) -> str:
    return blake2b("\n".join(words).encode(), digest_size=4).hexdigest()


def copy_of_the_suite(folder: Path) -> Path:
    """A folder for PYTHONPATH that holds this very suite and nothing else, wherever it lies: in a clone or installed.

    The site-packages that hold an installed one would bring their other packages along.
    """
    here = Path(__file__).resolve().parents[2]
    for package in ("conformance", "reference"):
        shutil.copytree(here / package, folder / package, ignore=shutil.ignore_patterns("__pycache__"))
    chapters = here / "specs"
    if not (folder / "conformance" / "specs").exists() and chapters.is_dir():
        target = folder / "conformance" / "specs"
        target.mkdir()
        for chapter in chapters.glob("*.md"):
            shutil.copy(chapter, target)
    _write_metadata(folder)
    return folder


def _write_metadata(folder: Path) -> None:
    # A report names the version of the suite, and looks for it as for any package.
    try:
        number = version("loaderspec")
    except PackageNotFoundError:
        return
    information = folder / f"loaderspec-{number}.dist-info"
    information.mkdir()
    text = f"Metadata-Version: 2.1\nName: loaderspec\nVersion: {number}\n"
    (information / "METADATA").write_text(text, encoding="utf-8")


def machine() -> str:
    """The machine in a few words: ``2 cores, Python 3.11.7``."""
    count = len(os.sched_getaffinity(0)) if sys.platform == "linux" else os.cpu_count() or 1
    return f"{count} core{'s' if count > 1 else ''}, Python {platform.python_version()}"
