"""How long a recording says it is, or whether it ends, where its container knows."""

from __future__ import annotations

from pathlib import Path
from typing import Any

# Containers that write how long they are.
_KNOWING = ("matroska", "mov", "flac")
# Where the first frame of an MP3 counts them all (Xing, its LAME variant, Fraunhofer's VBRI).
_COUNTED = (b"Xing", b"Info", b"VBRI")
# Sizes from here on stand for a stream whose end was not known when its header was written.
_UNKNOWN = 0x7FFF0000
# An Ogg page: 27 bytes with the mark, flags at 5 (the stream's last page has this one), the count
# of segments at 26, one byte of length a segment, then the segments (RFC 3533, section 6).
_OGG_MARK = b"OggS"
_OGG_HEAD = 27
_OGG_LAST = 4
_OGG_LONGEST = _OGG_HEAD + 255 + 255 * 255


def declared(path: Path, container: Any, stream: Any) -> float:
    """The seconds of sound in the audio track `stream` of an open container; 0 where unknown.

    A video may be longer than its sound, and a stream may not know its own end.
    """
    kind = container.format.name.partition(",")[0]
    if kind == "wav":
        return _told(container, stream) * _wave_share(path)
    if kind in _KNOWING or (kind == "mp3" and _frames_counted(path)):
        return _told(container, stream)
    return 0.0


def _told(container: Any, stream: Any) -> float:
    if stream.duration and stream.time_base:
        return max(float(stream.duration * stream.time_base), 0.0)
    alone = len(container.streams) == 1
    return max((container.duration or 0) / 1_000_000, 0.0) if alone else 0.0


def _wave_share(path: Path) -> float:
    """By how much the size in the header is more than what is there; the library looks at the
    file alone."""
    with path.open("rb") as file:
        head = file.read(8)
    size = int.from_bytes(head[4:8], "little")
    return (size + 8) / max(path.stat().st_size, 1) if 0 < size < _UNKNOWN else 0.0


def _frames_counted(path: Path) -> bool:
    with path.open("rb") as file:
        head = file.read(10)
        start = 0
        if head[:3] == b"ID3":
            # Seven bits of each byte (ID3v2, section 3.1).
            start = 10 + sum(byte << 7 * (3 - n) for n, byte in enumerate(head[6:10]))
        file.seek(start)
        frame = file.read(400)
    return any(mark in frame for mark in _COUNTED)


def open_ended(path: Path) -> bool:
    """Whether an Ogg file breaks off before the last page of its last stream; False for others,
    whose containers have no such mark. The end of the file is read, not the whole."""
    with path.open("rb") as file:
        if file.read(4) != _OGG_MARK:
            return False
        file.seek(0, 2)
        file.seek(max(file.tell() - 2 * _OGG_LONGEST, 0))
        tail = file.read()
    # The mark may stand in sound by chance: only a page that ends with the file counts.
    at = tail.rfind(_OGG_MARK)
    while at >= 0:
        if _ogg_length(tail[at:]) == len(tail) - at:
            return not tail[at + 5] & _OGG_LAST
        at = tail.rfind(_OGG_MARK, 0, at)
    return True


def _ogg_length(page: bytes) -> int:
    """The bytes that a page should have by its header; 0 where the header itself is cut off."""
    if len(page) < _OGG_HEAD or len(page) < _OGG_HEAD + page[26]:
        return 0
    return _OGG_HEAD + page[26] + sum(page[_OGG_HEAD : _OGG_HEAD + page[26]])
