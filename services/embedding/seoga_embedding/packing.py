"""Which texts go in one call to a provider: sorted by length, packed by padded tokens."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Final

from seoga_embedding.provider import Limits

# Up to so many tokens (the longest text of a batch decides), so many texts to begin with.
BUCKETS: Final = ((200, 128), (500, 64), (1000, 32))
LAST: Final = (1_000_000, 16)

_ASCII = re.compile(r"[\x00-\x7f]+")


def tokens_of(text: str) -> int:
    """About how many tokens a text has, rather too many than too few: a third of its ASCII
    characters and every other one (Hangul syllables take 0.7 to 1.2 in today's vocabularies)."""
    ascii_chars = sum(len(run) for run in _ASCII.findall(text))
    return ascii_chars // 3 + (len(text) - ascii_chars) + 1


def bucket_of(tokens: int) -> int:
    """The upper bound of the bucket that a length belongs to."""
    return next((bound for bound, _ in BUCKETS if tokens <= bound), LAST[0])


def start_size(bucket: int) -> int:
    """The texts of a batch in this bucket before anything is learned."""
    return dict((*BUCKETS, LAST))[bucket]


def pack(texts: Sequence[str], limits: Limits, size_of: Callable[[int], int]) -> list[list[int]]:
    """Batches of indices into `texts`, each sorted by length, the shortest first.

    `size_of(bucket)` is the most texts of a batch whose longest text is in that bucket. A text
    that is over a limit alone travels alone.
    """
    order = sorted(range(len(texts)), key=lambda at: (len(texts[at]), at))
    batches: list[list[int]] = []
    batch: list[int] = []
    longest = size = 0
    for at in order:
        tokens, weight = tokens_of(texts[at]), len(texts[at].encode("utf-8", "replace"))
        longest_now = max(longest, tokens)
        full = (
            len(batch) >= min(limits.texts, size_of(bucket_of(longest_now)))
            or (len(batch) + 1) * longest_now > limits.tokens
            or size + weight > limits.bytes
        )
        if batch and full:
            batches.append(batch)
            batch, longest_now, size = [], tokens, 0
        batch.append(at)
        longest, size = longest_now, size + weight
    return [*batches, batch] if batch else batches
