"""A prepared file as the plain values that commit 1 writes.

Packed where it was prepared, in a child process: the one process that writes then only hands
values on, and they cross a pipe at the speed of bytes.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from functools import lru_cache
from hashlib import blake2b
from typing import NamedTuple

from seoga.models import Chunk, Place
from seoga.storage.records import FileRow, Kept, PreparedChunk, PreparedFile, Tokens
from seoga.storage.texts import pack_text

_NOWHERE = Place()
# json.dumps makes one anew for each call that is not in plain ASCII.
_encode = json.JSONEncoder(ensure_ascii=False).encode

Key = tuple[str, str, str, str, str]


class PackedChunk(NamedTuple):
    """`key` are the words by which a chunk is known again: text, heading path (JSON), header row,
    context, keywords; `words` is a hash of it. `where` is place (JSON), kind, language and meta
    (JSON). `terms` are those of the tokens, each once, between spaces: found out here, so that the
    one process that writes has only to count them."""

    ordinal: int
    start: int
    end: int
    key: Key
    where: tuple[str, str, str, str]
    tokens: Tokens
    words: int
    terms: str


class PackedFile(NamedTuple):
    """`text` and `marks` as they are stored (zlib); `chars` counts the text's code points."""

    row: FileRow
    text: bytes
    marks: bytes
    chars: int
    chunks: Sequence[PackedChunk]
    kept: Kept | None = None


def pack(prepared: PreparedFile) -> PackedFile:
    """The values of a file."""
    return PackedFile(
        prepared.row,
        *pack_text(prepared),
        len(prepared.text),
        [_pack_chunk(chunk) for chunk in prepared.chunks],
        prepared.kept,
    )


def _pack_chunk(prepared: PreparedChunk) -> PackedChunk:
    chunk = prepared.chunk
    heading = _heading(chunk.heading_path)
    key = (chunk.text, heading, chunk.header_row, prepared.context, prepared.keywords)
    where = _where(chunk, prepared.lang)
    return PackedChunk(
        *(chunk.ordinal, chunk.start, chunk.end, key, where, prepared.tokens, hash_of(key)),
        prepared.tokens.terms(),
    )


def with_context(chunk: PackedChunk, context: str, keywords: str, tokens: Tokens) -> PackedChunk:
    """The same chunk with what an LLM says of it, and the keyword index of both."""
    text, heading, header, *_ = chunk.key
    key = (text, heading, header, context, keywords)
    return chunk._replace(key=key, tokens=tokens, words=hash_of(key), terms=tokens.terms())


def hash_of(key: Sequence[str]) -> int:
    """What tells the words of a chunk from others: 64 bits, signed."""
    data = "\0".join(key).encode("utf-8", "surrogatepass")
    return int.from_bytes(blake2b(data, digest_size=8).digest(), "big", signed=True)


@lru_cache(1024)
def _heading(path: tuple[str, ...]) -> str:
    return _encode(path)


def _where(chunk: Chunk, lang: str) -> tuple[str, str, str, str]:
    place = "{}" if chunk.place == _NOWHERE else json.dumps(chunk.place.to_json())
    meta = _encode(dict(chunk.meta)) if chunk.meta else "{}"
    return (place, chunk.kind.value, lang, meta)
