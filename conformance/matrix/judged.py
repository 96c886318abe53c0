"""The matrix: decides how a peer is judged in its environment, and the JSON that the reports are put together in.

The form, version 1; `report` is what `conformance/report/json_report.py` describes, or null:

    schema, tier, seed, date, machine
    suite       {"name", "version"}
    specs       digest of the clauses' text
    peers       [{"name", "title", "group", "link", "packages": {name: version}, "status", "note", "seconds", "report"}]

The status is "judged", "not installed" (the note says what pip says) or "failed" (no report came; the note says why).
"""

import json
import os
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from conformance.matrix.environments import NotInstalled, copy_of_the_suite, environment, machine
from conformance.matrix.processes import Processes
from conformance.peers.catalog import GROUPS, Peer
from conformance.processes.origin import installed
from conformance.report.json_report import specs_digest

SCHEMA = 1
_VERSION_SECONDS = 60.0
_VERSIONS = (
    "import json, sys; from importlib.metadata import version; print(json.dumps({n: version(n) for n in sys.argv[1:]}))"
)
_PROGRAM = "import sys; from conformance.cli import main; sys.exit(main())"


@dataclass(frozen=True)
class Options:
    """How the peers are judged: the same for all of them. `seconds` bounds one peer's run.

    `clauses`: the only ones that are judged; () for all.
    """

    cache: Path
    tier: str = "gate"
    seed: int = 0
    jobs: int = 1
    seconds: float = 3600.0
    clauses: tuple[str, ...] = ()


@dataclass
class MatrixRun:
    """A run over some peers. `tell(peer, words)` is called as they get on, from any thread."""

    peers: Sequence[Peer]
    options: Options
    tell: Callable[[Peer, str], None]
    processes: Processes = field(default_factory=Processes)
    done: dict[str, dict[str, Any]] = field(default_factory=dict)
    _locks: dict[str, threading.Lock] = field(default_factory=lambda: {name: threading.Lock() for name in GROUPS})

    def run(self, date: str) -> dict[str, Any]:
        """Judge them all; what one of them does is no other's loss."""
        with tempfile.TemporaryDirectory(prefix="loaderspec-matrix-") as folder:
            suite = copy_of_the_suite(Path(folder, "suite"))
            with ThreadPoolExecutor(self.options.jobs) as threads:
                try:
                    list(threads.map(lambda peer: self._note(peer, suite, Path(folder)), self.peers))
                except BaseException:
                    self.processes.end_all()
                    raise
        return self.found(date)

    def found(self, date: str) -> dict[str, Any]:
        """The matrix of the peers that are done."""
        return {
            "schema": SCHEMA,
            "suite": {"name": "loaderspec", "version": installed("loaderspec") or "not installed"},
            "specs": specs_digest(),
            "tier": self.options.tier,
            "seed": self.options.seed,
            "date": date,
            "machine": machine(),
            "peers": [self.done[peer.name] for peer in self.peers if peer.name in self.done],
        }

    def _note(self, peer: Peer, suite: Path, folder: Path) -> None:
        entry = self._peer(peer, suite, folder)
        if not self.processes.ended:
            self.done[peer.name] = entry

    def _peer(self, peer: Peer, suite: Path, folder: Path) -> dict[str, Any]:
        self.tell(peer, "its environment ...")
        began = time.monotonic()
        try:
            # Two peers of one group wait for one environment, and don't both make it.
            with self._locks[peer.group]:
                python = environment(peer.group, GROUPS[peer.group], self.options.cache, self.processes)
        except NotInstalled as error:
            self.tell(peer, f"not installed: {error}")
            return _entry(peer, {}, "not installed", str(error), time.monotonic() - began, None)
        self.tell(peer, "being judged ...")
        began = time.monotonic()
        packages = self._versions(python, peer)
        report, note = self._judge(python, peer, suite, folder / peer.name)
        status = "judged" if report else "failed"
        seconds = time.monotonic() - began
        self.tell(peer, f"{_counts(report) if report else f'failed: {note}'} ({seconds:.0f} s)")
        return _entry(peer, packages, status, note, seconds, report)

    def _versions(self, python: Path, peer: Peer) -> dict[str, str]:
        ran = self.processes.run([str(python), "-c", _VERSIONS, *peer.packages], _VERSION_SECONDS)
        return dict(json.loads(ran.output)) if ran.code == 0 else {}

    def _judge(self, python: Path, peer: Peer, suite: Path, folder: Path) -> tuple[dict[str, Any] | None, str]:
        """The report of a run in its environment, or why there is none."""
        folder.mkdir()
        options = self.options
        words = [f"--tier={options.tier}", f"--seed={options.seed}", f"--patience={peer.patience:g}"]
        words += ["-k", " or ".join(options.clauses)] if options.clauses else []
        # A fresh temporary folder: some peers look at what others have left there. Its path must be short: workers make
        # sockets far below it, whose paths may have a hundred characters, and wait forever where they are longer.
        with tempfile.TemporaryDirectory(prefix="lm-") as temporary:
            ran = self.processes.run(
                [str(python), "-c", _PROGRAM, "run", peer.name, *words, "--report-json=report.json"],
                options.seconds,
                folder,
                {**_clean(), "PYTHONPATH": str(suite), "TMPDIR": temporary, "OMP_NUM_THREADS": "1"},
            )
        report = folder / "report.json"
        if ran.code not in (0, 1) or not report.is_file():
            return None, ran.last_words(f"it was not judged within {options.seconds:g} s")
        return json.loads(report.read_text(encoding="utf-8")), ""


def _clean() -> dict[str, str]:
    # What this process was started with must not decide what is imported there.
    return {name: value for name, value in os.environ.items() if name not in ("PYTHONHOME", "VIRTUAL_ENV")}


def _counts(report: dict[str, Any]) -> str:
    clauses = report["clauses"].values()
    should = Counter(clause["status"] for clause in clauses if clause["level"] == "SHOULD")["VIOLATED"]
    counts = {**report["counts"], "VIOLATED (SHOULD)": should}
    counts["VIOLATED"] = counts.get("VIOLATED", 0) - should
    return ", ".join(f"{number} {status}" for status, number in sorted(counts.items()) if number)


def _entry(
    peer: Peer, packages: dict[str, str], status: str, note: str, seconds: float, report: dict[str, Any] | None
) -> dict[str, Any]:
    return {
        "name": peer.name,
        "title": peer.title,
        "group": peer.group,
        "link": peer.link,
        "packages": packages,
        "status": status,
        "note": note,
        "seconds": round(seconds, 1),
        "report": report,
    }
