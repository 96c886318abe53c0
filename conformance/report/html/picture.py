"""The picture as a table: decides how a cell of ranks x steps is seen and heard.

A mark is a sign, a border and a colour, and words for those who hear the page.
"""

from conformance.report.html.element import Html, element, hidden, joined
from conformance.report.picture import Cell, Grid, Item, Line, RunPicture, marks_in

# A mark's sign after the sample, and what it means.
_LEGEND = {
    "first": ("×1", "came for the first time, and comes again in this epoch"),
    "again": ("×2", "came for the 2nd (3rd, ...) time in this epoch"),
    "padded": ("+", "came again, as padding that is claimed"),
    "foreign": ("?", "no sample of the dataset"),
    "differs": ("≠", "a step that differs from the same step of the main run"),
}


def drawn(runs: tuple[RunPicture, ...]) -> Html:
    """All runs, each under its heading, and the legend of the marks that are in them."""
    shown = [run for run in runs if run.grids or run.failures]
    return joined([*(_run(run, alone=len(runs) == 1) for run in shown), _legend(marks_in(runs))])


def _legend(marks: dict[str, Item | None]) -> Html:
    """The marks of the case, each with a sample of it that bears the mark."""
    entries = [
        element("li", _item(example), f" {words}")
        for name, (_, words) in _LEGEND.items()
        if (example := marks.get(name)) is not None
    ]
    if "differs" in marks:
        entries.append(element("li", " ".join(_LEGEND["differs"])))
    return element("ul", *entries, class_="legend", aria_label="what the marks mean") if entries else Html()


def _run(run: RunPicture, alone: bool) -> Html:
    title = "What was delivered" if alone else f"Run {run.name!r}: {run.changed}"
    parts = [element("h4", title)]
    parts += [element("p", failure, class_="bad") for failure in run.failures]
    for grid in run.grids:
        parts += [_grid(grid, run.name), *([element("p", grid.absent, class_="absent")] if grid.absent else [])]
    if run.hidden_epochs:
        parts.append(element("p", f"... and {run.hidden_epochs} more epochs", class_="quiet"))
    return joined(parts)


def _grid(grid: Grid, run: str) -> Html:
    remarks = any(line.remark for line in grid.lines)
    more = any(line.hidden for line in grid.lines)
    heads = ["rank", *(f"step {step}" for step in range(grid.steps)), *(["more"] if more else [])]
    heads += ["remark"] if remarks else []
    body = [_line(line, grid.steps, more, remarks) for line in grid.lines]
    if grid.hidden_ranks:
        body.append(element("tr", element("td", f"... and {grid.hidden_ranks} more ranks", colspan=str(len(heads)))))
    table = element(
        "table",
        element("caption", grid.title),
        element("thead", element("tr", *(element("th", head, scope="col") for head in heads))),
        element("tbody", *body),
        class_="grid",
    )
    # It can be wider than the page; without a mouse it is scrolled with the keys.
    label = f"delivery, run {run}, {grid.title}"
    return element("div", table, class_="scroll", tabindex="0", role="region", aria_label=label)


def _line(line: Line, steps: int, more: bool, remarks: bool) -> Html:
    cells = [_cell(cell, f"rank {line.rank}, step {step}") for step, cell in enumerate(line.cells)]
    cells += [element("td", hidden("no step")) for _ in range(steps - len(line.cells))]
    if more:
        cells.append(element("td", f"{line.hidden} more steps" if line.hidden else ""))
    if remarks:
        cells.append(element("td", line.remark, class_="remark"))
    rank = f"rank {line.rank}" if line.cells else f"rank {line.rank}: no steps"
    return element("tr", element("th", rank, scope="row"), *cells)


def _cell(cell: Cell, place: str) -> Html:
    shown = [*map(_item, cell.items), *([Html("≠")] if cell.differs else [])]
    shown += [element("span", f"... and {cell.hidden} more", class_="quiet")] if cell.hidden else []
    return element("td", *shown, class_="differs" if cell.differs else None, aria_label=f"{place}: {_heard(cell)}")


def _item(item: Item) -> Html:
    sign = f"×{item.time}" if item.mark == "again" else _LEGEND[item.mark][0] if item.mark else ""
    text = f"{item.index} {sign}" if sign else str(item.index)
    return element("span", text, class_=f"sample {item.mark}".rstrip())


def _heard(cell: Cell) -> str:
    told = [_item_heard(item) for item in cell.items] or ["empty"]
    told += [f"and {cell.hidden} more"] if cell.hidden else []
    told += ["differs from the main run"] if cell.differs else []
    return ", ".join(told)


def _item_heard(item: Item) -> str:
    if item.mark == "foreign":
        return f"{item.index} is no sample"
    words = {
        "first": ", which comes again",
        "again": f", time {item.time} in this epoch",
        "padded": ", repeated as padding",
    }
    return f"sample {item.index}{words.get(item.mark, '')}"
