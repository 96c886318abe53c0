"""The page of a verdict: decides its parts and their order. One file, no script, nothing from the network.

The picture comes first: ranks x steps of each epoch, coloured by what came. Then the findings, worst first.
"""

from html import escape
from pathlib import Path

from conformance.audit.finding import Finding
from conformance.audit.picture import Cell, Picture, Strip, picture
from conformance.audit.summary import Summary
from conformance.audit.text import place
from conformance.audit.verdict import Judged, Verdict
from conformance.audit.view import View
from conformance.report.html.element import Html, element, joined
from conformance.report.html.page import Section, document
from conformance.report.spec_text import clause_texts
from conformance.trial.words import count

_LEFT, _WIDTH, _HEIGHT = 90, 14, 14
# Few steps have wide cells, so that the words below them have room.
_LEAST = 168
_STYLE = """
.strip { margin: 0.5rem 0 1rem; } .strip svg { display: block; height: auto; max-width: 100%; }
.strip text { fill: var(--quiet); font: 11px system-ui, sans-serif; }
.once { fill: var(--good); } .again { fill: var(--bad); } .mixed { fill: var(--warn); } .unknown { fill: var(--line); }
.none { fill: none; stroke: var(--line); stroke-dasharray: 2 2; }
.restart { stroke: currentColor; stroke-width: 2; }
.key { display: inline-block; width: 0.9rem; height: 0.9rem; margin-right: 0.4rem; border-radius: 2px; }
.key.once { background: var(--good); } .key.again { background: var(--bad); } .key.mixed { background: var(--warn); }
.key.unknown { background: var(--line); } .key.none { border: 1px dashed var(--line); }
"""
_KEYS = (
    ("once", "all of its samples came once in the epoch"),
    ("mixed", "some of them came more than once"),
    ("again", "most of them came more than once"),
    ("unknown", "not known: too many samples to keep each"),
    ("none", "no step; in the bar of samples: never came"),
)


def write_page(summary: Summary, verdict: Verdict, folder: Path, base: Path | None = None) -> Path:
    """Write `index.html` into a folder, which is made if need be. OSError if that can't be done."""
    folder.mkdir(parents=True, exist_ok=True)
    file = folder / "index.html"
    file.write_text(page(summary, verdict, base or Path.cwd()), encoding="utf-8")
    return file


def page(summary: Summary, verdict: Verdict, base: Path) -> str:
    """The page; the same verdict gives the same bytes."""
    sections = [
        Section("picture", "What was delivered", joined([_verdict(verdict), *_pictures(summary, verdict, base)])),
        Section("findings", "Findings", joined(_finding(finding, base) for finding in verdict.findings)),
        Section("notes", "What else is to be said", _notes(verdict, base)),
    ]
    shown = [each for each in sections if each.content]
    return document("What the loaders of this job delivered", shown, "loaderspec: is my training data right?")


def _verdict(verdict: Verdict) -> Html:
    found = len(verdict.findings)
    words = f"{count(len(verdict.groups), 'loader')}, {count(found, 'finding')}"
    return joined(
        [
            element("style", Html(_STYLE)),
            element("p", words, class_=f"verdict {'bad' if verdict.exit_code else 'good'}"),
        ]
    )


def _pictures(summary: Summary, verdict: Verdict, base: Path) -> list[Html]:
    legend = [
        element("li", element("span", "", class_=f"key {name}", aria_hidden="true"), words) for name, words in _KEYS
    ]
    parts = [element("ul", *legend, class_="legend", aria_label="what the colours mean")]
    for group in verdict.groups:
        view = View(group.key, summary.groups[group.key], summary, verdict.same_data)
        wanted = [key for finding in group.findings for key in finding.epochs]
        parts.append(_loader(group, picture(view, wanted), base))
    return parts


def _loader(group: Judged, drawn: Picture, base: Path) -> Html:
    heading = element("h3", element("code", place(group.file, group.line, base)), f" {group.title}")
    more = [element("p", f"and {count(drawn.hidden, 'more epoch')}", class_="quiet")] if drawn.hidden else []
    return element("section", heading, *(_strip(strip) for strip in drawn.strips), *more, class_="case")


def _strip(strip: Strip) -> Html:
    never = "" if strip.never is None else f", {strip.never:,} never"
    told = f"{strip.name}: {strip.once:,} samples once, {strip.again:,} more than once{never}"
    return (
        element("div", element("p", told, class_="small"), _svg(strip, told), class_="strip") if strip.lines else Html()
    )


