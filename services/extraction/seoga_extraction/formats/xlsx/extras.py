"""What hangs on a sheet beside its cells: comments, charts, text boxes, described pictures."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, NamedTuple

from seoga.errors import ExtractionFailed
from seoga_extraction.format import Archive, one_line
from seoga_extraction.formats.xlsx.rows import column_letters
from seoga_extraction.formats.xlsx.workbook import Workbook, unescaped
from seoga_extraction.ooxml.charts import Chart, read_chart
from seoga_extraction.ooxml.drawing import alternative, plain_text, shapes
from seoga_extraction.ooxml.package import (
    Relations,
    attribute,
    child,
    children,
    descendants,
    local,
    number,
    related,
)
from seoga_extraction.ooxml.remarks import Remark

if TYPE_CHECKING:
    from lxml.etree import _Element

MAX_COMMENTS = 50_000
_ANCHORS = ("twoCellAnchor", "oneCellAnchor", "absoluteAnchor")
_SHAPES = frozenset(("sp", "grpSp", "graphicFrame", "pic"))


class Drawn(NamedTuple):
    """Something that floats over the cells from `cells` on: a chart, or a text."""

    cells: str
    chart: Chart | None
    text: str


def _xml(archive: Archive, part: str) -> _Element | None:
    """A part that the sheet can be read without: None where it is missing or broken."""
    try:
        return archive.xml(part)
    except ExtractionFailed:
        return None


def remarks(workbook: Workbook, relations: Relations) -> Iterator[Remark]:
    """The comments of a sheet in the order of the file; threads with their replies."""
    threaded = [
        one
        for part in relations.parts("threadedComment")
        for one in children(_xml(workbook.archive, part), "threadedComment")
    ]
    if len(threaded) > MAX_COMMENTS:
        workbook.archive.cut(_comments_cut(len(threaded)))
    for one in threaded[:MAX_COMMENTS]:
        text = child(one, "text")
        yield Remark(
            workbook.persons.get(attribute(one, "personId"), ""),
            attribute(one, "dT").partition(".")[0],
            unescaped((text.text or "") if text is not None else ""),
            attribute(one, "ref"),
        )
    seen = {attribute(one, "ref") for one in threaded}
    for part in relations.parts("comments"):
        root = _xml(workbook.archive, part)
        names = [one.text or "" for one in children(child(root, "authors"), "author")]
        found = list(children(child(root, "commentList"), "comment"))
        if len(found) > MAX_COMMENTS:
            workbook.archive.cut(_comments_cut(len(found)))
        for one in found[:MAX_COMMENTS]:
            # Beside each thread stands a copy for programs that know only the classic form.
            if attribute(one, "ref") not in seen:
                yield _classic(one, names)


def _comments_cut(count: int) -> str:
    return f"Of {count:,} comments on a sheet, {MAX_COMMENTS:,} are read."


def _classic(element: _Element, names: list[str]) -> Remark:
    index = number(attribute(element, "authorId"), -1)
    author = names[index] if 0 <= index < len(names) else ""
    text = unescaped("".join(one.text or "" for one in descendants(element, "t"))).strip()
    # The program itself begins a comment with the name of its author.
    text = text.removeprefix(f"{author}:").strip() if author else text
    return Remark(author, "", text, attribute(element, "ref"))


def drawn(archive: Archive, relations: Relations) -> Iterator[Drawn]:
    """What floats over a sheet, in the order of the file."""
    for part in relations.parts("drawing"):
        root = _xml(archive, part)
        own = Relations(archive, part)
        for anchor in root if root is not None else ():
            if local(anchor) in _ANCHORS:
                for shape in shapes(anchor, _SHAPES):
                    yield from _shape(archive, own, shape, _cell(anchor))


def _cell(anchor: _Element) -> str:
    start = child(anchor, "from")
    column, row = child(start, "col"), child(start, "row")
    if column is None or row is None:
        return ""
    return f"{column_letters(number(column.text or '') + 1)}{number(row.text or '') + 1}"


def _shape(archive: Archive, own: Relations, shape: _Element, cells: str) -> Iterator[Drawn]:
    for one in descendants(shape, "chart"):
        root = _xml(archive, own.part(related(one)))
        if root is not None:
            yield Drawn(cells, read_chart(root), "")
    text = plain_text(shape)
    if text:
        yield Drawn(cells, None, text)
    if description := one_line(alternative(shape)):
        yield Drawn(cells, None, f"[image: {description}]")
