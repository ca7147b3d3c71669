"""Text bodies of slides: paragraphs with their list marks, line breaks, fields and equations."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, NamedTuple

from seoga.models import SectionKind
from seoga_extraction.format import one_line
from seoga_extraction.ooxml.drawing import chosen
from seoga_extraction.ooxml.package import attribute, child, children, descendants, local, number

if TYPE_CHECKING:
    from lxml.etree import _Element

# Fields whose text is another on every slide, or on every day.
_SILENT_FIELDS = ("slidenum", "datetime")
_MAX_LEVEL = 8


class Text(NamedTuple):
    """The text of a shape, and whether it is a list."""

    text: str
    kind: SectionKind


class _Line(NamedTuple):
    text: str
    mark: str
    level: int


def body_text(body: _Element | None, styles: Sequence[_Element] = ()) -> Text:
    """A text body. `styles` are the list styles it inherits, the nearest first."""
    lines = list(_lines(body, styles))
    # A single mark is decoration.
    if sum(bool(line.mark) for line in lines) < 2:
        text = "\n".join(line.text for line in lines)
        return Text(text, SectionKind.PARAGRAPH)
    out = []
    for line in lines:
        shown = f"{line.mark} {one_line(line.text)}" if line.mark else line.text
        out.append("  " * line.level + shown if line.mark else shown)
    return Text("\n".join(out), SectionKind.LIST)


def _lines(body: _Element | None, styles: Sequence[_Element]) -> Iterator[_Line]:
    own = child(body, "lstStyle")
    chain = [one for one in (own, *styles) if one is not None]
    counts: dict[int, int] = {}
    for paragraph in children(body, "p"):
        text = paragraph_text(paragraph).strip()
        if not text:
            continue
        properties = child(paragraph, "pPr")
        level = min(max(number(attribute(properties, "lvl")), 0), _MAX_LEVEL)
        bullet = _bullet(properties, chain, level)
        for deeper in [one for one in counts if one > level]:
            del counts[deeper]
        kind = "buNone" if bullet is None else local(bullet)
        if kind == "buAutoNum":
            start = number(attribute(bullet, "startAt"), 1)
            counts[level] = counts.get(level, start - 1) + 1
            yield _Line(text, f"{counts[level]}.", level)
        else:
            counts.pop(level, None)
            yield _Line(text, "" if kind == "buNone" else "-", level)


def _bullet(properties: _Element | None, chain: Sequence[_Element], level: int) -> _Element | None:
    """The element that says which mark a paragraph has: its own, or the first inherited."""
    inherited = (child(style, f"lvl{level + 1}pPr") for style in chain)
    for one in (properties, *inherited):
        for element in one if one is not None else ():
            if local(element) in ("buNone", "buChar", "buAutoNum", "buBlip"):
                return element
    return None


def paragraph_text(paragraph: _Element) -> str:
    """The text of one paragraph, with equations as `[math: LaTeX]`."""
    parts: list[str] = []
    for one in paragraph:
        name = local(one)
        if name == "r":
            parts.append(_run(one))
        elif name == "br":
            parts.append("\n")
        elif name == "fld" and not attribute(one, "type").startswith(_SILENT_FIELDS):
            parts.append(_run(one))
        elif name == "m":
            parts.extend(_equations(one))
        elif name == "AlternateContent" and (version := chosen(one)) is not None:
            parts.append(paragraph_text(version))
    return "".join(parts).replace("\x0b", "\n").replace("_x000D_", "")


def _run(element: _Element) -> str:
    text = child(element, "t")
    return (text.text or "") if text is not None else ""


def _equations(element: _Element) -> Iterator[str]:
    from seoga_extraction.math.omml import omml_to_latex

    for one in descendants(element, "oMath"):
        if latex := omml_to_latex(one).strip():
            yield f"[math: {latex}]"


def table_rows(table: _Element) -> list[list[str]]:
    """The cells of an `a:tbl`; those merged downwards are repeated: a row can be read alone."""
    rows: list[list[str]] = []
    above: dict[int, str] = {}
    for row in children(table, "tr"):
        cells: list[str] = []
        for at, cell in enumerate(children(row, "tc")):
            text = body_text(child(cell, "txBody")).text
            if attribute(cell, "vMerge") in ("1", "true"):
                text = text or above.get(at, "")
            above[at] = text
            cells.append(text)
        rows.append(cells)
    return rows
