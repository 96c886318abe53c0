"""What a record says of an epoch beside its deliveries and its end: decides where each fact is kept."""

from collections.abc import Callable, Mapping
from typing import Any

from conformance.audit.delivered import Open

Fact = Mapping[str, Any]


def _drew(opened: Open, fact: Fact) -> None:
    opened.seen.facts["drew"] = fact.get("names", [])


def _stepped(opened: Open, fact: Fact) -> None:
    opened.seen.facts["stepped"] = fact.get("at", [])
    opened.seen.facts["scaled"] = bool(fact.get("scaled"))


def _cycled(opened: Open, fact: Fact) -> None:
    opened.seen.facts["cycled"] = True


def _written_over(opened: Open, fact: Fact) -> None:
    opened.seen.facts["written_over"] = fact.get("steps", [])


def _lacking(opened: Open, fact: Fact) -> None:
    opened.seen.facts["lacking"] = fact.get("samples", 0)


def _gathered(opened: Open, fact: Fact) -> None:
    known = opened.seen.facts.get("gathered", ())
    opened.seen.facts["gathered"] = sorted({*known, str(fact.get("how", ""))})


def _content(opened: Open, fact: Fact) -> None:
    for index, hexadecimal in fact.get("pairs", []):
        known = opened.group.contents.setdefault(int(index), {})
        known[opened.key] = min(str(hexadecimal), known.get(opened.key, str(hexadecimal)))


def _worker_died(opened: Open, fact: Fact) -> None:
    place = {"rank": opened.rank, "attempt": opened.key[0], "epoch": opened.key[1]}
    told = {name: fact.get(name) for name in ("worker", "why")}
    opened.group.died.append({**place, **told, "step": opened.seen.steps})


# By what the fact is called.
OF_AN_EPOCH: Mapping[str, Callable[[Open, Fact], None]] = {
    "drew": _drew,
    "stepped": _stepped,
    "cycled": _cycled,
    "written_over": _written_over,
    "lacking": _lacking,
    "gathered": _gathered,
    "content": _content,
    "worker_died": _worker_died,
}
