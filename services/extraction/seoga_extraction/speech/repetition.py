"""Takes endless repetition out of a transcript: a fault that speech models are known for."""

from __future__ import annotations

import re
from collections import deque

# People say a thing twice or three times; a fourth time in a row is the model's.
TIMES = 4
# A loop of several lines is looked for up to this many.
LINES = 4
_LOOP = re.compile(rf"(.{{1,120}}?)\1{{{TIMES - 1},}}", re.DOTALL)
# Shorter ones are words: 하하하하, aaaa.
SHORTEST = 8
_WORDS = re.compile(r"[\W_]+")
# So often a part without letters must follow itself.
FIGURES = 10
# Bounds the work of the expression; a line of speech, of so many tokens at most, is far shorter.
MAX_CHARS = 2000


def collapse(text: str) -> str:
    """The text with each part that follows itself four times or more once. Numbers stay: 10000."""
    # The last copy of a part has no space behind it.
    return _LOOP.sub(_once, text[:MAX_CHARS] + " ").strip()


def _once(found: re.Match[str]) -> str:
    unit, whole = found.group(1), found.group(0)
    if any(letter.isalpha() for letter in unit):
        return unit if len(whole) >= SHORTEST else whole
    # A number may have many zeros, but not many of "-0".
    return unit if len(unit) > 1 and len(whole) >= len(unit) * FIGURES else whole


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
