"""The extracted text of a file as it is stored: compressed, with the places that it came from."""

from __future__ import annotations

import json
import zlib

from seoga.models import Place
from seoga.storage.records import PreparedFile

# Level 1 costs a third of the default and gives up a tenth of the space.
_ZLIB_LEVEL = 1
_NO_MARKS = zlib.compress(b"[]")
# A window that holds the text and a small table: the same result, less memory to clear each time.
_SMALL, _WINDOW_BITS, _MEMORY_LEVEL = 8 << 10, 13, 6


def pack_text(prepared: PreparedFile) -> tuple[bytes, bytes]:
    """The text and its marks, as commit 1 stores them."""
    text = _compressed(prepared.text.encode("utf-8", "surrogatepass"))
    if not prepared.marks:
        return text, _NO_MARKS
    marks = [[offset, place.to_json()] for offset, place in prepared.marks]
    return text, _compressed(json.dumps(marks, ensure_ascii=False).encode())


def _compressed(data: bytes) -> bytes:
    if len(data) > _SMALL:
        return zlib.compress(data, _ZLIB_LEVEL)
    made = zlib.compressobj(_ZLIB_LEVEL, zlib.DEFLATED, _WINDOW_BITS, _MEMORY_LEVEL)
    return made.compress(data) + made.flush()


def unpack_text(text: bytes, marks: bytes) -> tuple[str, list[tuple[int, Place]]]:
    """Inverse of what commit 1 stores: the text and its (offset, place) marks."""
    pairs = json.loads(zlib.decompress(marks))
    return (
        zlib.decompress(text).decode("utf-8", "surrogatepass"),
        [(offset, Place.from_json(place)) for offset, place in pairs],
    )
