"""Excel (xlsx, xlsm, ISO strict too): sheets as tables with their cell ranges, values as shown.

Read from the XML itself: what libraries give fast are bare values, without number formats, and
none of them streams the rows of a sheet together with its merged cells.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from seoga.errors import ExtractionFailed
from seoga.models import DocumentInfo, Place, Section, SectionKind
from seoga_extraction.enclosed import Enclosed
from seoga_extraction.format import (
    Archive,
    Format,
    Input,
    Outline,
    Parsed,
    corrupt,
    one_line,
    pipes,
)
from seoga_extraction.formats.xlsx.extras import drawn, remarks
from seoga_extraction.formats.xlsx.layout import Tables
from seoga_extraction.formats.xlsx.rows import RowReader, long_texts
from seoga_extraction.formats.xlsx.sheet import framed, read_frame
from seoga_extraction.formats.xlsx.workbook import SheetInfo, Workbook
from seoga_extraction.ooxml.package import Relations, title_of

_BINARY = "xl/workbook.bin"


def parse(source: Input) -> Parsed:
    """Every sheet in the order of its tab: tables, then charts and boxes, then comments.

    A sheet that breaks off gives what stands before the break; the file is told as corrupt at its
    end, so that the other sheets are read too.
    """
    workbook = Workbook(source.archive)
    sheets = workbook.sheets
    hidden = [one.name for one in sheets if one.hidden]
    meta: dict[str, Any] = {"sheets": [one.name for one in sheets]}
    if hidden:
        meta["hidden_sheets"] = hidden
    yield DocumentInfo("xlsx", one_line(title_of(source.archive)), meta)
    broken: ExtractionFailed | None = None
    enclosed, said = Enclosed(source), False
    for info in sheets:
        try:
            for section in _titled(info, _sheet(workbook, info)):
                said = True
                yield section
            for section in _pictured(enclosed, source.archive, info, alone=not said):
                said = True
                yield section
        except ExtractionFailed as error:
            broken = broken or error
    yield from enclosed.files(Outline())
    if broken is not None:
        raise broken
    if not any(one.part in source.archive.names for one in sheets):
        raise corrupt("The Excel file has no sheet.")
    enclosed.end(empty=not said)
    source.tell_cuts()


def _titled(info: SheetInfo, sections: Iterator[Section]) -> Iterator[Section]:
    """A sheet's name as a heading above what it holds; nothing for an empty one."""
    first = next(sections, None)
    if first is None:
        return
    shown = f"{info.name} (hidden sheet)" if info.hidden else info.name
    heading = Outline().heading(1, info.name, Place(sheet=info.name), one_line(shown))
    yield Section(heading.text, heading.kind, heading.heading_path, 1, heading.place, first.meta)
    yield first
    yield from sections


def _sheet(workbook: Workbook, info: SheetInfo) -> Iterator[Section]:
    archive = workbook.archive
    if info.part not in archive.names:
        return
    relations = Relations(archive, info.part)
    path, meta = (info.name,), {"hidden": True} if info.hidden else {}
    if info.role != "chartsheet":
        yield from _tables(workbook, info, relations, meta)
    yield from _drawn(workbook, info, relations, meta)
    for remark in remarks(workbook, relations):
        place = Place(sheet=info.name, cells=remark.on or None)
        yield from _said(Section(remark.shown(), SectionKind.COMMENT, path, place=place, meta=meta))


def _pictured(
    enclosed: Enclosed, archive: Archive, info: SheetInfo, *, alone: bool
) -> Iterator[Section]:
    drawings = Relations(archive, info.part).parts("drawing")
    names = [name for one in drawings for name in Relations(archive, one).parts("image")]
    yield from enclosed.pictures(names, (info.name,), Place(sheet=info.name), alone=alone)


def _tables(
    workbook: Workbook, info: SheetInfo, relations: Relations, meta: dict[str, Any]
) -> Iterator[Section]:
    tables = Tables(info.name, (info.name,), meta)
    frame = read_frame(workbook.archive, info.part, relations)
    reader = RowReader(workbook.show)
    try:
        with workbook.archive.stream(info.part) as stream:
            for row, joined in framed(reader.rows(stream, info.part), frame):
                yield from tables.add(row, joined)
    except ExtractionFailed:
        yield from tables.end()
        raise
    yield from tables.end()
    if reader.cut:
        workbook.archive.cut(long_texts(reader.cut))


def _said(section: Section) -> Iterator[Section]:
    if section.text:
        yield section


def _drawn(
    workbook: Workbook, info: SheetInfo, relations: Relations, meta: dict[str, Any]
) -> Iterator[Section]:
    for one in drawn(workbook.archive, relations):
        place, path = Place(sheet=info.name, cells=one.cells or None), (info.name,)
        if one.chart is None:
            yield Section(one.text, heading_path=path, place=place, meta=meta)
            continue
        yield from _said(Section(one.chart.caption(), heading_path=path, place=place, meta=meta))
        # On a sheet of cells the numbers of a chart stand in its cells already.
        if info.role == "chartsheet" and (rows := one.chart.rows()):
            if one.chart.left:
                workbook.archive.cut(one.chart.left)
            yield Section(pipes(rows), SectionKind.TABLE, path, place=place, meta=meta)


def sniff(source: Input) -> bool:
    """A zip file with a workbook in XML (a binary one, xlsb, is another format)."""
    if not source.is_zip:
        return False
    names = source.archive.names
    return any(name.startswith("xl/") for name in names) and _BINARY not in names


FORMAT = Format(
    "xlsx",
    parse,
    (".xlsx", ".xlsm", ".xltx", ".xltm"),
    sniff,
    needs=("lxml",),
    version="5",
    nests=True,
)
