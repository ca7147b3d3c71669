"""What a process that has read a small file does with it at once: cut, tokenise, pack. Pure.

Its results are values of JSON: the process that writes takes nothing else from one that reads
documents.
"""

from __future__ import annotations

from binascii import a2b_base64, b2a_base64
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from seoga.models import DocumentInfo, Section
from seoga.storage.packing import PackedChunk, PackedFile
from seoga.storage.records import FileRow, Tokens
from seoga_indexer.preparing import Draft, Sizes, packed

if TYPE_CHECKING:
    from seoga_indexer.versions import Versions

# What `Finishing.finish` is asked for.
TASK = f"{__name__}:finish"

# The path of a file, its title where it says none itself, and the sizes of chunks.
Told = tuple[str, str, tuple[int, int, int]]
Made = tuple[Any, ...]


def told_of(row: FileRow, sizes: Sizes) -> Told:
    """What `finish` needs to know of a file."""
    return row.path, row.title, (sizes.target_chars, sizes.overlap_chars, sizes.max_chars)


def finish(told: Told, info: DocumentInfo, sections: Sequence[Section]) -> Made | None:
    """The file as values of JSON, None for one without text."""
    path, title, sizes = told
    row = FileRow("", path, 0, 0, 0, title=title)
    result = packed(Draft(row, info, sections, Sizes(*sizes)))
    if isinstance(result, FileRow):
        return None
    made = result.row
    said = (made.format, made.title, made.lang, dict(made.meta))
    text = (_text(result.text), _text(result.marks), result.chars)
    return said, text, result.chunks


def _text(data: bytes) -> str:
    return b2a_base64(data, newline=False).decode("ascii")


def taken(made: Made, row: FileRow, versions: Versions) -> PackedFile:
    """The file as commit 1 takes it; `row` as it was before it was read."""
    (name, title, lang, meta), (text, marks, chars), chunks = made
    by = versions.made(name)
    row = replace(row, format=name, title=title, lang=lang, meta=meta, made=by)
    parts = [_chunk(*chunk) for chunk in chunks]
    return PackedFile(row, a2b_base64(text), a2b_base64(marks), chars, parts)


def _chunk(*values: Any) -> PackedChunk:
    ordinal, start, end, key, where, tokens, words = values
    return PackedChunk(ordinal, start, end, tuple(key), tuple(where), Tokens(*tokens), words)
