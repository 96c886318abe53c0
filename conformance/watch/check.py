"""`loaderspec check train.py:make_loader`: decides the words of the command. The loader is judged without training."""

import argparse
import ast
import sys
import tempfile
from pathlib import Path
from typing import Any

from conformance.audit import accepted
from conformance.audit.verdict import Verdict
from conformance.records.names import NoIdentity
from conformance.watch.checking import Ranks, ranks
from conformance.watch.command import EXIT_USAGE, add_identity, positive
from conformance.watch.options import Options
from conformance.watch.preflight import check_accepted, check_identify
from conformance.watch.sweep import command, length_holds, shortest, smallest
from conformance.watch.targets import SetUp, Unfit
from conformance.watch.verdicts import most_samples, report, verdict_of


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The words of `loaderspec check`."""
    parser.add_argument("target", help="file.py:function, file.py:loader, or with a module: a loader or what makes one")
    parser.add_argument("--world-size", type=positive, default=2, help="ranks, each a process of its own (default 2)")
    parser.add_argument("--epochs", type=positive, default=2, help="how often each loader is read (default 2)")
    parser.add_argument("--num-workers", type=int, help="for the function's parameter num_workers, or for a stream")
    parser.add_argument("--batch-size", type=positive, help="for the function's parameter batch_size, or for a stream")
    parser.add_argument("--seed", type=int, help="for the function's parameter seed")
    parser.add_argument("--drop-last", action=argparse.BooleanOptionalAction, help="for the parameter drop_last")
    parser.add_argument("--length", type=positive, help="let the dataset have its first samples only")
    parser.add_argument("--set", metavar="NAME=VALUE", action="append", default=[], help="any other parameter")
    parser.add_argument("--sweep", action="store_true", help="find the smallest set-up that shows the first finding")
    parser.add_argument("--patience", type=float, default=60.0, help="seconds for one set-up (default 60)")
    add_identity(parser)


def check(given: argparse.Namespace) -> int:
    """Judge a target, and with --sweep look for the smallest set-up. Exit code: 0, 1 with findings, 2 if it can't be
    carried out, 3 if nothing was read or it can't be told who samples are.
    """
    try:
        setup = SetUp(
            world_size=given.world_size,
            num_workers=given.num_workers,
            batch_size=given.batch_size,
            drop_last=given.drop_last,
            seed=given.seed,
            epochs=given.epochs,
            length=given.length,
            values=dict(_value(word) for word in given.set),
        )
        check_identify(given.identify)
        check_accepted()
        options = Options(id_field=given.id_field, identify=given.identify, same_data=tuple(given.same_data))
        with tempfile.TemporaryDirectory() as folder, ranks(options, given.patience) as running:
            return _checked(running, setup, Path(folder) / "record", given)
    except (Unfit, accepted.Unfit, NoIdentity) as error:
        print(f"loaderspec check: {error}", file=sys.stderr)
        return EXIT_USAGE


def _checked(running: Ranks, setup: SetUp, folder: Path, given: argparse.Namespace) -> int:
    verdict, stale = _verdict(running, setup, folder, given)
    print(report(verdict, [], stale, "checked"))
    if not given.sweep:
        return verdict.exit_code
    if not verdict.findings:
        print("no smaller set-up was looked for: there is no finding to show")
        return verdict.exit_code
    _sweep(running, setup, folder, given, verdict)
    return verdict.exit_code


def _sweep(running: Ranks, setup: SetUp, folder: Path, given: argparse.Namespace, verdict: Verdict) -> None:
    """Print the smallest set-up that shows the first finding, and what could not be made smaller."""
    first = verdict.findings[0]
    loader = next(group.key for group in verdict.groups if first in group.findings)
    length = running.length if given.length is None else None

    def shows(smaller: SetUp) -> bool:
        return any(first.id == each.id for each in _verdict(running, smaller, folder, given)[0].findings)

    def samples(smaller: SetUp) -> int:
        running.record(given.target, smaller, folder)
        return most_samples(folder, loader)

    found = smallest(shows, setup, running.parameters)
    holds = length is None or length_holds(samples, found, length)
    if length is not None and holds:
        found = shortest(shows, found, length)
    print(f"smallest set-up that shows {first.id}:   {command(given.target, found, _more(given))}")
    if found == setup:
        print("no smaller one that was tried shows it")
    if not holds:
        print("--length has no hold: the sampler has a length of its own, and more samples come than the dataset says")


def _verdict(running: Ranks, setup: SetUp, folder: Path, given: argparse.Namespace) -> tuple[Verdict, list[str]]:
    running.record(given.target, setup, folder)
    # A module may make other loaders when it is imported: they were not asked for.
    verdict, told = verdict_of(folder, given.same_data, samples=given.samples)
    return verdict.of_iterated(), told


def _more(given: argparse.Namespace) -> list[str]:
    words = [f"--same-data={','.join(map(str, group))}" for group in given.same_data]
    words += [each.where.replace(" ", "=") for each in given.samples]
    words += [f"--id-field={given.id_field}"] if given.id_field else []
    return words + ([f"--identify={given.identify}"] if given.identify else [])


def _value(word: str) -> tuple[str, Any]:
    """``length=100`` as a name and a value: a number, a text in quotes, a list; anything else is text."""
    name, equals, text = word.partition("=")
    if not equals or not name.isidentifier():
        raise Unfit(f"--set takes NAME=VALUE, and {word!r} is something else")
    try:
        return name, ast.literal_eval(text)
    except (ValueError, SyntaxError):
        return name, text
