"""Decides how a script for PopTorch is run without a launcher: `python -m reference.run script.py [args]`.

It becomes python itself, with `poptorch`, `popdist` and `torchdata` on its path: whatever python takes (`-m module`,
`-c code`, `-`, `-u`), this takes, and the program can't tell the difference.
"""

import os
import sys

from .launch.shims import note_of_hidden, with_shims


def main() -> None:
    """Become `python ...` with the names of PopTorch."""
    note = note_of_hidden()
    if note:
        print(f"reference.run: {note}", file=sys.stderr, flush=True)
    environment = {**os.environ, "PYTHONPATH": with_shims(os.environ.get("PYTHONPATH"))}
    os.execve(sys.executable, [sys.executable, *sys.argv[1:]], environment)


if __name__ == "__main__":
    main()
