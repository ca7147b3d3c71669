"""Which passages travel together to a child process."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from seoga.contracts.embedding import Passage

# About 80 windows: long enough that sending it costs nothing beside the work, short enough that all
# children end a call together and that a stop waits well under a second.
BATCH_CHARS: Final = 16_000


def batches(
    passages: Sequence[Passage], chars: int = BATCH_CHARS
) -> Iterator[tuple[int, Sequence[Passage]]]:
    """(index of the first, passages) in order; a batch has at most `chars` characters or one
    passage."""
    first = size = 0
    for at, passage in enumerate(passages):
        length = len(passage.text) + len(passage.context) + len(passage.heading)
        if at > first and size + length > chars:
            yield first, passages[first:at]
            first, size = at, 0
        size += length
    if first < len(passages):
        yield first, passages[first:]
