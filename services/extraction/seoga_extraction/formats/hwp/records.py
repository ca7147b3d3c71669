"""The record tree of an HWP 5 stream (Hancom's published format, revision 1.3, chapter 4)."""

from __future__ import annotations

import struct
from collections.abc import Iterator
from dataclasses import dataclass, field
from enum import IntEnum

from seoga.errors import ExtractionFailed, Reason
from seoga_extraction.format import corrupt

# Four a paragraph; a bomb of empty records would keep the reader busy for minutes.
MAX_RECORDS = 4_000_000


class Tag(IntEnum):
    """The records that are read."""

    DOCUMENT_PROPERTIES = 16
    NUMBERING = 23
    BULLET = 24
    PARA_SHAPE = 25
    STYLE = 26
    DISTRIBUTE_DOC_DATA = 28
    PARA_HEADER = 66
    PARA_TEXT = 67
    CTRL_HEADER = 71
    LIST_HEADER = 72
    SHAPE_COMPONENT = 76
    TABLE = 77
    OLE = 84
    EQEDIT = 88
    TEXTART = 90
    FORM_OBJECT = 91
    MEMO_LIST = 93


@dataclass(slots=True)
class Record:
    """One record: tag, level, payload, and the records one level below that follow it."""

    tag: int
    level: int
    data: bytes
    below: list[Record] = field(default_factory=list)

    def word(self, offset: int, default: int = 0) -> int:
        """The 16-bit number at `offset`; `default` past the end."""
        return self._number("<H", offset, default)

    def long(self, offset: int, default: int = 0) -> int:
        """The 32-bit number at `offset`; `default` past the end."""
        return self._number("<I", offset, default)

    def _number(self, shape: str, offset: int, default: int) -> int:
        if offset + struct.calcsize(shape) > len(self.data):
            return default
        return int(struct.unpack_from(shape, self.data, offset)[0])

    def text(self, offset: int) -> tuple[str, int]:
        """A string with its length before it, and the offset after it."""
        end = offset + 2 + 2 * self.word(offset)
        return self.data[offset + 2 : end].decode("utf-16-le", "replace"), end

    def of(self, tag: Tag) -> Iterator[Record]:
        """The records of one kind directly below."""
        return (one for one in self.below if one.tag == tag)


def records(data: bytes) -> Iterator[Record]:
    """All records in order, flat. Raises ExtractionFailed: cut off, or millions of them."""
    at = count = 0
    while at + 4 <= len(data):
        count += 1
        if count > MAX_RECORDS:
            raise ExtractionFailed(
                f"The HWP document has more than {MAX_RECORDS} records in one stream.",
                "Split it.",
                Reason.TOO_LARGE,
            )
        head = int.from_bytes(data[at : at + 4], "little")
        at += 4
        size = head >> 20
        if size == 0xFFF:
            size = int.from_bytes(data[at : at + 4], "little")
            at += 4
        if at + size > len(data):
            raise corrupt("The HWP document is cut off in the middle of a record.")
        yield Record(head & 0x3FF, head >> 10 & 0x3FF, data[at : at + size])
        at += size


def trees(data: bytes) -> Iterator[Record]:
    """The records of level 0 with all that belongs to them, one at a time."""
    path: list[Record] = []
    for record in records(data):
        while path and path[-1].level >= record.level:
            top = path.pop()
            if not path:
                yield top
        if path:
            path[-1].below.append(record)
        path.append(record)
    if path:
        yield path[0]
