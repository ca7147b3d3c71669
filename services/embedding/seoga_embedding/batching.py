"""Which passages travel together to a child process."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Final

from seoga.contracts.embedding import Passage

# The more text in a batch, the more of its words repeat and are computed once; above this the gain
# is under 3 %, and a stop would wait longer than half a second.
MOST_CHARS: Final = 48_000
LEAST_CHARS: Final = 8_000
# Below this a batch takes little beside the model.
_FEW: Final = 8


def size_of(passage: Passage) -> int:
    """Characters to embed."""
    return len(passage.text) + len(passage.context) + len(passage.heading)


def batches(
    passages: Sequence[Passage], children: int, most_chars: int = MOST_CHARS
) -> Iterator[Sequence[Passage]]:
    """Passages in order, in batches of about equal size: all `children` end together."""
    total = sum(map(size_of, passages))
    rounds = -(-total // (most_chars * children)) or 1
    most = max(min(LEAST_CHARS, most_chars), -(-total // (rounds * children)))
    first = size = 0
    for at, passage in enumerate(passages):
        length = size_of(passage)
        # Half of a passage more or less, so that rounding does not leave a small batch at the end.
        if at > first and size + length // 2 > most:
            yield passages[first:at]
            first, size = at, 0
        size += length
    if first < len(passages):
        yield passages[first:]


def shrunk(passages: Sequence[Passage], pressed: Callable[[], bool]) -> Iterator[Sequence[Passage]]:
    """A batch in parts, each half of what was left as long as memory is `pressed` when its turn
    comes."""
    while passages:
        part = passages
        if pressed():
            part = passages[: max(_FEW, len(passages) // 2)]
        yield part
        passages = passages[len(part) :]
