"""Runs of pytest and of the command, in processes of their own, as a person starts them from a folder of theirs."""

import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

HERE = Path(__file__).parent
HOME = HERE.parent.parent
PLAIN = str(HERE / "plain_loader.py")

# What pip writes for the package: with it on the import path, pytest finds the plugin as it does in an installation.
_METADATA = {
    "METADATA": "Metadata-Version: 2.1\nName: loaderspec\nVersion: 0.0\n",
    "entry_points.txt": "[pytest11]\nloaderspec = conformance.plugin\n",
}


@dataclass(frozen=True)
class Ran:
    """How a run ended and what it said."""

    code: int
    out: str
    err: str

    @property
    def sentences(self) -> list[str]:
        """The lines that say what is wrong, on whichever output."""
        lines = (self.out + "\n" + self.err).splitlines()
        return [line for line in lines if line.startswith(("ERROR: ", "loaderspec: "))]


def install(folder: Path) -> Path:
    """Put the package on an import path as an installation does; the path."""
    information = folder / "loaderspec-0.0.dist-info"
    information.mkdir(parents=True, exist_ok=True)
    for name, text in _METADATA.items():
        (information / name).write_text(text)
    return folder


def environment(installed: Path) -> dict[str, str]:
    """The environment of a person: the packages are found, and nothing of this run's pytest is inherited."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("PYTEST_", "HYPOTHESIS_"))}
    return {**kept, "PYTHONPATH": os.pathsep.join([str(installed), str(HOME)]), "COLUMNS": "200"}


def run(folder: Path, *words: str, installed: Path) -> Ran:
    """Run Python with these words in a folder."""
    done = subprocess.run(
        [sys.executable, *words],
        cwd=folder,
        env=environment(installed),
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
    )
    return Ran(done.returncode, done.stdout, done.stderr)


def run_pytest(folder: Path, *options: str, installed: Path) -> Ran:
    """`pytest --pyargs conformance` in a folder."""
    return run(folder, "-m", "pytest", "--pyargs", "conformance", *options, installed=installed)


def run_command(folder: Path, *words: str, installed: Path) -> Ran:
    """The command `loaderspec` in a folder."""
    program = "import sys; from conformance.cli import main; sys.exit(main())"
    return run(folder, "-c", program, *words, installed=installed)
