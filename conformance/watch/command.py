"""`loaderspec watch -- COMMAND`: decides the words of the command, and what its exit code says."""

import argparse
import os
import sys
import time
from pathlib import Path

from conformance.audit.accepted import Unfit
from conformance.audit.command import add_samples, ranks
from conformance.records.names import NoIdentity
from conformance.watch.folder import Foreign, prepare, said, tidy
from conformance.watch.launch import NOT_FOUND, Ended, NoProgram, run
from conformance.watch.options import Options, environment
from conformance.watch.over import how_ended
from conformance.watch.preflight import check_accepted, check_identify
from conformance.watch.unseen import unseen
from conformance.watch.verdicts import report, verdict_of

EXIT_USAGE = 2


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The words of `loaderspec watch`."""
    parser.add_argument("--steps", type=positive, help="stop the job politely after this many batches of a loader")
    parser.add_argument("--seconds", type=float, help="stop the job politely after this many seconds")
    parser.add_argument("--into", metavar="DIR", type=Path, help="the record's folder; a restart goes on in it")
    parser.add_argument("--html", metavar="DIR", type=Path, help="write a page with a picture of the delivery there")
    add_identity(parser)
    parser.add_argument("job", nargs=argparse.REMAINDER, metavar="-- COMMAND", help="the job, as it is started today")


def add_identity(parser: argparse.ArgumentParser) -> None:
    """The words that `watch` and `check` have in common: who a sample is, how many there are, and which
    ranks may have the same.
    """
    parser.add_argument(
        "--same-data",
        metavar="0,1",
        action="append",
        default=[],
        type=ranks,
        help="ranks that get the same batches by design: tensor, pipeline or context parallel; may be repeated",
    )
    add_samples(parser)
    parser.add_argument("--id-field", metavar="F", help="the field that identifies a sample")
    parser.add_argument("--identify", metavar="M:F", help="a function that identifies a sample: module:function")


def positive(text: str) -> int:
    """A number from 1 on."""
    if not text.isdigit() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"{text!r} is no number from 1 on")
    return int(text)


def watch(given: argparse.Namespace) -> int:
    """Run the job and judge what its loaders delivered. Exit code: 1 with findings, 3 if --id-field or --identify can't
    tell who samples are, else that of the job; 3 if the job ended well and nothing was recorded, 2 for a call that
    can't be carried out.
    """
    job = given.job[1:] if given.job[:1] == ["--"] else given.job
    if not job:
        return _refused("say which job: `loaderspec watch -- python train.py`")
    options = Options(
        steps=given.steps,
        deadline=time.time() + given.seconds if given.seconds is not None else None,
        seconds=given.seconds,
        id_field=given.id_field,
        identify=given.identify,
        same_data=tuple(given.same_data),
    )
    try:
        check_identify(given.identify, job)
        check_accepted()
        folder = prepare(given.into)
        ended = run(job, environment(folder, options, dict(os.environ)), folder, options.deadline)
    except (Foreign, NoIdentity, Unfit) as error:
        return _refused(str(error))
    except NoProgram as error:
        _refused(str(error))
        return NOT_FOUND
    tidy(folder)
    return _judged(folder, job, ended, given)


def _judged(folder: Path, job: list[str], ended: Ended, given: argparse.Namespace) -> int:
    heard = list(said(folder))
    over = how_ended(heard, ended)
    verdict, stale = verdict_of(folder, given.same_data, ended.stopped, given.html, over, given.samples)
    first = list(unseen(job, heard))
    if ended.forced:
        first.append(f"The job was ended by a signal: {ended.forced}. It may hang: where, its findings may say.")
    # The job's own output is its own: the report is beside it.
    print(report(verdict, first, stale, "watched"), file=sys.stderr)
    if verdict.findings or verdict.unnamed or verdict.unknown:
        return verdict.exit_code
    return 0 if ended.stopped else ended.code or verdict.exit_code


def _refused(sentence: str) -> int:
    print(f"loaderspec watch: {sentence}", file=sys.stderr)
    return EXIT_USAGE
