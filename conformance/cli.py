"""The command `loaderspec`: `run` judges an implementation, `plan` shows an epoch's numbers, `explain` a clause.

`watch` runs a training job as it is and says whether its data is right; `check` does so for one loader without the job.
`peers` lists the loaders of others that can be judged by name, and `matrix` judges them in environments of their own.
`report` and `verify` take what a run has written. `audit` judges the record of a training job. `bridge check` tests
the lines of a loader that is not Python. `init` writes an adapter, and `claims` finds out what it can promise.
"""

import argparse
import sys
import time
from collections.abc import Sequence
from difflib import get_close_matches
from pathlib import Path

from conformance.audit import command as audit_command
from conformance.bridge import check as bridge_check
from conformance.claiming import claims, init
from conformance.clauses import FAMILIES
from conformance.command import plan
from conformance.contract import AdapterError
from conformance.matrix import command as matrix_command
from conformance.processes.origin import installed
from conformance.processes.sources import source_of
from conformance.report import commands as reports
from conformance.report import explained as explain
from conformance.report import forms, progress
from conformance.report.output import Wanted, badness, block, random_seed, refuse_unwritable, write_files
from conformance.report.text import summary
from conformance.trial.clause import named
from conformance.trial.known import parse_case, read_known
from conformance.trial.progress import nothing
from conformance.trial.session import Options, Session
from conformance.trial.words import about, printable
from conformance.watch import check as check_command
from conformance.watch import command as watch_command

