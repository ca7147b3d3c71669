"""A status among the tags of a document: a tag names what a text is about as often as what it is.

Of forty public documents that were looked at with one of these words among their tags, all but five
were out of force: one lists such things by its title, two have another status, two use the word
all through their text. That is what is asked here.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Final

from seoga.models import Section

KEYS: Final = frozenset(("tags", "tag", "labels", "label", "태그", "라벨"))
# A tag that names its kind may be any status.
_NAMED: Final = re.compile(
    r"#?(?:status|state|lifecycle|상태)\s?(?:::?|[/=-])\s?(\S.*)", re.IGNORECASE
)
# The words of the specification; the Korean ones with an ending, as the bare nouns are topics.
_GONE: Final = frozenset(
    (
        *("superseded", "archived", "deprecated", "obsolete", "retired", "rejected", "withdrawn"),
        *("폐기됨", "폐지됨", "대체됨", "철회됨", "구버전", "구판"),
    )
)
_NOUNS: Final = frozenset(("폐기", "폐지"))
# Letters that other forms of the word have as well: obsolete, obsolescence.
_STEM: Final = 6
_KOREAN_STEM: Final = 2
# So many passages that use it are about it.
_SEVERAL: Final = 3
# "Sails (archived 2026-01-17)", "DEPRECATED - Sails": what a title is marked with.
_BRACKETS: Final = re.compile(r"[\[(【][^\[\]()【】]{0,60}[\])】]")
_JOINTS: Final = re.compile(r"\s[-–—|]+\s|:\s")


def status_of_tags(tags: Iterable[str], title: str, sections: Sequence[Section]) -> Iterator[str]:
    """The status words among the tags of a document that are not what it is about."""
    for tag in tags:
        for one in tag.split(","):
            plain = one.strip().lstrip("#").casefold()
            if named := _NAMED.fullmatch(plain):
                yield named[1]
            elif plain in _GONE | _NOUNS and not _is_topic(plain, title, sections):
                yield plain


def _is_topic(word: str, title: str, sections: Sequence[Section]) -> bool:
    stem = word[: _STEM if word.isascii() else _KOREAN_STEM]
    titles = [title, *(one.heading_path[-1] for one in sections if one.level and one.heading_path)]
    if any(stem in _unmarked(one.casefold(), word) for one in titles):
        return True
    said = sum(stem in one.text.casefold() for one in sections)
    return said >= (1 if word in _NOUNS else _SEVERAL)


def _unmarked(title: str, word: str) -> str:
    """A title without what only marks it."""
    bare = _BRACKETS.sub(" ", title)
    parts = (part for part in _JOINTS.split(bare) if part.strip(" \t*_!.") != word)
    return " ".join(parts)
