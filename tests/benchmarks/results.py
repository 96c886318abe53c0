"""Decides what is shown of a run of the throughput benchmark, as text and as JSON."""

import textwrap
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from tests.benchmarks.figures import Result, medians
from tests.benchmarks.table import aligned
from tests.benchmarks.targets import NEXT, STARTS, Target, best


def as_json(machine: str, rounds: int, results: Sequence[Result], targets: Sequence[Target]) -> dict[str, Any]:
    """All figures of all rounds, and the verdicts."""
    return {
        "machine": machine,
        "rounds": rounds,
        "figures": [{**vars(each), "median": each.median} for each in results],
        "targets": [{**vars(each), "verdict": each.verdict} for each in targets],
    }


def as_text(machine: str, results: Sequence[Result], sizes: Mapping[str, int], targets: Sequence[Target]) -> str:
    """The tables one below the other. `sizes` names the sections of rates, with the bytes of a sample in each."""
    parts = [[machine]]
    for section, sample_bytes in sizes.items():
        parts.append(_table(list(_rates(section, sample_bytes, results))))
    parts.append(_table(list(_costs(results))))
    parts.append(_table(list(_starts(results))))
    targets_shown = [("targets", "found", "aimed at", ""), *(target.cells() for target in targets)]
    parts.append(list(aligned(targets_shown)))
    parts.append(list(_missing(results)))
    return "\n\n".join("\n".join(part) for part in parts if part)


def _table(rows: Sequence[Sequence[str]]) -> list[str]:
    """The rows below their heading, or nothing if there are none."""
    return list(aligned(rows)) if len(rows) > 1 else []


def _rates(section: str, sample_bytes: int, results: Sequence[Result]) -> Iterator[tuple[str, ...]]:
    """A table of rates: with the lowest and the highest of the rounds, and as parts of the best plain copy."""
    found = medians(results, section)
    copied = best(found, lambda name: name.startswith("limit: plain copy"))
    yield section, "items/s", "lowest", "highest", *(("GB/s", "of copy") if copied else ())
    for each in results:
        if each.section != section or each.median is None:
            continue
        parts = (f"{each.median * sample_bytes / 1e9:.1f}", f"{each.median / copied:.2f}") if copied else ()
        yield each.name, *(f"{value:,.0f}" for value in (each.median, min(each.values), max(each.values))), *parts


def _costs(results: Sequence[Result]) -> Iterator[tuple[str, str, str]]:
    """Waiting and memory, ours beside torch's."""
    ours, torch = medians(results, "costs, ours"), medians(results, "costs, torch")
    yield "waiting and memory, with 2 workers", "ours, Async", "torch"
    for each in results:
        if each.section == "costs, ours" and each.name in {**ours, **torch}:
            yield each.name, *(f"{found[each.name]:.2f}" if each.name in found else "-" for found in (ours, torch))


def _starts(results: Sequence[Result]) -> Iterator[tuple[str, str, str]]:
    """The time to the first item: of the first loader of a process, and of the next one."""
    found = medians(results, STARTS)
    yield STARTS, "first loader", "next loader"
    for name in found:
        if name + NEXT in found:
            yield name, f"{found[name]:,.0f}", f"{found[name + NEXT]:,.0f}"


def _missing(results: Sequence[Result]) -> Iterator[str]:
    """A line for each reason why rows are left out."""
    reasons: dict[str, dict[str, list[str]]] = {}
    for each in results:
        if each.missing or each.failed:
            where = each.section if each.failed or each.section.startswith("costs") else "rates"
            rows = reasons.setdefault(each.missing or f"It failed: {each.failed}", {}).setdefault(where, [])
            rows += [] if each.name in rows else [each.name]
    for reason, places in reasons.items():
        rows_of = "; ".join(f"{where}: {' / '.join(rows)}" for where, rows in places.items())
        yield from textwrap.wrap(f"Left out ({rows_of}). {reason}", 110)