EXIT_GREEN, EXIT_USAGE = 0, 4


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command. Exit code 0: green; 1: a clause is violated; 2 or 4: the call or the adapter is wrong; 3: the
    suite itself failed.
    """
    words = sys.argv[1:] if arguments is None else list(arguments)
    if words[:1] == ["plan"]:
        return plan(words[1:])
    parser = argparse.ArgumentParser(prog="loaderspec", description=__doc__)
    parser.add_argument("--version", action="version", version=f"loaderspec {installed('loaderspec') or '(a clone)'}")
    commands = parser.add_subparsers(dest="command", required=True)
    _run_arguments(commands.add_parser("run", help="judge an implementation, like pytest conformance --impl=..."))
    explain.add_arguments(commands.add_parser("explain", help="print a clause, or what a case asks for"))
    commands.add_parser("plan", help="the numbers of an epoch: batches, ranks, replicas, steps")
    commands.add_parser("peers", help="list the loaders of others that can be judged by name")
    matrix_command.add_arguments(commands.add_parser("matrix", help="judge them all, each in its own environment"))
    reports.add_report_arguments(commands.add_parser("report", help="show a stored report in other forms"))
    bridge_check.add_arguments(commands.add_parser("bridge", help="test the lines of a loader that is not Python"))
    verify = commands.add_parser("verify", help="run a stored report again, and say whether the verdicts agree")
    reports.add_verify_arguments(verify)
    claims.add_arguments(commands.add_parser("claims", help="find out what a loader can promise"))
    init.add_arguments(commands.add_parser("init", help="write the adapter of a class or function"))
    audit_command.add_arguments(commands.add_parser("audit", help="judge what a training job's loaders delivered"))
    watch_command.add_arguments(
        commands.add_parser("watch", help="run a job and say whether its loaders delivered what they should")
    )
    check_command.add_arguments(commands.add_parser("check", help="the same of one loader, without the training"))
    if not words:
        parser.print_help()
        return EXIT_GREEN
    near = get_close_matches(words[0], commands.choices, 1) if words[0] not in commands.choices else []
    if near:
        parser.error(f"there is no command {words[0]!r}; did you mean {near[0]!r}?")
    given = parser.parse_args(words)
    return {
        "run": _run,
        "explain": explain.explained,
        "peers": lambda given: matrix_command.peers(),
        "matrix": matrix_command.matrix,
        "report": reports.report,
        "verify": reports.verify,
        "init": init.init,
        "bridge": bridge_check.main,
        "audit": audit_command.audit,
        "watch": watch_command.watch,
        "check": check_command.check,
        "claims": claims.claims,
    }[given.command](given)


def _run_arguments(parser: argparse.ArgumentParser) -> None:
    what = parser.add_mutually_exclusive_group(required=True)
    told = "built-in name, module, module:attribute, file.py or stdio:COMMAND"
    what.add_argument("impl", nargs="?", default=argparse.SUPPRESS, help=told)
    what.add_argument("--impl", default=argparse.SUPPRESS, help="the same, as pytest is told it")
    parser.add_argument("--tier", default="gate", help="how much is tried: quick, gate (default) or deep")
    parser.add_argument("--seed", default="0", help="seed of the scenarios: a number, or 'random'")
    parser.add_argument("--patience", type=float, default=10.0, help="seconds a rank may take over one scenario")
    parser.add_argument("--time-limit", type=float, help="seconds after which the run ends with the verdicts so far")
    parser.add_argument("-k", metavar="WORDS", help="only the clauses that these name, for example 'PART or COUNT-1'")
    parser.add_argument("-n", metavar="N", help="in this many processes, by pytest, whose output it then is")
    parser.add_argument("-v", "--verbose", action="store_true", help="name the clauses that are not claimed")
    parser.add_argument("-q", "--quiet", action="store_true", help="say nothing on standard error while it works")
    parser.add_argument("--strict", action="store_true", help="a violated SHOULD fails the run as well")
    parser.add_argument("--case", help="replay one case, for example PART-1-n1,w2,b1,keep")
    parser.add_argument("--known", help="TOML file of known failures")
    parser.add_argument("--write-known", help="write a template of known failures for what is violated")
    for name, words in forms.OPTIONS.items():
        parser.add_argument(f"--{name}", help=words)


def _run(given: argparse.Namespace) -> int:
    if given.n:
        return _by_pytest(given)
    files = {name: getattr(given, name.replace("-", "_")) for name in forms.OPTIONS}
    wanted = Wanted(files, given.write_known)
    try:
        refuse_unwritable(wanted)
        options = Options(
            tier=given.tier,
            seed=random_seed(given.seed),
            patience=given.patience,
            strict=given.strict,
            time_limit=given.time_limit,
            known=read_known(Path(given.known)) if given.known else {},
            case=parse_case(given.case) if given.case else None,
        )
        began = time.monotonic()
        chosen = named(given.k) if given.k else None
        source, name = source_of(given.impl)
        if not given.quiet:
            print(printable(progress.first_line(name, options.tier, len(FAMILIES))), file=sys.stderr, flush=True)
        is_seen = sys.stderr.isatty() and not given.quiet
        shows = progress.Line(progress.on_standard_error) if is_seen else nothing
        with Session(source, name, options, shows) as session:
            report = session.report(chosen)
            invalid = session.invalid
    except AdapterError as error:
        print(printable(f"loaderspec: {about(given.impl, str(error))}"), file=sys.stderr)
        return EXIT_USAGE
    unwritten = write_files(report, wanted)
    if invalid:
        what = "INVALID adapter " if report.exit_code == EXIT_USAGE else ""
        print(printable(f"loaderspec: {what}{given.impl}: {invalid}"), file=sys.stderr)
        return report.exit_code
    for outcome in sorted(report.outcomes, key=badness):
        # What has no case is told once, below the table.
        if outcome.status == "VIOLATED":
            print(block(outcome, report.implementation), end="\n\n")
    print(summary(report, verbose=given.verbose))
    if unwritten:
        print(f"loaderspec: {unwritten}", file=sys.stderr)
    if not given.quiet:
        print(f"judged in {time.monotonic() - began:.1f} s", file=sys.stderr)
    return report.exit_code


def _by_pytest(given: argparse.Namespace) -> int:
    """The same run in several processes: pytest's, with the same options."""
    import pytest

    # What pytest has a short name for; the others are ours.
    short = ("command", "n", "k", "quiet", "verbose")
    options = {name: value for name, value in vars(given).items() if name not in short}
    words = [
        f"--loaderspec-{name.replace('_', '-')}" + ("" if value is True else f"={value}")
        for name, value in options.items()
        if value not in (None, False)
    ]
    # pytest would rewrite what Hypothesis asserts, which is imported already.
    words += ["-W", "ignore::pytest.PytestAssertRewriteWarning"]
    words += [*(["-k", given.k] if given.k else []), *(["-q"] * given.quiet), *(["-v"] * given.verbose)]
    return int(pytest.main(["--pyargs", "conformance", "-n", given.n, *words]))
