"""A clause in full on a page: decides how the Markdown of its example, its reason and its judging is shown."""

import re

from conformance.report.html.element import Html, command, element, joined
from conformance.report.spec_text import UnknownClause, clause_text, plain_table

_MARKED = re.compile(r"\*\*(?P<strong>[^*]+)\*\*|`(?P<code>[^`]+)`|\[(?P<words>[^\]]+)\]\([^)]+\)")


def folded(clause: str, words: str = "the example, why, and how it is judged") -> Html:
    """What the specs say of a clause, in a fold; nothing for a clause of another version."""
    try:
        text = clause_text(clause)
    except UnknownClause:
        return Html()
    blocks = re.split(r"\n{2,}", text.body.strip())
    where = element("p", text.link, " ", command(f"loaderspec explain {clause} --where"), class_="quiet")
    return element("details", element("summary", words), *map(_block, blocks), where, class_="clause small")


def _block(block: str) -> Html:
    if block.startswith("```"):
        return element("pre", "\n".join(block.split("\n")[1:-1]))
    if block.startswith("|"):
        return element("pre", plain_table(block))
    items = re.split(r"\n(?:- |\d+\. )", f"\n{block}")
    if not items[0].strip() and len(items) > 1:
        return element("ul", *(element("li", _inline(item)) for item in items[1:]))
    return element("p", _inline(block))


def _inline(markdown: str) -> Html:
    """A paragraph: stress, code and the words of links."""
    text, parts, at = " ".join(markdown.split()), [], 0
    for found in _MARKED.finditer(text):
        parts.append(text[at : found.start()].replace("*", ""))
        if found["strong"]:
            parts.append(element("strong", found["strong"]))
        elif found["code"]:
            parts.append(element("code", found["code"]))
        else:
            parts.append(found["words"].replace("`", ""))
        at = found.end()
    return joined([*parts, text[at:].replace("*", "")])
