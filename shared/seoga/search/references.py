"""References between documents as people write them: paths, links, wikilinks, numbers, titles."""

from __future__ import annotations

import posixpath
import re
import unicodedata
from collections.abc import Iterator
from typing import Final, NamedTuple
from urllib.parse import unquote

MOST: Final = 12
_LINK = re.compile(r"\[([^\[\]]{0,200})\]\(\s*<?([^()<>\s]{1,300})>?[^()]{0,100}\)")
_TEXT_LINK = re.compile(r"\[([^\[\]]{1,200})\](?:\[[^\[\]]{0,100}\])?")
_WIKI = re.compile(r"\[\[([^\[\]|]{1,200})(?:\|[^\[\]]{0,200})?\]\]")
_RST_LINK = re.compile(r"`([^`<>]{0,200})<([^<>`\s]{1,300})>`_{0,2}")
_ANGLE = re.compile(r"<([^<>\s]{1,300})>")
_NAME_ENDS = r"md|markdown|mdx|rst|rest|txt|html?|pdf|docx?|hwpx?|pptx?|xlsx?|odt|adoc"
_PATH = re.compile(rf"[^\s()\[\]<>,;`\"']{{1,200}}\.(?:{_NAME_ENDS})\b", re.IGNORECASE)
_ID = re.compile(r"\b(?:[A-Za-z]{2,10}[-_#]\d{1,8}|[A-Z]{2,10} ?#?\d{1,8})(?![\w-])")
_NUMBER = re.compile(r"(?<![\w.])#?(\d{1,8})\b(?![.\-/]\d)")
_SPLIT = re.compile(r"\s*[,;、]\s*|\s+(?:and|&|및)\s+")
_FAMILY = re.compile(r"([^\W\d_]{2,10})[-_ #]{0,2}0*(\d{1,8})(?!\d)")
# Longer ones are days: two documents of one day are not the same.
_LEADING = re.compile(r"0*(\d{1,5})(?!\d)")
_INDEX_NAMES = frozenset(("readme", "index", "_index"))


class Reference(NamedTuple):
    """One reference: the text as it was written, and what it may name, likeliest first. `loose`:
    words of a sentence that may be a title, and may be nothing."""

    text: str
    targets: tuple[str, ...]
    loose: bool = False

    @property
    def outside(self) -> bool:
        """True for the address of a page: it need not be one of ours."""
        return "://" in self.targets[0]


def values_in(text: str) -> list[Reference]:
    """The references of a value that is nothing else: `superseded_by: 0005-use-x.md, ADR-7`."""
    found = references_in(text, numbers=True)
    if found:
        return found
    parts = [part.strip(" \"'`*") for part in _SPLIT.split(text)]
    return [Reference(part, (part,)) for part in parts if _says(part)][:MOST]


def references_in(text: str, *, numbers: bool = False) -> list[Reference]:
    """The references that stand in a sentence, in its order; with `numbers`, bare numbers too
    where there is nothing else. Linear in the text, which is short."""
    found: list[tuple[int, Reference]] = []
    rest = text
    for pattern in (_WIKI, _LINK, _RST_LINK, _ANGLE, _TEXT_LINK, _PATH, _ID):
        for match in pattern.finditer(rest):
            # The place that a link leads to says more than its text.
            parts = [part.strip() for part in match.groups() if part] or [match[0]]
            if targets := tuple(part for part in reversed(parts) if part):
                found.append((match.start(), Reference(match[0].strip(), targets)))
        # What was read is not read again, and positions stay.
        rest = pattern.sub(lambda match: " " * len(match[0]), rest)
    if not found and numbers:
        found = [(one.start(), Reference(one[0], (one[1],))) for one in _NUMBER.finditer(rest)]
    return [reference for _, reference in sorted(found, key=lambda pair: pair[0])][:MOST]


def _says(text: str) -> bool:
    return any(char.isalnum() for char in text) and text.casefold() not in (
        *("none", "null", "n/a", "na", "no", "tbd", "없음", "false"),
    )


def folded(text: str) -> str:
    """The form in which names are compared: NFC, without case."""
    return text.lower() if text.isascii() else unicodedata.normalize("NFC", text).casefold()


def path_key(target: str) -> str:
    """A path as it is looked up: without anchor, query and percent signs."""
    target = target.split("#", 1)[0].split("?", 1)[0]
    return folded(unquote(target)).replace("\\", "/").strip("/ ")


def beside(path: str, target: str) -> str:
    """A target that is written relative to the document at `path`, as a key."""
    return posixpath.normpath(posixpath.join(posixpath.dirname(folded(path)), path_key(target)))


def stem_key(path: str) -> str:
    """The name of a document without folder and extension; that of its folder for a README."""
    parts = path.rsplit("/", 2)
    name = parts[-1]
    stem, dot, end = name.rpartition(".")
    if not dot or not stem or len(end) > 8 or " " in end:
        stem = name
    if stem in _INDEX_NAMES and len(parts) > 1:
        return parts[-2]
    return stem


def number_key(text: str) -> str:
    """`ADR-0005` as `adr:5`, `0005-use-x` as `:5`; "" for what has no number."""
    text = folded(text).strip(" #")
    if found := _FAMILY.match(text):
        return f"{found[1]}:{int(found[2])}"
    if found := _LEADING.match(text):
        return f":{int(found[1])}"
    return ""


def keys_of(target: str, referrer: str) -> Iterator[tuple[str, str]]:
    """What to look for, likeliest first: pairs of a kind (path, stem, number, title) and a key."""
    plain = path_key(target)
    if plain:
        yield "path", beside(referrer, target)
        yield "path", posixpath.normpath(plain)
        yield "stem", stem_key(plain)
    if number := number_key(stem_key(plain) if "/" in plain else target.strip()):
        yield "number", number
    yield "title", folded(" ".join(target.split()))
