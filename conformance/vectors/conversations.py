"""Lines of the bridge as vectors: a whole conversation that is right, and answers that can't be understood."""

import json
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from conformance.bridge.check import PARTS, Part, checked, epoch_of_a_state, rest_of_a_stream
from conformance.bridge.exchange import Exchange, Misspoken
from conformance.bridge.process import Gone
from conformance.vectors import answers, lives, starts
from conformance.vectors.exchanges import Samples, Scripted, asked_for, exchanges

EXAMPLE = Path(__file__).resolve().parents[2] / "specs" / "examples" / "bridge" / "loader.py"
_HAS = ("len", "set_epoch", "state")
_PATIENCE = 60.0
# What a command answers, the last line of which is wrong. Those before it answer `open` and `iter`.
WRONG: tuple[tuple[str, ...], ...] = (
    ("{}", "{}", "step 0 1"),
    ("{}", "{}", ""),
    ("{}", "{}", "[1,2]"),
    ("{}", "{}", "{}"),
    ("{}", "{}", '{"len":3}'),
    ("{}", "{}", '{"step":[1],"end":true}'),
    ("{}", "{}", '{"step":[1]}'),
    ("{}", "{}", '{"step":1}'),
    ("{}", "{}", '{"end":false}'),
    ("{}", "{}", '{"end":true,"why":"empty"}'),
    ("{}", "{}", '{"error":5}'),
    ("{}", "{}", '{"raised":1}'),
    ("{}", "{}", '{"read":0}'),
    ("{}", "{}", '{"read":[0.5]}'),
    ("{}", "{}", '{"read":[true]}'),
    ("{}", "{}", '{"read":[0],"count":1}'),
    ("{}", "{}", '{"stream":true}'),
    ("{}", "{}", '{"pull":1}'),
    ("{}", "{}", '{"read":[0,1]}', '{"step":[1,3]}'),
    ("{}", "{}", '{"read":[0,1]}', '{"step":[1,"2"]}'),
    ("{}", "{}", '{"read":[0,1]}', '{"raised":1}'),
    ("{}", "{}", '{"read":[2]}', '{"step":[1]}'),
    ("{}", "{}", '{"read":[0,1]}', '{"step":[1,2],"why":0}'),
    ("{}", "{}", '{"read":[0,1]}', '{"step":[1.0,2]}'),
    ("{}", "{}", '{"read":[1.0]}'),
    ("{}", "{}", '{"read":[2]}', '{"raised":1,"why":0}'),
    ("{}", "{}", '{"error":"no","why":0}'),
    ('{"error":"no","why":0}',),
    ("{}", '{"it":7}'),
    ('{"loader":1}',),
)


def cases() -> Iterator[dict[str, Any]]:
    """The conversations, then the wrong answers, then what needs more than one iterator."""
    yield {"name": "a conversation", "lines": conversation(PARTS)}
    yield {"name": "a rest that is dropped", "lines": conversation({"rest": rest_of_a_stream})}
    yield {"name": "a restart in its epoch, and in the next", "lines": conversation({"state": epoch_of_a_state})}
    for said in WRONG:
        yield {"name": "wrong", "said": list(said), "told": told_of(said)}
    yield from exchanges()
    for among in (answers, starts, lives):
        yield from exchanges(among.EXCHANGES)


def conversation(parts: Mapping[str, Part]) -> list[str]:
    """What `loaderspec bridge check` and the example in Python say, "> " before the suite's lines, "< " before its."""
    lines: list[str] = []
    command = [sys.executable, str(EXAMPLE)]
    checked(command, _PATIENCE, lambda side, line: lines.append(f"{side} {_compact(line)}"), parts)
    return lines


def _compact(line: str) -> str:
    return json.dumps(json.loads(line), separators=(",", ":"))


def told_of(said: tuple[str, ...]) -> str:
    """What is told of the last of these lines, answers to `open`, `iter` and `next`; "" if it is understood."""
    exchange = Exchange(Scripted(said))
    try:
        next(iter(asked_for(exchange, Samples(), _HAS)))
    except Misspoken as error:
        return str(error)
    except (Gone, ValueError):
        pass
    return ""