def _svg(strip: Strip, told: str) -> Html:
    columns = len(strip.lines[0].cells)
    each = max(_WIDTH, _LEAST // columns)
    width, height = _LEFT + columns * each + 10, len(strip.lines) * _HEIGHT + 40
    parts = []
    for number, line in enumerate(strip.lines):
        top = number * _HEIGHT
        parts.append(element("text", line.name, x="0", y=str(top + 11)))
        parts += [_rectangle(cell, _LEFT + at * each, top, each, line.name) for at, cell in enumerate(line.cells)]
    bottom = str(height - 26)
    parts.append(element("text", "step 0", x=str(_LEFT), y=bottom))
    parts.append(element("text", f"step {strip.steps - 1}", x=str(width - 10), y=bottom, text_anchor="end"))
    if strip.restart:
        at = str(_LEFT + strip.restart * columns * each // strip.steps)
        parts.append(element("line", x1=at, x2=at, y1="0", y2=str(len(strip.lines) * _HEIGHT), class_="restart"))
        parts.append(element("text", "restart", x=at, y=bottom, text_anchor="middle"))
    parts += _bar(strip, height - _HEIGHT - 2, columns * each)
    size = {"viewBox": f"0 0 {width} {height}", "width": str(width)}
    drawn = element("svg", element("title", told), *parts, role="img", **size)
    return element("div", drawn, class_="scroll", tabindex="0", role="region", aria_label=told)


def _bar(strip: Strip, top: int, room: int) -> list[Html]:
    """All samples of the epoch side by side: those that came once, more than once, and never."""
    shares = [("once", strip.once, "came once"), ("again", strip.again, "came more than once")]
    shares.append(("none", strip.never or 0, "never came"))
    all_of_them = sum(number for _, number, _ in shares) or 1
    parts, left = [element("text", "samples", x="0", y=str(top + 11))], float(_LEFT)
    for kind, number, words in shares:
        wide = room * number / all_of_them
        if number:
            size = {"x": f"{left + 1:.1f}", "y": str(top + 1), "width": f"{max(1.0, wide - 2):.1f}"}
            title = element("title", f"{number:,} {words}")
            parts.append(element("rect", title, class_=kind, height=str(_HEIGHT - 2), **size))
        left += wide
    return parts


def _rectangle(cell: Cell, left: int, top: int, wide: int, name: str) -> Html:
    kind, words = _kind(cell)
    steps = f"step {cell.first}" if cell.first >= cell.last else f"steps {cell.first} to {cell.last}"
    place_ = {"x": str(left + 1), "y": str(top + 1), "width": str(wide - 2), "height": str(_HEIGHT - 2)}
    return element("rect", element("title", f"{name}, {steps}: {words}"), class_=kind, **place_)


def _kind(cell: Cell) -> tuple[str, str]:
    if cell.again is None:
        return "none", "no step"
    if cell.again < 0:
        return "unknown", "not known"
    if not cell.again:
        return "once", "each sample once"
    return ("again" if cell.again > 0.5 else "mixed"), f"{cell.again:.0%} of its samples came more than once"


def _finding(finding: Finding, base: Path) -> Html:
    text = clause_texts().get(finding.id)
    facts: list[tuple[str, Html]] = [("where", element("code", place(finding.file, finding.line, base)))]
    if text is not None:
        facts.append(("rule", joined([f"{text.sentence} ", element("code", text.link)])))
    if finding.advice:
        facts.append(("what to do", Html(escape(finding.advice))))
    if text is not None:
        facts.append(("more", element("code", f"loaderspec explain {finding.id}")))
    listed = [part for name, value in facts for part in (element("dt", name), element("dd", value))]
    excerpt = [element("pre", "\n".join(finding.excerpt))] if finding.excerpt else []
    heading = element("h3", element("span", finding.id, class_="id bad"), f" {finding.sentence}")
    return element("article", heading, *excerpt, element("dl", *listed, class_="facts"), class_="case")


def _notes(verdict: Verdict, base: Path) -> Html:
    lines = [element("li", note) for note in verdict.notes]
    for group in verdict.groups:
        where = element("code", place(group.file, group.line, base))
        lines += [element("li", where, f" {note.sentence}") for note in group.notes]
    return element("ul", *lines) if lines else Html()
