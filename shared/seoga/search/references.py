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
# A number stands for a document only by itself: "version 2" is part of a title.
_NUMBER = re.compile(
    r"\W{0,6}(?:no\.?|number|nr\.?)?\s{0,4}#?(\d{1,8})(?![.\-/]?\d)\W{0,6}"
    r"(?:(?:\(|\b(?:on|in|since|as of|dated|from)\b).*)?",
    re.IGNORECASE | re.DOTALL,
)
_SPLIT = re.compile(r"\s*[,;、]\s*|\s+(?:and|&|및)\s+")
_FAMILY = re.compile(r"([^\W\d_]{2,10})[-_ #]{0,2}0*(\d{1,8})(?!\d)")
# Families whose documents are called by number, whatever their files are called.
FAMILIES: Final = frozenset(
    (
        *("adr", "madr", "tdr", "pdr", "ddr", "edr", "rfc", "pep", "eip", "erc", "cip", "kep"),
        *("bip", "aip", "simd", "dip", "lep", "jep", "tip", "dep", "sep", "gep", "decision"),
    )
)
# An identifier by itself, "2. Title", or the name of a file: "2 pumps" is a title.
_WHOLE_FAMILY = re.compile(r"[^\W\d_]{2,10}[-_ #]{0,2}\d{1,8}")
_NUMBERED = re.compile(r"\d{1,5}(?:[-_]\S*|[.:)](?:\s.*)?)?", re.DOTALL)
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
    if text.count("[") != text.count("]"):
        # A broken list: nothing is guessed from a part of it.
        return [Reference(text.strip(), (text.strip(),))]
    if found := _linked(text)[0]:
        return _in_order(found)
    parts = [part.strip(" \"'`*") for part in _SPLIT.split(text)]
    return [one for part in parts if _says(part) for one in _of_part(part)][:MOST]


def _of_part(part: str) -> list[Reference]:
    """A title or a name as a whole; else what stands in it."""
    found = references_in(part, numbers=True)
    if len(found) > 1:
        return found
    named = [target for one in found for target in one.targets if target != part]
    return [Reference(part, (part, *named))]


def references_in(text: str, *, numbers: bool = False) -> list[Reference]:
    """The references that stand in a sentence, in its order; with `numbers`, bare numbers too
    where there is nothing else. Linear in the text, which is short."""
    found, rest = _linked(text)
    for pattern in (_PATH, _ID):
        found += [(one.start(), Reference(one[0], (one[0],))) for one in pattern.finditer(rest)]
        rest = _blanked(pattern, rest)
    if not found and numbers:
        parts = [_NUMBER.fullmatch(part) for part in _SPLIT.split(rest)[:MOST]]
        return [Reference(one[1], (one[1],)) for one in parts if one]
    return _in_order(found)


_Placed = list[tuple[int, Reference]]


def _linked(text: str) -> tuple[_Placed, str]:
    """The references that are marked as such, and the text without them."""
    found: _Placed = []
    for pattern in (_WIKI, _LINK, _RST_LINK, _ANGLE, _TEXT_LINK):
        for match in pattern.finditer(text):
            parts = [part.strip() for part in reversed(match.groups()) if part and part.strip()]
            if len(parts) > 1 and not (parts[0].startswith("#") or "://" in parts[0]):
                # The place that a link leads to decides, not its text.
                parts = parts[:1]
            if parts:
                found.append((match.start(), Reference(match[0].strip(), tuple(parts))))
        text = _blanked(pattern, text)
    return found, text


def _blanked(pattern: re.Pattern[str], text: str) -> str:
    """What was read is not read again, and positions stay."""
    return pattern.sub(lambda match: " " * len(match[0]), text)


def _in_order(found: _Placed) -> list[Reference]:
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


def number_meant(text: str) -> str:
    """`number_key` of a reference: only where the text is an identifier as a whole or begins with
    one as documents of a numbered family are called; "" for a title with a number in it."""
    text = folded(text).strip(" #")
    found = _FAMILY.match(text)
    if found and (found[1] in FAMILIES or _WHOLE_FAMILY.fullmatch(text)):
        return number_key(text)
    return number_key(text) if _NUMBERED.fullmatch(text) else ""


def keys_of(target: str, referrer: str) -> Iterator[tuple[str, str]]:
    """What to look for, likeliest first: pairs of a kind (path, stem, number, title) and a key.
    A path that begins with a dot is meant as it stands, one with a folder is not looked up by the
    name of its file alone."""
    plain = path_key(target)
    if plain:
        yield from _paths(beside(referrer, target))
    if target.lstrip(" <").replace("\\", "/").startswith(("./", "../")):
        return
    if plain:
        yield from _paths(posixpath.normpath(plain))
    if "/" not in plain:
        if plain:
            yield "stem", stem_key(plain)
        if number := number_meant(stem_key(plain)) or number_meant(target):
            yield "number", number
    yield "title", folded(" ".join(target.split()))


def _paths(path: str) -> Iterator[tuple[str, str]]:
    yield "path", path
    if path.endswith((".html", ".htm")):
        # The page that a site generator made of a document.
        yield "path", path.rpartition(".")[0]
    else:
        yield from (("path", f"{path}/{name}") for name in sorted(_INDEX_NAMES))
