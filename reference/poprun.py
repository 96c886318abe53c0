"""Decides what `poprun` (or `python -m reference.poprun`) does: start one program several times, as one job.

    poprun --num-replicas 8 --num-instances 4 python step3.py

Exit codes: that of the first instance which failed, 128 + n if signal n ended it, and 0 if all have succeeded; 2 for a
command line that can't be carried out, 127 for a program that isn't there. What poprun itself says, it says on stderr.
"""

import os
import shutil
import sys
from collections.abc import Sequence

from .launch.flags import USAGE, Launch, Refused, parse
from .launch.shims import note_of_hidden

_REFUSED = 2
_NOT_FOUND = 127


def main(words: Sequence[str] | None = None) -> int:
    """Carry out a command line and return the exit code."""
    given = list(sys.argv[1:] if words is None else words)
    if given[:1] in (["-h"], ["--help"]):
        print(f"{USAGE}\n\n{__doc__.strip()}")
        return 0
    # LAUNCH-3: all of this comes before anything is started.
    try:
        launch = parse(given)
    except Refused as error:
        _say(str(error))
        return _REFUSED
    if shutil.which(launch.program[0]) is None:
        _say(_missing(launch.program[0]))
        return _NOT_FOUND
    return _run(launch)


def _run(launch: Launch) -> int:
    if launch.without_effect:
        _say(f"No effect, as there is no such hardware or placement here: {', '.join(launch.without_effect)}.")
    note = note_of_hidden()
    if note:
        _say(note)
    # Only now: a refusal needn't wait for torch's launcher to be imported.
    from .launch.launching import run

    outcome = run(launch)
    if outcome.sentence:
        _say(outcome.sentence)
    return outcome.exit_code


def _missing(program: str) -> str:
    if program.endswith(".py") and os.path.exists(program):
        return f"{program} can't be executed as it is: write python before it."
    return f"There is no program {program}: give one that is on the PATH, or its path."


def _say(sentence: str) -> None:
    print(f"poprun: {sentence}", file=sys.stderr, flush=True)


if __name__ == "__main__":
    sys.exit(main())
