"""The commands `loaderspec peers` and `loaderspec matrix`: decides what they take and what they print."""

import argparse
import datetime
import importlib
import json
import signal
import sys
import textwrap
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from conformance.clauses import CHAPTERS, CLAUSES
from conformance.contract import AdapterError
from conformance.matrix.environments import default_cache
from conformance.matrix.joined import earlier_matrix, joined, lacking
from conformance.matrix.judged import MatrixRun, Options
from conformance.peers.catalog import GROUPS, NOT_JUDGED, PEERS, Peer
from conformance.processes.origin import installed
from conformance.report.output import random_seed, what_is_in_the_way
from conformance.report.text import COLUMNS
from conformance.trial.tiers import TIERS

# What else a matrix is written as: the option, and the function that makes the text of it.
_FORMS = {
    "html": ("conformance.report.html.matrix", "matrix_page"),
    "markdown": ("conformance.report.markdown", "matrix_markdown"),
}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The options of `loaderspec matrix`."""
    parser.add_argument(
        "--only", help="names of peers, and with --into of clauses or chapters, with commas between them (default: all)"
    )
    parser.add_argument("--jobs", type=int, default=1, help="how many peers are judged at once (default 1)")
    parser.add_argument("--tier", default="gate", help="how much is tried: quick, gate (default) or deep")
    parser.add_argument("--seed", default="0", help="seed of the scenarios: a number, or 'random'")
    parser.add_argument("--seconds", type=float, default=3600.0, help="what one peer may take (default 3600)")
    parser.add_argument("--cache", type=Path, default=default_cache(), help="folder of the environments")
    parser.add_argument("--date", default="", help="the date that the matrix bears (default: today)")
    parser.add_argument("--into", help="a matrix that is there, as JSON: judge what it lacks, and keep what it has")
    parser.add_argument("--json", required=True, help="write the matrix as JSON")
    for form in _FORMS:
        parser.add_argument(f"--{form}", help=f"write it as {form} as well")


def peers() -> int:
    """Print the peers as a table."""
    rows = [("name", "loader", "group", "to install", "installed")]
    rows += [(peer.name, peer.title, peer.group, _to_install(peer), _installed(peer)) for peer in PEERS]
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    for row in rows:
        print("  ".join(word.ljust(width) for word, width in zip(row, widths, strict=True)).rstrip())
    for name, reason in NOT_JUDGED.items():
        print(textwrap.fill(f"not judged: {name}: {reason}", COLUMNS, subsequent_indent="  "))
    return 0


def matrix(given: argparse.Namespace) -> int:
    """Judge the peers and write the matrix. Exit code 0 if every one was judged, 1 if not, 4 for a wrong call."""
    try:
        names, clauses = told_apart(given.only, given.into)
        options = Options(
            given.cache, _tier(given.tier), random_seed(given.seed), _positive(given.jobs), given.seconds, clauses
        )
        earlier = earlier_matrix(given.into, options.tier, options.seed) if given.into is not None else None
        if clauses and earlier and names is None:
            chosen = [peer for peer in PEERS if peer not in lacking(earlier)]
        else:
            chosen = chosen_peers(names) if names is not None or not earlier else lacking(earlier)
        written = {form: Path(path) for form in ("json", *_FORMS) if (path := getattr(given, form))}
        writers = {form: _writer(form, path) for form, path in written.items()}
        date = _date(given.date)
    except AdapterError as error:
        print(f"loaderspec: {error}", file=sys.stderr)
        return 4
    runner = MatrixRun(chosen, options, _teller(chosen))
    # Who cancels a job loses none of the hour that it took, as with Ctrl-C.
    before = signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        found, code = runner.run(date), 0
    except KeyboardInterrupt:
        found, code = runner.found(date), 130
        print(
            f"loaderspec: interrupted; all that was started is ended. {len(found['peers'])} of {len(chosen)} peers are "
            f"written: --into={given.json} judges the others",
            file=sys.stderr,
        )
    finally:
        signal.signal(signal.SIGTERM, before)
    found = joined(earlier, found, clauses=bool(clauses)) if earlier else found
    for form, write in writers.items():
        written[form].write_text(write(found), encoding="utf-8")
    return code or (0 if all(peer["status"] == "judged" for peer in found["peers"]) else 1)


def told_apart(only: str | None, into: str | None) -> tuple[str | None, tuple[str, ...]]:
    """What --only says of peers, or None, and the clauses that it names. AdapterError without a matrix for these."""
    words = [word.strip() for word in only.split(",")] if only is not None else []
    chapters = [word for word in words if word in CHAPTERS or word in CLAUSES]
    clauses = tuple(name for name in CLAUSES if name in chapters or name.partition("-")[0] in chapters)
    if clauses and into is None:
        raise AdapterError(
            f"--only={only} names clauses, and there is no matrix whose cells are to be judged again; give --into=FILE"
        )
    peers = [word for word in words if word not in chapters]
    return (",".join(peers) if only is not None and (peers or not clauses) else None), clauses


def chosen_peers(only: str | None) -> list[Peer]:
    """The peers of these names, in their order. AdapterError if one is unknown."""
    names = [name.strip() for name in only.split(",") if name.strip()] if only is not None else []
    if only is None:
        return list(PEERS)
    known = {peer.name: peer for peer in PEERS}
    for name in names:
        if name not in known:
            raise AdapterError(
                f"--only={only} names {name!r}, which is no peer, clause or chapter; the peers are {', '.join(known)}"
            )
    if not names:
        raise AdapterError(f"--only={only} names no peer; the peers are {', '.join(known)}")
    return [known[name] for name in dict.fromkeys(names)]


def as_json(found: dict[str, Any]) -> str:
    """The matrix as text: a line for each value but the traces, which stand on one line each."""
    traces: dict[str, str] = {}

    def marked(value: Any) -> Any:
        if isinstance(value, dict) and "trace" in value:
            mark = f"\0trace {len(traces)}\0"
            traces[json.dumps(mark)] = json.dumps(value["trace"], sort_keys=True, ensure_ascii=False)
            return {**value, "trace": mark}
        if isinstance(value, dict):
            return {name: marked(each) for name, each in value.items()}
        return [marked(each) for each in value] if isinstance(value, list) else value

    text = json.dumps(marked(found), indent=1, ensure_ascii=False)
    for mark, trace in traces.items():
        text = text.replace(mark, trace)
    return text + "\n"


def _writer(form: str, path: Path) -> Callable[[dict[str, Any]], str]:
    """Before a run of minutes: what makes the text, and AdapterError if it can't be made or written."""
    amiss = what_is_in_the_way(path)
    if amiss:
        raise AdapterError(f"--{form}={path} can't be written: {amiss}; give a file in a folder that exists")
    if form == "json":
        return as_json
    module, function = _FORMS[form]
    try:
        made: Callable[[dict[str, Any]], str] = getattr(importlib.import_module(module), function)
    except (ModuleNotFoundError, AttributeError) as error:
        raise AdapterError(f"--{form}={path}: this version makes no {form} of a matrix; leave it out") from error
    return made


