"""Takes endless repetition out of a transcript: a fault that speech models are known for."""

from __future__ import annotations

import re
from collections import deque

# People say a thing twice or three times; a fourth time in a row is the model's.
TIMES = 4
# A loop of several lines is looked for up to this many.
LINES = 4
_LOOP = re.compile(rf"(.{{1,120}}?)\1{{{TIMES - 1},}}", re.DOTALL)
_WORDS = re.compile(r"[\W_]+")
# Bounds the work of the expression; a line of speech is far shorter.
MAX_CHARS = 2000


def collapse(text: str) -> str:
    """The text with each part that follows itself four times or more once. Numbers stay: 10000."""
    text = text[:MAX_CHARS]
    return _LOOP.sub(_once, text)


def _once(found: re.Match[str]) -> str:
    unit, whole = found.group(1), found.group(0)
    if not any(letter.isalpha() for letter in unit) or len(whole) < 2 * TIMES:
        return whole
    return unit if unit[-1:].isspace() or not unit[:1].isspace() else unit.rstrip()


class Repetitions:
    """Looks at the lines of one recording in order."""

    def __init__(self) -> None:
        self._seen: deque[str] = deque(maxlen=TIMES * LINES)

    def kept(self, text: str) -> str:
        """The line without loops inside; "" when it only continues a loop of lines."""
        text = collapse(" ".join(text.split()))
        self._seen.append(_WORDS.sub("", text).casefold())
        lines = list(self._seen)
        for period in range(1, LINES + 1):
            last = lines[-period * TIMES :]
            if len(last) == period * TIMES and last == last[:period] * TIMES:
                return ""
        return text
