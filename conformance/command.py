"""The door that the command `loaderspec` opens: what judges nothing is answered at once, all else goes on to `cli.py`.

`loaderspec plan` is arithmetic, and waits for neither torch nor the suite.
"""

import sys
from collections.abc import Sequence


def main() -> int:
    """Run the command with the words that the program was given; return the exit code."""
    words = sys.argv[1:]
    if words[:1] == ["plan"]:
        return plan(words[1:])
    return _judging(words)


def plan(words: Sequence[str]) -> int:
    """Show the numbers of an epoch."""
    from reference.rules.plan import command

    return command(words)


def _judging(words: Sequence[str]) -> int:
    # By its name: `cli` imports this module for the plan, as Python programs call it too.
    from importlib import import_module

    return int(import_module("conformance.cli").main(words))
