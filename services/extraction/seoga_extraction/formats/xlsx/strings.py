"""The table of shared strings, streamed: only the text that shows, cut to what a cell may hold."""

from __future__ import annotations

from seoga_extraction.format import Archive, corrupt
from seoga_extraction.formats.xlsx.rows import MAX_CELL_CHARS, PIECE, long_texts, sheet_parser


class _Strings:
    def __init__(self) -> None:
        self.found: list[str] = []
        self.pieces: list[str] = []
        self.cut = 0
        self._text = ""
        self._phonetic = False

    def start(self, tag: str, _attributes: dict[str, str]) -> None:
        name = tag.rpartition("}")[2]
        if name == "si":
            self._text = ""
        elif name == "rPh":
            self._phonetic = True
        self.pieces.clear()

    def end(self, tag: str) -> None:
        name = tag.rpartition("}")[2]
        if name == "t":
            if not self._phonetic:
                self._text += "".join(self.pieces)
        elif name == "si":
            self.found.append(self._text[:MAX_CELL_CHARS])
            self.cut += len(self._text) > MAX_CELL_CHARS
        elif name == "rPh":
            self._phonetic = False
        self.pieces.clear()


def shared_strings(archive: Archive, part: str) -> list[str]:
    """The strings in their order; as many as could be read where the XML breaks."""
    from xml.parsers.expat import ExpatError

    reader = _Strings()
    parser = sheet_parser(reader.start, reader.end, reader.pieces.append)
    with archive.stream(part) as stream:
        try:
            while piece := stream.read(PIECE):
                parser.Parse(piece, False)
            parser.Parse(b"", True)
        except ExpatError as error:
            raise corrupt(
                f"{part} inside the file is damaged: it is not well-formed XML."
            ) from error
    if reader.cut:
        archive.cut(long_texts(reader.cut))
    return reader.found
