"""The pieces of a page: decides that text is escaped, unless it was made here.

`element("td", "a < b", scope="row")` is markup, and a string among its children is text.
"""

from collections.abc import Iterable
from html import escape

_EMPTY = ("meta", "link", "br", "input")


class Html(str):
    """Markup, which is not escaped again."""


def element(name: str, *children: str, **attributes: str | bool | None) -> Html:
    """An element. An attribute that is None or False is left out; `class_` is class, `aria_label` is aria-label."""
    told = "".join(
        _attribute(key, value) for key, value in attributes.items() if value is not None and value is not False
    )
    return Html(f"<{name}{told}>" if name in _EMPTY else f"<{name}{told}>{joined(children)}</{name}>")


def joined(children: Iterable[str], between: str = "") -> Html:
    """The children as one piece."""
    return Html(between.join(child if isinstance(child, Html) else escape(child, quote=False) for child in children))


def command(text: str) -> Html:
    """A command with a button that copies it."""
    copies = element(
        "button", "copy", type="button", class_="copy", data_copies=True, disabled=True, aria_label=f"copy {text}"
    )
    return element("span", element("code", text), " ", copies, class_="command")


def hidden(text: str) -> Html:
    """Text that is heard and not seen."""
    return element("span", text, class_="heard")


def signed(sign: str, words: str, class_: str) -> Html:
    """A sign that is seen beside words that are heard."""
    return element("span", element("span", sign, aria_hidden="true"), hidden(words), class_=class_)


def _attribute(key: str, value: str | bool) -> str:
    name = key.removesuffix("_").replace("_", "-")
    return f" {name}" if value is True else f' {name}="{escape(str(value))}"'
