"""What was recognised and what a page says itself, as one: neither of them twice. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from seoga_extraction.formats.pdf.page import PageLayer
from seoga_extraction.ocr.strategy import PageText

# A recognised picture with fewer letters, or less sure, is a drawing or a photograph.
FEWEST_LETTERS = 20
SURE = 0.7
# So many of at least so many words of a paragraph on the page already: it is there already.
KNOWN = 0.8
FEWEST_WORDS = 5
_WORDS = re.compile(r"\w+")


@dataclass(frozen=True, slots=True)
class Merged:
    """The texts of a page, and what those say of their recognition that were recognised."""

    layer: PageLayer
    recognised: Mapping[str, dict[str, Any]] = field(default_factory=dict)
    # Shares of the page (0..1) of pictures that gave nothing.
    left: tuple[float, ...] = ()


def instead(layer: PageLayer, scan: PageText) -> Merged | None:
    """The page recognised, where that says more than its stub of text does."""
    if not _says_more(scan.texts, layer):
        return None
    beside = [*_beside(scan.texts, layer.unseen)]
    said = dict.fromkeys([*scan.texts, *beside], scan.meta())
    return Merged(PageLayer([*scan.texts, *beside]), said)


def among(layer: PageLayer, pictures: Sequence[PageText | None]) -> Merged:
    """The pictures pasted on the page among its texts; None for one that was not recognised."""
    if not layer.pasted:
        return Merged(layer)
    known = {_bare(text) for text in layer.texts}
    words = frozenset(_words("\n".join(layer.texts)))
    texts: list[str] = []
    recognised: dict[str, dict[str, Any]] = {}
    left: list[float] = []
    done = 0
    for (at, picture), read in zip(layer.pasted, pictures, strict=True):
        texts += layer.texts[done:at]
        done = at
        if read is None or not _is_text(read):
            left.append(picture.share)
            continue
        new = [text for text in read.texts if not _is_known(text, known, words)]
        texts += new
        recognised |= dict.fromkeys(new, read.meta())
    return Merged(PageLayer([*texts, *layer.texts[done:]], layer.tables), recognised, tuple(left))


def _is_text(read: PageText) -> bool:
    letters = sum(sign.isalnum() for text in read.texts for sign in text)
    return letters >= FEWEST_LETTERS and read.confidence >= SURE


def _is_known(text: str, known: set[str], words: frozenset[str]) -> bool:
    if _bare(text) in known:
        return True
    said = _words(text)
    return len(said) >= FEWEST_WORDS and sum(word in words for word in said) >= KNOWN * len(said)


def _words(text: str) -> list[str]:
    return _WORDS.findall(text.casefold())


def _beside(recognised: Sequence[str], unseen: Sequence[str]) -> Iterator[str]:
    """What is not painted and was not recognised either, such as the number of a court."""
    known = _bare("".join(recognised))
    return (text for text in dict.fromkeys(unseen) if _bare(text) not in known)


def _bare(text: str) -> str:
    return "".join(text.split()).casefold()


def _says_more(recognised: Sequence[str], layer: PageLayer) -> bool:
    if layer.wordless:
        return bool(recognised)
    return sum(map(len, recognised)) > 1.2 * sum(map(len, layer.texts))
