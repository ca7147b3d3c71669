"""What a page draws, before it is drawn: how much its instructions inflate to, bounded."""

from __future__ import annotations

import re
import zlib
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from seoga.errors import ExtractionFailed, Reason
from seoga_extraction.limits import MIB

# Maps and plans of a million lines have a tenth of it; letters take a hundred times as much.
MOST = 64 * MIB
# The most that Flate makes of a byte.
_RATIO = 1032
_PIECE = 1 * MIB
_NAME = re.compile(r"/([A-Za-z0-9]+)")
# How the library tells that the memory is used up.
_STARVED = re.compile(r"(?:m|c|re)alloc.*failed")


def check(document: Any, page: Any) -> bool:
    """Whether the page and all of its instructions are there; raises ExtractionFailed (too_large)
    where they are more than MOST."""
    raws = {xref: _raw(document, xref) for xref in page.get_contents()}
    if not raws:
        return bool(document.xref_object(page.xref) != "null")
    if sum(map(len, raws.values())) * _RATIO > MOST:
        _check_size(document, page, raws)
    return all(raw or document.xref_is_stream(xref) for xref, raw in raws.items())


def _raw(document: Any, xref: int) -> bytes:
    """The bytes of a stream as they are in the file; b"" for one that is not there."""
    known = 0 < xref < document.xref_length()
    return document.xref_stream_raw(xref) or b"" if known else b""


def _check_size(document: Any, page: Any, raws: Mapping[int, bytes]) -> None:
    size = 0
    for xref, raw in raws.items():
        for piece in _inflated([raw], _filters(document, xref)):
            size += len(piece)
            if size > MOST:
                raise ExtractionFailed(
                    f"Page {page.number + 1} of the PDF has more than {MOST // MIB} MiB of drawing "
                    "instructions: it is not read.",
                    "Print it to a new PDF.",
                    Reason.TOO_LARGE,
                )


def is_larger(document: Any, xref: int, most: int) -> bool:
    """Whether a stream inflates to more bytes than `most`."""
    size = 0
    for piece in _inflated([_raw(document, xref)], _filters(document, xref)):
        size += len(piece)
        if size > most:
            return True
    return False


def is_starved(error: Exception) -> bool:
    """Whether the library failed for want of memory."""
    return isinstance(error, MemoryError) or _STARVED.search(str(error)) is not None


def starved(number: int) -> ExtractionFailed:
    """The error of a page for which the memory does not suffice."""
    return ExtractionFailed(
        f"Page {number} of the PDF needs more memory than a parser may use: it is not read.",
        "Print it to a new PDF, or raise SEOGA_EXTRACT_MEMORY_MB.",
        Reason.TOO_LARGE,
    )


def _filters(document: Any, xref: int) -> list[str]:
    return _NAME.findall(document.xref_get_key(xref, "Filter")[1])


def _inflated(pieces: Iterable[bytes], filters: list[str]) -> Iterator[bytes]:
    """The bytes behind filters, as far as they are Flate: what others make of them is no bomb."""
    for name in filters:
        if name not in ("FlateDecode", "Fl"):
            break
        pieces = _inflate(pieces)
    yield from pieces


def _inflate(pieces: Iterable[bytes]) -> Iterator[bytes]:
    machine = zlib.decompressobj()
    for piece in pieces:
        left = piece
        while left:
            try:
                out = machine.decompress(left, _PIECE)
            except zlib.error:
                return
            yield out
            left = machine.unconsumed_tail
