"""What comes again with every chunk is short, however long a title, heading or header row is."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from seoga.models import Chunk, DocumentInfo, Place, Section, SectionKind
from seoga.storage.records import FileRow, PreparedFile
from seoga_indexer.beside import HEADER_ROW, HEADING, LEVELS, header_row, heading_path
from seoga_indexer.chunking import assemble, chunk_document
from seoga_indexer.preparing import Draft, Sizes, prepare


def chunks_of(*sections: Section) -> list[Chunk]:
    return chunk_document(assemble(DocumentInfo("test"), sections))


def beside(chunks: Sequence[Chunk]) -> int:
    """Characters that are stored of chunks beside their texts."""
    return sum(len(c.header_row) + len("".join(c.heading_path)) + len(str(c.meta)) for c in chunks)


@pytest.mark.parametrize(
    "first",
    ["| " + " | ".join(f"column {n}" for n in range(20_000)) + " |", f"| {'말' * 100_000} | b |"],
    ids=["wide", "long cell"],
)
def test_a_header_row_costs_a_chunk_little(first: str) -> None:
    body = "\n".join(f"| {'x' * 200} | {n} |" for n in range(300))
    section = Section(f"{first}\n|---|---|\n{body}", SectionKind.TABLE)
    chunks = chunks_of(section)
    parts = [chunk for chunk in chunks if chunk.header_row]
    assert len(parts) > 50
    assert all(len(chunk.header_row) <= HEADER_ROW for chunk in parts)
    assert parts[0].header_row[:8] == first[:8]
    assert parts[0].header_row.endswith(("… |", "…"))


def test_headings_that_are_long_or_many_cost_a_chunk_little() -> None:
    path = ("제목" * 50_000, *(f"level {n}" for n in range(40)))
    chunks = chunks_of(*[Section("Some words. " * 80, heading_path=path) for _ in range(50)])
    assert len(chunks) >= 40
    assert beside(chunks) < len(chunks) * 1000
    kept = chunks[0].heading_path
    assert len(kept) == LEVELS
    assert (len(kept[0]), kept[-1]) == (HEADING, "level 39")


def test_usual_paths_and_headers_stay_as_they_are() -> None:
    assert heading_path(("A", "B" * HEADING)) == ("A", "B" * HEADING)
    assert header_row("| a | b |") == "| a | b |"


def test_a_long_value_of_a_section_goes_with_its_first_chunk() -> None:
    section = Section("Some words. " * 5000, meta={"script": "x" * 100_000, "ocr": {"by": "t"}})
    chunks = chunks_of(section)
    assert len(chunks) > 40
    assert len(chunks[0].meta["script"]) == 100_000
    assert [chunk.meta for chunk in chunks[1:]] == [{"ocr": {"by": "t"}}] * (len(chunks) - 1)


def test_a_long_title_costs_a_chunk_little() -> None:
    draft = Draft(
        FileRow("docs", "a.eml", size=1, mtime_ns=1, scanned_ns=1),
        DocumentInfo("eml", "subject " * 50_000),
        [Section("Some words. " * 80)] * 20,
        Sizes(),
    )
    made = prepare(draft)
    assert isinstance(made, PreparedFile)
    assert len(made.row.title) <= HEADING
    assert all(len(one.tokens.title) < 2 * HEADING for one in made.chunks)


def test_the_place_of_a_chunk_holds_all_its_parts() -> None:
    def part(text: str, cells: str, kind: SectionKind = SectionKind.TABLE) -> Section:
        return Section(text, kind, place=Place(sheet="S", cells=cells))

    rows = "\n".join(f"| item {n} | {n} |" for n in range(4, 21))
    [chunk] = chunks_of(
        part("Title", "A1"),
        part(f"| a | b |\n|---|---|\n{rows}", "A3:B20"),
        part("A remark.", "A3", SectionKind.COMMENT),
    )
    assert chunk.place == Place(sheet="S", cells="A1:B20")
