"""CP949 with stray no-break spaces: a byte A0 of another charset between letters of two bytes."""

from __future__ import annotations

from collections.abc import Iterator

_NBSP = 0xA0
_MARK = b"\xa0"
# Letters A0 81 to A0 9F: behind a no-break space, what would begin there is as rare. A text with
# so many different ones lists syllables: in it A0 begins letters.
_RARE = range(0x81, 0xA0)
_LISTED = 10


def spaced(data: bytes) -> bytes:
    """CP949 with a blank for each byte A0 that is a no-break space: as many bytes, in linear time.

    The letters that A0 can begin in Microsoft's table 949 are syllables without a word in Korean;
    read as one, a stray A0 would take half of the next letter, and so would all after it.
    """
    if _MARK not in data or sum(bytes((_NBSP, last)) in data for last in _RARE) >= _LISTED:
        return data
    mended = bytearray(data)
    for at in _strays(data):
        mended[at] = 0x20
    return bytes(mended)


def _strays(data: bytes) -> Iterator[int]:
    """Where a byte A0 begins no letter; looked for in each run of bytes above ASCII."""
    at = data.find(_MARK)
    while at >= 0:
        # What is before a run is ASCII or ends a letter: the run begins with one.
        lead = at
        while lead and data[lead - 1] >= 0x80:
            lead -= 1
        end = at
        while end < len(data) and data[end] >= 0x80:
            end += 1
        while lead < end:
            if data[lead] == _NBSP and _is_stray(data, lead, end):
                yield lead
                lead += 1
            else:
                lead += 2 if lead + 1 < end and 0x80 < data[lead + 1] < 0xFF else 1
        at = data.find(_MARK, end)


def _is_stray(data: bytes, at: int, end: int) -> bool:
    """Whether whole letters follow this A0, up to the next one or the end of the run."""
    if at + 1 == end or data[at + 1] == _NBSP:
        return True
    following = data.find(_MARK, at + 1, end)
    return ((end if following < 0 else following) - at) % 2 == 1
