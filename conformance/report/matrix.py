"""Many loaders side by side: decides what a matrix is, and what a cell of peers x clauses says.

A matrix is the JSON data that `loaderspec matrix` writes: `peers` lists reports, with what was installed for each.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from conformance.clauses import CLAUSES
from conformance.report.json_report import SCHEMA
from conformance.report.stored import NoReport, Row, Stored, not_claimed, stored


@dataclass(frozen=True)
class PeerColumn:
    """One loader of a matrix. `report` is None where it was not judged, and `status` and `note` say why.

    `slug` begins the ids of its parts on a page; no two peers have one.
    """

    name: str
    slug: str
    title: str
    link: str
    packages: str
    status: str
    note: str
    report: Stored | None

    def row(self, clause: str) -> Row | None:
        """The peer's row of a clause, if it was judged by it.

        Its claims are in its report, and say of any clause, however new, that it asks nothing of this loader.
        """
        if self.report is None:
            return None
        found = next((row for row in self.report.rows if row.clause == clause), None)
        is_old = found is None or found.stale
        if is_old and clause in CLAUSES and not CLAUSES[clause].applies(self.report.claims):
            return not_claimed(clause)
        return found

    def is_stale(self, clause: str) -> bool:
        """Whether the clause is newer than what its cell says, or than the whole report."""
        row = self.row(clause)
        return self.report is not None and (row is None or row.stale)

    @property
    def verdict(self) -> str:
        """One line: the counts, or why there are none."""
        if self.report is None:
            return f"{self.status}: {self.note}" if self.note else self.status
        counted = ("HOLDS", "VIOLATED", "VIOLATED (SHOULD)", "KNOWN", "NOT EXERCISED", "INVALID")
        found = [
            f"{self.report.count(status)} {status.replace('HOLDS', 'HOLD')}"
            for status in counted
            if self.report.count(status)
        ]
        return f"{'green' if self.report.passed else 'not green'}: {', '.join(found)}"


@dataclass(frozen=True)
class Matrix:
    """The peers, the clauses that any of them was judged by, and a line that says where and when."""

    peers: tuple[PeerColumn, ...]
    clauses: tuple[str, ...]
    circumstances: str

    @property
    def judged(self) -> tuple[PeerColumn, ...]:
        """The peers that have a report."""
        return tuple(peer for peer in self.peers if peer.report)

    @property
    def stale(self) -> dict[str, list[str]]:
        """The cells that are older than their clause: the loaders of each clause."""
        found = {clause: [peer.name for peer in self.judged if peer.is_stale(clause)] for clause in self.clauses}
        return {clause: names for clause, names in found.items() if names}

    @property
    def stale_together(self) -> list[str]:
        """The clauses whose cells are stale of the same loaders, in one sentence each."""
        together: dict[tuple[str, ...], list[str]] = {}
        for clause, names in self.stale.items():
            together.setdefault(tuple(names), []).append(clause)
        whose = {names: "all loaders" if len(names) == len(self.judged) else ", ".join(names) for names in together}
        return [f"of {whose[names]}: {', '.join(clauses)}" for names, clauses in together.items()]

    @property
    def staleness(self) -> str:
        """A sentence that says how many cells are stale and how they are judged again, or ""."""
        number = sum(map(len, self.stale.values()))
        if not number:
            return ""
        of = len(self.clauses) * len(self.judged)
        return (
            f"{number} of {of} cells are stale: their clause has changed since they were judged. "
            "`loaderspec matrix --only=PART-1 --into=FILE --json=FILE` judges the cells of a clause again, and "
            "`--only=PART` those of a chapter."
        )


def is_matrix(data: Any) -> bool:
    """Whether JSON data is a matrix and not a report of one run."""
    return isinstance(data, Mapping) and "peers" in data


def matrix(data: Mapping[str, Any]) -> Matrix:
    """The matrix behind JSON data. NoReport if it is none."""
    if data.get("schema") != SCHEMA:
        raise NoReport(f"the matrix has schema {data.get('schema')!r}, and this version reads {SCHEMA}; make it again")
    try:
        peers: list[PeerColumn] = []
        for each in data["peers"]:
            peers.append(_peer(each, {peer.slug for peer in peers}))
        suite = f"loaderspec {data['suite']['version']}, clauses {data['specs']}"
        run = f"tier {data['tier']}, seed {data['seed']}"
        circumstances = f"{suite}; {run}; {data['date']}; {data['machine']}"
    except (KeyError, TypeError, AttributeError) as error:
        raise NoReport(f"the matrix can't be read ({error!r}); give the file that `loaderspec matrix` wrote") from error
    return Matrix(tuple(peers), tuple(clause for clause in _in_order() if _is_shown(clause, peers)), circumstances)


def _is_shown(clause: str, peers: Sequence[PeerColumn]) -> bool:
    """Whether it asks something of any of them; one that no report knows yet is newer than all of them."""
    rows = [peer.row(clause) for peer in peers if peer.report]
    return any(row is None or row.status != "NOT CLAIMED" for row in rows)


def _in_order() -> list[str]:
    return [clause.id for clause in sorted(CLAUSES.values(), key=lambda clause: clause.number)]


def _peer(data: Mapping[str, Any], taken: set[str]) -> PeerColumn:
    name = str(data["name"])
    slug = plain = re.sub(r"[^a-z0-9]+", "-", name.lower()).strip("-") or "peer"
    number = 2
    while slug in taken:
        slug, number = f"{plain}-{number}", number + 1
    packages = ", ".join(f"{package} {version}" for package, version in sorted(data["packages"].items()))
    report = stored(data["report"]) if data["report"] else None
    texts = {key: str(data[key]) for key in ("title", "link", "status", "note")}
    return PeerColumn(name, slug, texts["title"], texts["link"], packages, texts["status"], texts["note"], report)
