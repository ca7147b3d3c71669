"""Half characters in a request: JSON can escape a lone surrogate, and no text can hold one."""

from __future__ import annotations

import re
from typing import Final

_ESCAPES: Final = re.compile(
    rb"\\u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}"
    rb"|(\\u[dD][89a-fA-F][0-9a-fA-F]{2})|\\.",
    re.DOTALL,
)
_HALF: Final = re.compile(rb"\\u[dD][89a-fA-F]")
_REPLACEMENT: Final = rb"\ufffd"


def without_halves(body: bytes) -> bytes:
    """The same JSON with the replacement character for each half of a pair that stands alone; of
    the same length."""
    if not _HALF.search(body):
        return body
    return _ESCAPES.sub(lambda found: _REPLACEMENT if found[1] else found[0], body)
