"""A matrix that is made in several runs: decides what an earlier one lacks, and how two are put together."""

from pathlib import Path
from typing import Any

from conformance.contract import AdapterError
from conformance.peers.catalog import PEERS, Peer
from conformance.report.json_report import specs_digest
from conformance.report.matrix import is_matrix
from conformance.report.stored import NoReport, read_json


def earlier_matrix(path: str, tier: str, seed: int) -> dict[str, Any]:
    """The matrix in a file. AdapterError if there is none, or if it was made in another way than this run's."""
    try:
        found: Any = read_json(Path(path))
    except NoReport as error:
        raise AdapterError(f"--into: {error}") from error
    if not is_matrix(found):
        raise AdapterError(f"--into={path} is no matrix; give the JSON that `loaderspec matrix` wrote")
    for name, mine in (("tier", tier), ("seed", seed), ("specs", specs_digest())):
        if found[name] != mine:
            raise AdapterError(
                f"--into={path} was made with {name} {found[name]}, and this run with {mine}; what is put together "
                "must be of one kind: judge all peers anew"
            )
    return dict(found)


def lacking(earlier: dict[str, Any]) -> list[Peer]:
    """The peers of which the matrix has no report."""
    judged = {peer["name"] for peer in earlier["peers"] if peer["status"] == "judged"}
    return [peer for peer in PEERS if peer.name not in judged]


def joined(earlier: dict[str, Any], now: dict[str, Any]) -> dict[str, Any]:
    """The later matrix with the peers that only the earlier one has, in the order of the list of peers."""
    entries = {entry["name"]: entry for entry in [*earlier["peers"], *now["peers"]]}
    order = [peer.name for peer in PEERS]
    return {**now, "peers": sorted(entries.values(), key=lambda entry: order.index(entry["name"]))}
