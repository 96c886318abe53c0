"""What `loaderspec claims --write` takes out of an adapter: decides which claims stay, which go, and why each does."""

import ast
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import replace
from typing import Any

from conformance.claiming.search import NOT_LOOKED_FOR, Findings, Tried, made_of
from conformance.claiming.words import literal, refuted
from conformance.contract import AdapterError, Claims, parse_claims

_NOT_LOOKED_FOR = "it is not looked for; claim it again if the loader is meant to do it"
# A claim of which another one decides.
_DECIDED_BY = {"datasets": "iterable_workers"}


def kept(before: Claims, found: Claims) -> Claims:
    """What was found, with what nobody looks for as the adapter claims it."""
    return replace(found, **{name: getattr(before, name) for name in NOT_LOOKED_FOR})


def struck(before: Claims, found: Findings) -> Iterator[tuple[str, str]]:
    """Each claim that was made before and is not now, as a person writes it, and why."""
    for name, value in made_of(before):
        if name in NOT_LOOKED_FOR:
            continue
        now = getattr(found.claims, name)
        if not isinstance(value, tuple):
            if now != value:
                yield f"{name}={literal(value)}", _why(found, name, value)
            continue
        for one in value:
            if one not in now:
                yield f"{literal(one)} in {name}", _why(found, name, one)


def _why(found: Findings, name: str, value: Any) -> str:
    tried = [each for each in found.tried if each.claim == _DECIDED_BY.get(name, name)]
    exact = [each for each in tried if each.value == value and type(each.value) is type(value)]
    stronger = [each for each in tried if each.holds and name != "hooks"]
    if exact:
        return _reason(exact[0])
    if stronger:
        return f"{literal(stronger[0].value)} is stronger, and holds"
    return _reason(tried[0]) if tried and name != "hooks" else _NOT_LOOKED_FOR


def _reason(tried: Tried) -> str:
    return refuted(tried.case) if tried.case else tried.reason


def claims_of_text(node: ast.expr | None) -> Claims:
    """The claims that stand in an adapter as `dict(...)` or `{...}`; none if they are put together in another way."""
    given: dict[str, Any] = {}
    with suppress(ValueError, TypeError):
        if isinstance(node, ast.Call):
            given = {each.arg: ast.literal_eval(each.value) for each in node.keywords if each.arg}
        elif node is not None:
            given = dict(ast.literal_eval(node))
    try:
        return parse_claims(given)
    except AdapterError:
        return Claims()
