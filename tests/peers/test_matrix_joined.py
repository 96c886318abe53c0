"""A matrix that is made in several runs."""

import json
import os
import signal
from pathlib import Path
from typing import Any

import pytest

from conformance.cli import main
from conformance.contract import AdapterError, parse_claims
from conformance.matrix.command import told_apart
from conformance.matrix.joined import joined, lacking, with_cells
from conformance.matrix.judged import MatrixRun, Options
from conformance.peers.catalog import PEERS, Peer
from conformance.report.json_report import as_json, specs_digest
from conformance.report.matrix import PeerColumn
from conformance.report.stored import stored
from conformance.trial.outcome import Outcome, Report


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
    """Peers that failed, and those that are not there, are judged when a matrix is continued."""
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


def report_of(specs: str, **statuses: str) -> dict[str, Any]:
    """A report as a run writes it, with these outcomes of clauses."""
    claims = parse_claims({"when_keeping": "uneven"})
    outcomes = [Outcome(name.replace("_", "-"), "MUST", status, 9) for name, status in statuses.items()]  # type: ignore[arg-type]
    return {**json.loads(as_json(Report("torch", claims, "gate", 0, tuple(outcomes)))), "specs": specs}


def test_cells_that_are_judged_again_replace_the_old_ones() -> None:
    """The others stay, stale if their words have changed; counts, verdict and guarantees are those of all cells."""
    earlier = report_of("other words", PART_1="VIOLATED", PART_2="HOLDS")
    for clause in earlier["clauses"].values():
        del clause["words"]
    both = stored(with_cells(earlier, report_of(specs_digest(), PART_1="HOLDS")))
    assert [("PART-1", "HOLDS", False), ("PART-2", "HOLDS", True)] == [
        (row.clause, row.status, row.stale) for row in both.rows
    ]
    assert (True, {"HOLDS": 2}) == (both.passed, both.raw["counts"])
    assert ("unshuffled, without drop_last delivers exactly once",) == both.guarantees


def test_a_clause_of_other_words_is_stale() -> None:
    """Each clause of a report tells its words, so that only those that have changed are stale."""
    found = report_of("other words", PART_1="HOLDS", PART_2="HOLDS")
    found["clauses"]["PART-2"]["words"] = "0" * 12
    assert [("PART-1", False), ("PART-2", True)] == [(row.clause, row.stale) for row in stored(found).rows]


@pytest.mark.parametrize(("clause", "cell"), [("LOOP-7", "NOT CLAIMED"), ("PART-2", None)])
def test_a_new_clause_that_asks_nothing_of_a_loader_is_not_stale(clause: str, cell: str | None) -> None:
    """The claims in its report say so; what they do claim was not judged yet."""
    peer = PeerColumn("torch", "torch", "", "", "", "judged", "", stored(report_of(specs_digest(), PART_1="HOLDS")))
    row = peer.row(clause)
    assert (cell, cell is None) == (row.status if row else None, peer.is_stale(clause))


def test_clauses_are_judged_again_in_a_matrix_alone() -> None:
    """A chapter stands for its clauses; beside peers it narrows them down; without a matrix it is an error."""
    assert (None, ()) == told_apart(None, None)
    assert ("torch,spdl", ()) == told_apart("torch,spdl", None)
    assert (None, ("PART-1",)) == told_apart("PART-1", "matrix.json")
    peers, clauses = told_apart("LEAK,torch", "matrix.json")
    assert ("torch", ["LEAK-1", "LEAK-2", "LEAK-3", "LEAK-4", "LEAK-5", "LEAK-6"]) == (peers, sorted(clauses))
    with pytest.raises(AdapterError, match="--only=PART-1 names clauses, and there is no matrix"):
        told_apart("PART-1", None)


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


def test_a_run_that_is_cancelled_writes_what_is_done(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """SIGTERM ends it as Ctrl-C does, with the matrix written, and leaves the signal as it was."""
    before = signal.getsignal(signal.SIGTERM)
    monkeypatch.setattr(MatrixRun, "run", lambda run, date: os.kill(os.getpid(), signal.SIGTERM) or run.found(date))
    written = tmp_path / "matrix.json"
    assert 130 == main(["matrix", "--only=torch", f"--json={written}"])
    assert [] == json.loads(written.read_text("utf-8"))["peers"]
    assert before == signal.getsignal(signal.SIGTERM)
