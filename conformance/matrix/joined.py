"""A matrix that is made in several runs: decides what an earlier one lacks, and how two are put together."""

from collections import Counter
from pathlib import Path
from typing import Any

from conformance.clauses import CLAUSES
from conformance.contract import AdapterError
from conformance.peers.catalog import PEERS, Peer
from conformance.report.guarantees import guarantees
from conformance.report.json_report import clause_digest, specs_digest
from conformance.report.matrix import is_matrix
from conformance.report.stored import NoReport, claims_of, read_json
from conformance.trial.outcome import Outcome, Report

# What each entry of a matrix says.
_OF_A_PEER = ("name", "title", "group", "link", "packages", "status", "note", "seconds", "report")


def earlier_matrix(path: str, tier: str, seed: int) -> dict[str, Any]:
    """The matrix in a file. AdapterError if there is none, or if it was made in another way than this run's."""
    try:
        found: Any = read_json(Path(path))
    except NoReport as error:
        raise AdapterError(f"--into: {error}") from error
    if not is_matrix(found):
        raise AdapterError(f"--into={path} is no matrix; give the JSON that `loaderspec matrix` wrote")
    amiss = _what_is_odd(found)
    if amiss:
        raise AdapterError(f"--into={path} {amiss}; give the JSON that `loaderspec matrix` wrote, unchanged")
    # The clauses may have changed since: each cell tells by whose words it was judged.
    for name, mine in (("tier", tier), ("seed", seed)):
        if found.get(name) != mine:
            raise AdapterError(
                f"--into={path} was made with {name} {found.get(name)}, and this run with {mine}; what is put together "
                "must be of one kind: judge all peers again"
            )
    return dict(found)


def _what_is_odd(found: dict[str, Any]) -> str:
    """Why the peers of a matrix can't be put together with others, or ""."""
    peers = found.get("peers")
    if not isinstance(peers, list) or not all(isinstance(each, dict) for each in peers):
        return "has no list of peers"
    for each in peers:
        missing = [name for name in _OF_A_PEER if name not in each]
        if missing:
            return f"has a peer without {missing[0]!r}"
        if each["name"] not in {peer.name for peer in PEERS}:
            return f"has the peer {each['name']!r}, which this version does not know"
    return ""


def lacking(earlier: dict[str, Any]) -> list[Peer]:
    """The peers of which the matrix has no report."""
    judged = {peer["name"] for peer in earlier["peers"] if peer["status"] == "judged"}
    return [peer for peer in PEERS if peer.name not in judged]


def joined(earlier: dict[str, Any], now: dict[str, Any], clauses: bool = False) -> dict[str, Any]:
    """The later matrix with the peers that only the earlier one has, in the order of the list of peers.

    `clauses`: only some were judged again, and the other cells of a peer stay as they were.
    """
    entries = {entry["name"]: entry for entry in earlier["peers"]}
    for entry in now["peers"]:
        before = entries.get(entry["name"])
        if not clauses:
            entries[entry["name"]] = entry
        elif before and before["report"] and entry["report"]:
            entries[entry["name"]] = {**entry, "report": with_cells(before["report"], entry["report"])}
    order = [peer.name for peer in PEERS]
    return {**now, "peers": sorted(entries.values(), key=lambda entry: order.index(entry["name"]))}


def with_cells(earlier: dict[str, Any], now: dict[str, Any]) -> dict[str, Any]:
    """The earlier report of a peer with the clauses that were judged again."""
    fresh = earlier["specs"] == specs_digest()
    known = {
        # A report of an earlier version does not tell the words of a clause; "" stands for none that are known.
        name: {"words": clause_digest(name) if fresh and name in CLAUSES else "", **clause}
        for name, clause in earlier["clauses"].items()
    }
    both = {**known, **now["clauses"]}
    outcomes = tuple(
        Outcome(name, each["level"], each["status"], each["exercised"], exit_code=1)
        for name, each in both.items()
        if name in CLAUSES
    )
    report = Report(
        now["implementation"], claims_of(now["claims"]), now["tier"], now["seed"], outcomes, bool(now["strict"])
    )
    counts = Counter(each["status"] for each in both.values())
    promised = {"passed": report.passed, "guarantees": list(guarantees(report))}
    return {**now, "clauses": both, "counts": dict(counts), **promised}
