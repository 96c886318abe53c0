"""Known failures: decides what an entry must say, when it is stale or expired, and how a template is written.

An entry excuses one kind of violation of one clause. Its case is replayed first: if it does not fail any more, the
entry is stale, and the run fails until it is removed. A failure that is a race can't be replayed, and names its kind.
"""

import datetime
import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from conformance.contract import AdapterError
from conformance.trace import Scenario
from conformance.trial.clause import CLAUSES
from conformance.trial.family import FAMILIES
from conformance.trial.result import Case

_FIELDS = ("case", "reason", "issue", "until", "perhaps", "race")


@dataclass(frozen=True)
class Known:
    """One entry: the clause, the stored case, why it is tolerated, and until when.

    `perhaps`: its case need not fail. That is where it can't be known, as in a template for many loaders.
    `race`: the kind of the finding, where the same case fails in one run and not in the next. Nothing is replayed.
    """

    clause: str
    scenario: Scenario
    reason: str
    issue: str = ""
    perhaps: bool = False
    race: str = ""


def parse_known(entries: Mapping[str, Any], today: datetime.date | None = None) -> dict[str, tuple[Known, ...]]:
    """The entries by clause id; a clause with several kinds of fault has a list of tables.

    AdapterError names the entry that is unknown, malformed or expired.
    """
    today = today or datetime.date.today()
    tables = {clause: given if isinstance(given, list | tuple) else [given] for clause, given in entries.items()}
    return {clause: tuple(_entry(clause, fields, today) for fields in given) for clause, given in tables.items()}


def read_known(path: Path) -> dict[str, Any]:
    """The entries of a TOML file, a table a clause. AdapterError if it can't be read."""
    try:
        return tomllib.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise AdapterError(f"--known={path} can't be read ({error.strerror}); give the path of a TOML file") from error
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise AdapterError(
            f"--known={path} is no TOML ({error}); write a template with --write-known={path}"
        ) from error


def template(cases: Iterable[Case]) -> str:
    """A TOML file that lists these cases, with the reason left for a person to fill in."""
    tables = [
        f'["{case.clause}"]\ncase = "{case.id}"\n'
        'reason = "TODO: why this is tolerated"\nissue = ""\n# until = "2027-01-31"\n'
        for case in cases
    ]
    return "\n".join(tables)


def parse_case(case_id: str) -> tuple[str, Scenario]:
    """The clause and the scenario of a case id such as PART-1-n1,w2,b1,keep. AdapterError if it is none."""
    clause = "-".join(case_id.split("-", 2)[:2])
    if clause not in CLAUSES:
        raise AdapterError(f"the case {case_id!r} names no clause; a case looks like PART-1-n1,w2,b1,keep")
    if case_id == clause:
        raise AdapterError(
            f"{case_id!r} names a clause and no case of it; say what is asked for as well, as in "
            f"{clause}-n1,w2,b1,keep, or judge the whole clause with -k {clause}"
        )
    try:
        return clause, FAMILIES[CLAUSES[clause].family].read(case_id[len(clause) + 1 :])
    except ValueError as error:
        raise AdapterError(str(error)) from error


def _entry(clause: str, fields: Any, today: datetime.date) -> Known:
    where = f"the known failure of {clause}"
    if clause not in CLAUSES:
        raise AdapterError(f"{where} names no clause of this version; see `loaderspec explain` for the ids")
    if not isinstance(fields, Mapping) or not fields.get("case") or not fields.get("reason"):
        raise AdapterError(f"{where} is {fields!r}, but must be a table with a case and a reason; fill them in")
    for name in fields:
        if name not in _FIELDS:
            raise AdapterError(f"{where} has an unknown field {name!r}; the fields are {', '.join(_FIELDS)}; remove it")
    if str(fields["reason"]).startswith("TODO"):
        raise AdapterError(f"{where} still has the template's reason; say why it is tolerated")
    named, scenario = parse_case(str(fields["case"]))
    if named != clause:
        raise AdapterError(f"{where} stores the case {fields['case']!r} of {named}; store one of {clause}")
    until = _date(where, fields.get("until"))
    if until and until < today:
        raise AdapterError(f"{where} expired on {until}; fix the loader, or give the entry a later date")
    race = fields.get("race", "")
    if not isinstance(race, str):
        raise AdapterError(
            f"{where} has race={race!r}, but a race is named by the kind of its finding, as the JSON report tells it "
            '(race = "hung-after-error"); write that'
        )
    perhaps = fields.get("perhaps") is True
    return Known(clause, scenario, str(fields["reason"]), str(fields.get("issue", "")), perhaps, race)


def _date(where: str, value: Any) -> datetime.date | None:
    if isinstance(value, datetime.datetime):  # it is a date too, but can't be compared with one
        return value.date()
    if value is None or isinstance(value, datetime.date):
        return value
    try:
        return datetime.date.fromisoformat(str(value))
    except ValueError as error:
        raise AdapterError(f"{where} has until={value!r}, which is no date; write it as 2027-01-31") from error
