"""A matrix that is made in several runs."""

import json
from pathlib import Path
from typing import Any

import pytest

from conformance.cli import main
from conformance.matrix.joined import joined, lacking
from conformance.matrix.judged import MatrixRun, Options
from conformance.peers.catalog import PEERS, Peer
from conformance.report.json_report import specs_digest


def matrix_of(**statuses: str) -> dict[str, Any]:
    """A matrix with these peers."""
    peers = [{"name": name.replace("_", "-"), "status": status} for name, status in statuses.items()]
    return {"schema": 1, "tier": "gate", "seed": 0, "specs": specs_digest(), "peers": peers}


def test_a_later_report_stands_for_an_earlier_one() -> None:
    """Peers stand in the order of the list, each with what was found last."""
    both = joined(matrix_of(torch="judged", spdl="failed"), matrix_of(spdl="judged", accelerate="judged"))
    assert [("torch", "judged"), ("accelerate", "judged"), ("spdl", "judged")] == [
        (peer["name"], peer["status"]) for peer in both["peers"]
    ]


def test_what_has_no_report_is_lacking() -> None:
    """Peers that failed, and those that are not there, are judged when a matrix is gone on with."""
    names = [peer.name for peer in lacking(matrix_of(torch="judged", spdl="failed"))]
    assert [peer.name for peer in PEERS if peer.name != "torch"] == names


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ({"tier": "quick"}, "was made with tier quick, and this run with gate"),
        ({"seed": 3}, "was made with seed 3, and this run with 0"),
        ({"peers": None}, "is no matrix"),
        ({"tier": None}, "was made with tier None"),
        ({"peers": 7}, "has no list of peers"),
        ({"peers": ["torch"]}, "has no list of peers"),
        ({"peers": [{"name": "torch"}]}, "has a peer without 'title'"),
    ],
)
def test_what_does_not_belong_together_is_refused(
    change: dict[str, Any], sentence: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Reports of another tier or seed are not put beside this run's, and nothing is begun."""
    earlier = {name: value for name, value in {**matrix_of(), **change}.items() if value is not None}
    (tmp_path / "earlier.json").write_text(json.dumps(earlier))
    assert 4 == main(["matrix", f"--into={tmp_path / 'earlier.json'}", f"--json={tmp_path / 'matrix.json'}"])
    assert sentence in capsys.readouterr().err


def test_what_is_done_when_a_run_is_interrupted_is_there(tmp_path: Path) -> None:
    """The peers before the interrupt are in the matrix, the others are not."""
    first, second = PEERS[:2]

    def tell(peer: Peer, words: str) -> None:
        if peer == second:
            raise KeyboardInterrupt

    matrix = MatrixRun([first, second], Options(tmp_path), tell)
    matrix.done[first.name] = {"name": first.name}
    matrix.peers = [second]
    with pytest.raises(KeyboardInterrupt):
        matrix.run("2026-11-28")
    matrix.peers = [first, second]
    assert [{"name": first.name}] == matrix.found("2026-11-28")["peers"]
