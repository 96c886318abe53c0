"""`loaderspec audit`: decides what is read, what is printed where, and the exit code."""

import argparse
import json
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from conformance.audit.accepted import Unfit
from conformance.audit.accepting import accepting
from conformance.audit.counted import configured, counted
from conformance.audit.engines import NoEngine, engine
from conformance.audit.page import write_page
from conformance.audit.partial import NoPartial, merged, read_partial, write_partial
from conformance.audit.summary import Summary
from conformance.audit.text import shown
from conformance.audit.verdict import Verdict, judged
from conformance.trial.words import count

EXIT_WRITTEN, EXIT_USAGE = 0, 2
# Who a sample is stands in the record: words of `watch` that an audit can't carry out, and what it says of them.
CHOSEN_BEFORE = ("--id-field", "--identify")
_CHOSEN = "who a sample is, is chosen when a job is recorded: `loaderspec watch --id-field F`, or record(loader, ids=F)"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The words of `loaderspec audit`."""
    parser.add_argument("folder", nargs="?", type=Path, help="a record, or a folder of records")
    help_ = "ranks that must get the same data, for example 0,1; may be given several times"
    parser.add_argument("--same-data", metavar="RANKS", action="append", default=[], type=ranks, help=help_)
    add_samples(parser)
    parser.add_argument("--partial", metavar="FILE", type=Path, help="write a summary of these files instead")
    parser.add_argument("--merge", metavar="FILE", type=Path, nargs="+", help="judge summaries that --partial wrote")
    parser.add_argument("--engine", default="local", help="where files are read: local, or ray: on a Ray cluster")
    parser.add_argument("--html", metavar="FOLDER", type=Path, help="write a page with a picture of the delivery there")
    parser.add_argument("--json", action="store_true", help="print the verdict as JSON")
    for name in CHOSEN_BEFORE:
        parser.add_argument(name, help=argparse.SUPPRESS)


def add_samples(parser: argparse.ArgumentParser) -> None:
    """The word that all commands have which judge: how many samples there are."""
    parser.add_argument(
        "--samples",
        metavar="N",
        action="append",
        default=[],
        type=counted,
        help="how many different samples an iterable dataset or a generator has that trains; LINE=N or FILE:LINE=N for "
        "the loader of a line; may be repeated",
    )


def ranks(words: str) -> tuple[int, ...]:
    """``0,1`` as ranks. ArgumentTypeError if it is no list of at least two ranks."""
    try:
        found = tuple(int(word) for word in words.split(","))
    except ValueError:
        found = ()
    if len(set(found)) < 2 or min(found) < 0:
        raise argparse.ArgumentTypeError(f"{words!r} is no group of ranks; give at least two, for example 0,1")
    return found


def audit(given: argparse.Namespace) -> int:
    """Judge a record. Code 0: nothing found; 1: findings; 2: the call is wrong; 3: nothing was recorded."""
    if given.id_field or given.identify:
        return _usage(_CHOSEN)
    if (given.folder is None) == (given.merge is None):
        return _usage("give the folder of a record, or --merge and the files that --partial wrote")
    try:
        summary = merged(map(read_partial, given.merge)) if given.merge else _gathered(given.folder, given.engine)
        if given.partial:
            write_partial(summary, given.partial)
            print(f"{given.partial}: {_what(summary)}")
            return EXIT_WRITTEN
    except (NoPartial, NoEngine, OSError) as error:
        return _usage(str(error))
    try:
        judgement = judged(summary, given.same_data, [*given.samples, *configured(Path.cwd())])
        if judgement.unknown:
            return _usage(judgement.unknown)
        verdict, told = accepting(judgement)
        page = write_page(summary, verdict, given.html) if given.html else None
    except (Unfit, OSError) as error:
        return _usage(str(error))
    print(as_json(verdict, told) if given.json else "\n".join([shown(verdict), *told]))
    if page is not None and not given.json:
        print(f"picture: {page}")
    return verdict.exit_code


def as_json(verdict: Verdict, acceptances: Sequence[str] = ()) -> str:
    """The verdict as a JSON object: loaders with their findings and notes, and what is said of the record and of
    acceptances.
    """
    loaders = [{**asdict(group), "key": list(group.key)} for group in verdict.groups]
    told: dict[str, Any] = {"schema": 1, "recorded": verdict.recorded, "notes": verdict.notes, "loaders": loaders}
    return json.dumps({**told, "acceptances": list(acceptances)}, indent=2)


def _gathered(folder: Path, name: str) -> Summary:
    gather = engine(name)
    with Progress() as progress:
        return gather(folder, progress)


def _what(summary: Summary) -> str:
    ranks = {process.rank for process in summary.processes if process.has_epochs}
    return f"{count(len(ranks), 'rank')}, {count(len(summary.groups), 'loader')}"


def _usage(text: str) -> int:
    print(f"loaderspec: {text}", file=sys.stderr)
    return EXIT_USAGE


class Progress:
    """How far reading has come, on standard error: on a terminal only, and not before a second has passed."""

    def __init__(self, stream: Any = None, clock: Callable[[], float] = time.monotonic) -> None:
        self._stream = stream or sys.stderr
        self._clock = clock
        self._begun = self._told = clock()
        self._shown = False

    def __enter__(self) -> "Progress":
        return self

    def __exit__(self, *_: object) -> None:
        if self._shown:
            self._stream.write("\r\x1b[K")

    def __call__(self, done: int, all_of_it: int) -> None:
        """This many bytes of this many are read."""
        now = self._clock()
        if now - self._told < 1.0 or not done or not self._stream.isatty():
            return
        self._told, self._shown = now, True
        left = (now - self._begun) * (all_of_it - done) / done
        self._stream.write(f"\r\x1b[Kreading the record: {done / all_of_it:.0%}, about {left:.0f} s to go")
        self._stream.flush()
