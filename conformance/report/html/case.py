"""A case on a page: decides what is told of a violated clause, or of a known failure, beside the picture."""

from conformance.contract import Claims
from conformance.loader.scenario import Scenario
from conformance.report.html.clause import folded
from conformance.report.html.element import Html, command, element, joined
from conformance.report.html.picture import drawn
from conformance.report.picture import MOST_RUNS, pictures
from conformance.report.stored import Row, StoredCase
from conformance.trace import RankRun, Run, Trace, Value

_MOST_NUMBERS, _MOST_ROWS = 12, 40
_RIGHT = "right "


def case_section(row: Row, case: StoredCase, anchor: str, title: str, claims: Claims, in_full: bool = True) -> Html:
    """The whole case under a heading of the third rank; `anchor` is the id that links lead to.

    `in_full`: with the clause's example, its reason and how it is judged, in a fold.
    """
    fields: list[tuple[str, str]] = [
        ("clause", row.sentence),
        ("smallest case" if not case.reason else "stored case", case.title),
        ("expected", case.expected),
        ("why", case.why),
        *([("known because", case.reason)] if case.reason else []),
    ]
    told = [(name, Html(element("dd", text))) for name, text in fields]
    if case.script:
        told.append(("script", element("dd", command(case.script), "")))
    told.append(("replay", element("dd", command(case.replay))))
    if case.issue:
        told.append(("issue", element("dd", linked(case.issue, case.issue))))
    return element(
        "article",
        element("h3", title),
        element("dl", *(part for name, dd in told for part in (element("dt", name), dd)), class_="facts"),
        element("h4", "In short"),
        element("pre", "\n".join(case.delivered)),
        _picture(case.trace, claims),
        *_values(case.trace),
        _rest(case.trace),
        *([folded(row.clause, f"{row.clause}: the example, why, and how it is judged")] if in_full else []),
        id=anchor,
        class_="case",
        aria_label=title,
        data_item=True,
        data_outcome=row.status,
    )


def linked(address: str, words: str) -> Html:
    """The words as a link. Only a web address becomes one: what a file says is text."""
    if address.startswith(("https://", "http://")):
        return element("a", words, href=address, rel="noreferrer")
    return joined([words])


def _picture(trace: Trace, claims: Claims) -> Html:
    # What trains, launches or pipes has no steps of samples to be drawn.
    if not isinstance(trace.scenario, Scenario):
        failures = [f"rank {rank.rank} {rank.failure.sentence()}" for _, rank in _ranks(trace) if rank.failure]
        return joined([element("p", failure, class_="bad") for failure in failures])
    hidden_runs = len(trace.runs) - MOST_RUNS
    more = [element("p", f"... and {hidden_runs} more runs", class_="quiet")] if hidden_runs > 0 else []
    return joined([drawn(pictures(trace, claims)), *more])


def _ranks(trace: Trace) -> list[tuple[Run, RankRun]]:
    return [(run, rank) for run in trace.runs for rank in run.ranks]


def _table(caption: str, heads: list[str], rows: list[list[str]], class_: str) -> Html:
    shown = [[element("th", row[0], scope="row"), *(element("td", text) for text in row[1:])] for row in rows]
    table = element(
        "table",
        element("caption", caption),
        element("thead", element("tr", *(element("th", head, scope="col") for head in heads))),
        element("tbody", *(element("tr", *cells) for cells in shown[:_MOST_ROWS])),
        class_=class_,
    )
    more = len(rows) - _MOST_ROWS
    left = element("p", f"... and {more} more rows", class_="quiet") if more > 0 else Html()
    return joined([element("div", table, class_="scroll", tabindex="0", role="region", aria_label=caption), left])


def _values(trace: Trace) -> list[Html]:
    """What a model held and returned, beside what is right, a table a rank."""
    found = []
    for run, rank in _ranks(trace):
        rows = [_value(value, rank.value(_RIGHT + value.name)) for value in rank.values if _is_found(value)]
        if rows:
            where = f"run {run.name!r}, rank {rank.rank}"
            found.append(
                _table(f"What the model held and returned: {where}", ["value", "found", "right"], rows, "values grid")
            )
    return [element("h4", "Values"), *found] if found else []


def _is_found(value: Value) -> bool:
    return not value.name.startswith(_RIGHT)


def _value(value: Value, right: Value | None) -> list[str]:
    told = _numbers(value)
    return [value.name, told, "" if right is None else "the same" if _numbers(right) == told else _numbers(right)]


def _numbers(value: Value) -> str:
    more = f" and {len(value.numbers) - _MOST_NUMBERS} more" if len(value.numbers) > _MOST_NUMBERS else ""
    numbers = " ".join(f"{number:.6g}" for number in value.numbers[:_MOST_NUMBERS])
    return f"{numbers or '(nothing)'}{more}" + (f" (shape {list(value.shape)})" if len(value.shape) != 1 else "")


def _rest(trace: Trace) -> Html:
    """What else was seen: remarks, reads, and whether the caller's generators were touched."""
    tables = [
        _table(name, heads, rows, "grid")
        for name, heads, rows in (
            ("Remarks", ["run and rank", "about", "remark"], _remarks(trace)),
            ("Reads of the dataset", ["run and rank", "epoch", "sample", "process", "worker", "drawn"], _reads(trace)),
            ("The caller's random generators that have moved", ["run and rank", "library"], _states(trace)),
        )
        if rows
    ]
    if not tables:
        return Html()
    return element("details", element("summary", "What else was seen"), *tables)


def _of(run: Run, rank: RankRun) -> str:
    return f"{run.name}, rank {rank.rank}"


def _remarks(trace: Trace) -> list[list[str]]:
    return [[_of(run, rank), about, text] for run, rank in _ranks(trace) for about, text in rank.remarks]


def _reads(trace: Trace) -> list[list[str]]:
    def told(worker: tuple[int, int, int, bool] | None) -> str:
        return f"{worker[0]} of {worker[1]}, seed {worker[2]}" if worker else "none"

    return [
        [_of(run, rank), str(each.epoch), str(each.index), str(each.process), told(each.worker), _drawn(each.draws)]
        for run, rank in _ranks(trace)
        for each in rank.reads
    ]


def _drawn(draws: tuple[int, ...]) -> str:
    return " ".join(map(str, draws)) or "nothing"


def _states(trace: Trace) -> list[list[str]]:
    return [
        [_of(run, rank), state.library]
        for run, rank in _ranks(trace)
        for state in rank.random_states
        if state.before != state.after
    ]
