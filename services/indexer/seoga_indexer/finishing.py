"""What a process that has read a small file does with it at once: cut, tokenise, pack. Pure.

Its results are values of JSON, texts and bytes: the process that writes takes nothing else from one
that reads documents.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from seoga.contracts.extraction import Made
from seoga.models import DocumentInfo, Section
from seoga.storage.packing import PackedChunk, PackedFile
from seoga.storage.records import FileRow, Tokens
from seoga_indexer.preparing import Draft, Sizes, packed

if TYPE_CHECKING:
    from seoga_indexer.versions import Versions

# What `Finishing.finish` is asked for.
TASK = f"{__name__}:finish"

# The texts of a chunk, one after another: those of its key, of its place, of its tokens, and its
# terms.
_KEY, _WHERE, _TOKENS, _TEXTS = 5, 9, 14, 15

# The path of a file, its title where it says none itself, and the sizes of chunks.
Told = tuple[str, str, tuple[int, int, int]]


def told_of(row: FileRow, sizes: Sizes) -> Told:
    """What `finish` needs to know of a file."""
    return row.path, row.title, (sizes.target_chars, sizes.overlap_chars, sizes.max_chars)


def finish(told: Told, info: DocumentInfo, sections: Sequence[Section]) -> Made | None:
    """The file without its row, None for one without text."""
    path, title, sizes = told
    row = FileRow("", path, 0, 0, 0, title=title)
    result = packed(Draft(row, info, sections, Sizes(*sizes)))
    if isinstance(result, FileRow):
        return None
    made = result.row
    said = (made.format, made.title, made.lang, dict(made.meta))
    numbers = [(one.start, one.end, one.words) for one in result.chunks]
    return Made((said, result.chars, numbers), _texts(result.chunks), (result.text, result.marks))


def _texts(chunks: Iterable[PackedChunk]) -> list[str]:
    out: list[str] = []
    for one in chunks:
        out += one.key
        out += one.where
        out += one.tokens
        out.append(one.terms)
    return out


def taken(made: Made, row: FileRow, versions: Versions) -> PackedFile:
    """The file as commit 1 takes it; `row` as it was before it was read."""
    (name, title, lang, meta), chars, numbers = made.value
    by = versions.made(name)
    row = replace(row, format=name, title=title, lang=lang, meta=meta, made=by)
    text, marks = made.blobs
    return PackedFile(row, text, marks, chars, [*_chunks(numbers, made.texts)])


def _chunks(numbers: Sequence[tuple[int, int, int]], texts: Sequence[str]) -> Iterator[PackedChunk]:
    parts = zip(*[iter(texts)] * _TEXTS, strict=True)
    for ordinal, ((start, end, words), part) in enumerate(zip(numbers, parts, strict=True)):
        key, where, tokens = part[:_KEY], part[_KEY:_WHERE], Tokens._make(part[_WHERE:_TOKENS])
        yield PackedChunk(ordinal, start, end, key, where, tokens, words, part[_TOKENS])
