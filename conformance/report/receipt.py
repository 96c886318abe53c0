"""A receipt: decides what a stored report lets a later run repeat, and when the two verdicts agree.

A verdict is the outcome of each clause. The number of exercises and the smallest case may differ between versions of
Python or Hypothesis without another verdict; they are told and do not count.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from conformance.clauses import CLAUSES
from conformance.report.stored import NoReport, Stored
from conformance.trial.known import parse_case
from conformance.trial.session import Options


@dataclass(frozen=True)
class Comparison:
    """What a second run showed: the clauses that differ, in sentences, and what else a reader should know."""

    differences: tuple[str, ...]
    remarks: tuple[str, ...]

    @property
    def agrees(self) -> bool:
        """Whether every clause has the outcome that it had."""
        return not self.differences


def options_of(receipt: Stored) -> Options:
    """The options of the run that the receipt is of. NoReport if it names clauses that this version has not."""
    unknown = [row.clause for row in receipt.rows if row.clause not in CLAUSES]
    if unknown:
        raise NoReport(
            f"the receipt has the clause {unknown[0]}, which this version has not; use the one that wrote it"
        )
    raw = receipt.raw
    return Options(
        tier=str(raw["tier"]),
        seed=int(raw["seed"]),
        patience=float(raw.get("patience", 10.0)),
        strict=bool(raw["strict"]),
        known={clause: entries for clause, data in raw["clauses"].items() if (entries := _known(data))},
        case=parse_case(str(raw["replayed"])) if raw.get("replayed") else None,
    )


def _known(data: Mapping[str, Any]) -> list[dict[str, str]]:
    """The entries of known failures; that one expires does not change what was judged."""
    found = data.get("known", [])
    return [{"case": each["case"]["id"], "reason": each["reason"], "issue": each["issue"]} for each in found]


def adapter_changed(receipt: Stored, digest: str | None) -> str:
    """The sentence that says that the adapter is not the one of the receipt, or ""."""
    was = receipt.raw.get("adapter", {}).get("digest")
    if was == digest:
        return ""
    told = [f"has the digest {each}" if each else "could not be read" for each in (was, digest)]
    return f"the adapter is another one: in the receipt its source {told[0]}, here it {told[1]}"


def adapter_elsewhere(receipt: Stored, digests: Sequence[str]) -> str:
    """The sentence that says that the receipt's adapter is in none of the files with these digests, or ""."""
    was = receipt.raw.get("adapter", {}).get("digest")
    # Where there is no file, there is nothing to be imported either.
    return "" if was in digests or not digests else adapter_changed(receipt, digests[0])


def compared(receipt: Stored, again: Stored) -> Comparison:
    """How the second run differs from the receipt."""
    now = {row.clause: row for row in again.rows}
    differences, remarks = [], list(_circumstances(receipt.raw, again.raw))
    for was in receipt.rows:
        found = now.get(was.clause)
        if found is None or found.status != was.status:
            differences.append(f"{was.clause} was {_told(was)}, is {_told(found) if found else 'not judged'}")
        elif [case.id for case in found.cases] != [case.id for case in was.cases]:
            remarks.append(
                f"{was.clause} is {found.status} as it was, in another case: was {_told(was)}, is {_told(found)}"
            )
        elif found.exercised != was.exercised:
            remarks.append(f"{was.clause} was exercised {was.exercised} times, is {found.exercised} times")
    return Comparison(tuple(differences), tuple(remarks))


def _told(row: Any) -> str:
    return f"{row.status} in {row.cases[0].id}" if row.cases else str(row.status)


def _circumstances(was: Mapping[str, Any], found: Mapping[str, Any]) -> Iterator[str]:
    """What is not the same about the two runs: versions, words of the specs, claims."""
    for name, before, after in (
        ("loaderspec", was["suite"]["version"], found["suite"]["version"]),
        ("the specs' digest", was["specs"], found["specs"]),
        *_pairs("", was["versions"], found["versions"]),
        *_pairs("", was.get("adapter", {}).get("packages", {}), found["adapter"]["packages"]),
        *_pairs("the claim ", was["claims"], found["claims"]),
    ):
        if before != after:
            yield f"{name} was {_value(before)}, is {_value(after)}"


def _pairs(prefix: str, was: Mapping[str, Any], found: Mapping[str, Any]) -> list[tuple[str, Any, Any]]:
    return [(f"{prefix}{name}", was.get(name), found.get(name)) for name in sorted({*was, *found})]


def _value(value: Any) -> str:
    return "not there" if value is None else str(value)