def _teller(chosen: Sequence[Peer]) -> Callable[[Peer, str], None]:
    width = max(len(peer.name) for peer in chosen)
    numbers = {peer.name: number for number, peer in enumerate(chosen, 1)}

    def tell(peer: Peer, words: str) -> None:
        print(f"[{numbers[peer.name]:>2}/{len(chosen)}] {peer.name:<{width}}  {words}", file=sys.stderr, flush=True)

    return tell


def _to_install(peer: Peer) -> str:
    pins = {pin.partition("==")[0].partition("[")[0]: pin for pin in GROUPS[peer.group].requires}
    return " ".join(pins.get(package, package) for package in peer.packages)


def _installed(peer: Peer) -> str:
    versions = {package: installed(package) for package in peer.packages}
    missing = [package for package, number in versions.items() if number is None]
    return f"no ({', '.join(missing)})" if missing else ", ".join(f"{name} {versions[name]}" for name in versions)


def _tier(tier: str) -> str:
    if tier not in TIERS:
        raise AdapterError(f"the tier {tier!r} is not one of {', '.join(TIERS)}; choose one of them")
    return tier


def _positive(jobs: int) -> int:
    if jobs < 1:
        raise AdapterError(f"--jobs={jobs} lets nobody work; give 1 or more")
    return jobs


def _date(given: str) -> str:
    try:
        return datetime.date.fromisoformat(given).isoformat() if given else datetime.date.today().isoformat()
    except ValueError as error:
        raise AdapterError(f"--date={given} is no date; write it as 2026-11-28") from error
