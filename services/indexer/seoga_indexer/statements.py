"""What a document says of its own life: its status, what replaced it, what it replaces.

Found when a file is indexed and stored as it stands; what the words mean, and which documents
the references name, is decided by `seoga.search.lifecycle` when somebody searches.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Final

from seoga.models import FAULTS, REMARKS, DocumentInfo, Section, SectionKind
from seoga.search.statuses import Standing, status_of
from seoga.storage.records import SIDECAR
from seoga_indexer import spoken, tagged

STATEMENTS_VERSION: Final = "10"
# Bounds: statements are short and stand at the top, whatever a hostile file says.
MOST: Final = 24
LONGEST: Final = 300
_PREAMBLE_SECTIONS = 8
_PREAMBLE_LINES = 80
_SECTION_LINES = 8
_DEEPEST = 3
# Not what it says, but that it cannot be read.
FAULT: Final = "fault"

# Keys without case, spaces, hyphens and underscores.
_STATUS = (
    *("status", "adrstatus", "docstatus", "documentstatus", "decisionstatus", "상태"),
    *("문서상태", "규정상태", "승인상태"),
)
_BY = (
    *("supersededby", "supercededby", "replacedby", "obsoletedby", "succeededby", "successor"),
    *("successors", "successorversion", "deprecatedby", "대체문서", "후속문서"),
    *("후속", "후속규정", "대체규정", "대체하는문서", "대체됨"),
    *("isreplacedby", "dcisreplacedby", "dctermsisreplacedby"),
)
# Read by what else the document says of itself.
_EITHER = ("대체",)
_OF = (
    *("supersedes", "supercedes", "replaces", "obsoletes", "predecessor", "predecessors"),
    *("predecessorversion", "대체대상", "이전문서", "이전규정"),
    *("dcreplaces", "dctermsreplaces"),
)
_REASON = ("withdrawalreason", "deprecationreason", "retirementreason", "statusreason")
_DATE = (
    *("date", "decided", "decidedon", "decisiondate", "datedecided", "날짜"),
    *("effective", "effectivedate", "effectivefrom", "effectiveon", "validfrom"),
    *("시행", "시행일", "시행일자", "발효일"),
)
_CREATED = ("created", "createdon", "createdat")
_UNTIL = (
    *("supersededon", "supersededat", "supersededdate", "retiredon", "retiredat", "deprecatedon"),
    *("withdrawnon", "obsoletedon", "archivedon", "archivedat", "replacedon"),
    *("폐지일", "폐기일", "대체일"),
)
_ENDS = (
    *("validuntil", "validto", "expires", "expireson", "expiry", "expirydate", "expirationdate"),
    *("만료일", "유효기한"),
)
_ID = ("id", "adrid", "docid", "documentid", "number", "문서번호")
_FAMILY = ("adr", "eip", "erc", "cip", "pep", "kep", "bip", "rfc", "aip", "simd", "dip")
_FIELDS: Final = {
    key: field
    for field, keys in (
        *(("status", _STATUS), ("by", _BY), ("of", _OF), ("reason", _REASON), ("date", _DATE)),
        *(("created", _CREATED), ("until", _UNTIL), ("id", _ID), ("either", _EITHER)),
        ("ends", _ENDS),
    )
    for key in keys
}
# `deprecated: true`
_FLAGS = frozenset(
    (
        *("deprecated", "archived", "obsolete", "superseded", "retired", "withdrawn"),
        *("rejected", "draft"),
    )
)
# Keys of a file beside another that people may write for themselves.
_NOTES = frozenset(("title", "note", "notes", "comment", "author", "lifecycle", "제목", "비고"))
_TRUE = frozenset(("true", "yes", "on", "1"))
_STATUS_HEADINGS = frozenset(_STATUS)
_LINK_HEADINGS = frozenset(
    (
        *("links", "relatedlinks", "related", "relations", "relateddecisions", "references"),
        *("relateddocuments", "moreinformation", "관련문서", "관련링크"),
    )
)
# Without one of these a document states nothing of its life.
_TELLING = frozenset(("status", "by", "of", "either", "reason", "line", "id", "ends", FAULT))

# What a comment may state.
_REMARKED = frozenset(("status", "by", "of", "reason", "date", "until", "line"))

_LINE = re.compile(r"[\s>*+\-_]{0,12}([^\W\d_][^::|]{0,38}?)[\s*_]{0,4}[::][\s*_]{0,4}(\S.*)")
# "[상태] 폐기", as Korean papers have it.
_BRACKETED = re.compile(r"[\s>*+\-_]{0,12}[\[【]([^\W\d_][^\[\]【】]{0,20})[\]】]\s{1,3}([^\s(].*)")
_RULE = re.compile(r"[\s|:\-=+]+")
_MARKS = re.compile(r"^[\s>*+\-_#]{1,12}")
_RELATION = re.compile(
    r"(?:this \w{1,12} (?:is|was|has been) )?(?:now )?(?:superseded|superceded|replaced|obsoleted)"
    r" by\b|supersedes\b|supercedes\b|replaces\b|obsoletes\b",
    re.IGNORECASE,
)
_UNSAID = re.compile(r"[\W_]+")
_NUMBERED = re.compile(r"^\s*\d{1,3}[.)]?\s+")

Statements = list[list[str]]


def statements_of(info: DocumentInfo, sections: Sequence[Section], path: str = "") -> Statements:
    """Pairs of a field and its text, each pair once: `status`, `by` and `of` (references to what
    replaced it and what it replaces), `either` (one of the two), `reason`, `line` (a sentence about
    either), `date`, `created`, `until` (since when it is retired), `ends` (the last day
    that it is valid), `id`; `fault`: what of this
    could not be read. Empty when it states nothing. Linear in the number of sections; at most MOST
    pairs of LONGEST code points."""
    found: dict[tuple[str, str], None] = {}
    if path.casefold().endswith(SIDECAR):
        name = path.rpartition("/")[2]
        said = _sidecar(sections)
        # It is told of the file that it speaks of.
        sources: Iterable[tuple[str, str]] = (
            (field, f"{name}: {text}" if field == FAULT else text) for field, text in said
        )
    else:
        keys = list(_of_keys(info.meta))
        # The text of a page has lost where its links lead; its metadata has not.
        linked = {field for field, _ in keys if field in ("by", "of") and info.format == "html"}
        if info.format == "html":
            # There it is the copy in a cache that ends.
            keys = [pair for pair in keys if pair[0] != "ends"]
        faults = ((FAULT, str(one)) for one in info.meta.get(FAULTS, ()))
        below = (pair for pair in _of_text(sections) if pair[0] not in linked)
        remarks = _of_remarks(info.meta.get(REMARKS, ()))
        sources = (*faults, *keys, *remarks, *spoken.of_title(info.title), *below)
    for field, text in sources:
        if text and len(found) < MOST:
            found[field, text[:LONGEST]] = None
    if not any(field == "status" for field, _ in found):
        words = tagged.status_of_tags(_tags(info.meta), info.title, sections)
        found.update(dict.fromkeys(("status", word[:LONGEST]) for word in words))
    if not any(field in _TELLING for field, _ in found):
        return []
    return [[field, text] for field, text in found]


def _of_keys(meta: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    for key, value in meta.items():
        plain = _plain(str(key)[:60])
        if isinstance(value, Mapping):
            if plain == "lifecycle":
                yield from _of_keys(value)
        elif isinstance(value, list | tuple):
            for one in value[:MOST]:
                yield from _pair(plain, str(one)[:LONGEST])
        else:
            yield from _pair(plain, str(value)[:LONGEST])


def _tags(meta: Mapping[str, Any]) -> Iterator[str]:
    for key, value in meta.items():
        if _plain(str(key)[:60]) in tagged.KEYS:
            several = value if isinstance(value, list | tuple) else (value,)
            yield from (str(one)[:LONGEST] for one in several[:MOST])


def _of_remarks(lines: Sequence[str]) -> Iterator[tuple[str, str]]:
    """Statements of the comments at a document's head: keys and values, or a sentence about the
    document. Comments say much else, so nothing counts without a status that is known or a
    relation."""
    found: list[tuple[str, str]] = []
    for line in lines[:MOST]:
        keyed = _LINE.match(line)
        pairs = _pair(_plain(keyed[1]), keyed[2]) if keyed else spoken.of_line(line, _bare(line))
        found += pairs
    known = [pair for pair in found if pair[0] != "status" or _is_known(pair[1])]
    if any(field in ("status", "by", "of") for field, _ in known):
        yield from (pair for pair in known if pair[0] in _REMARKED)


def _is_known(text: str) -> bool:
    return status_of(text)[1] is not Standing.UNKNOWN


def _pair(key: str, text: str) -> Iterator[tuple[str, str]]:
    text = " ".join(text.split())
    if field := _FIELDS.get(key):
        yield field, text
    elif key in _FLAGS:
        if text.casefold() in _TRUE:
            yield "status", key
    elif key in _FAMILY and text.isdecimal():
        yield "id", f"{key}-{text}"


def _plain(key: str) -> str:
    return _UNSAID.sub("", key.casefold())


def _of_text(sections: Sequence[Section]) -> Iterator[tuple[str, str]]:
    yield from _preamble(sections)
    path: tuple[str, ...] = ()
    kind, lines = "", 0
    for section in sections:
        if section.heading_path != path:
            path = section.heading_path
            kind, lines = _kind_of(path), 0
        if not kind or section.level or lines >= _SECTION_LINES * 4:
            continue
        for line in section.text.split("\n", _SECTION_LINES * 4)[: _SECTION_LINES * 4]:
            text = _bare(line)
            if not text:
                continue
            if kind == "status" and lines < _SECTION_LINES:
                yield ("line" if lines else "status"), text
            elif kind == "links" and _RELATION.match(text):
                yield "line", text
            lines += 1


def _kind_of(path: tuple[str, ...]) -> str:
    if not path or len(path) > _DEEPEST:
        return ""
    title = _plain(_NUMBERED.sub("", path[-1][:60]))
    if title in _STATUS_HEADINGS:
        return "status"
    return "links" if title in _LINK_HEADINGS else ""


def _preamble(sections: Sequence[Section]) -> Iterator[tuple[str, str]]:
    """What stands before the second heading: `- Status: x`, header lines, a table of two columns,
    a sentence that says what replaced this."""
    left = _PREAMBLE_LINES
    for at, section in enumerate(sections[:_PREAMBLE_SECTIONS]):
        if len(section.heading_path) > 1 or (at and section.level):
            return
        if section.kind is SectionKind.CODE:
            continue
        lines = [line[: 2 * LONGEST] for line in section.text.split("\n", left)[:left]]
        left -= len(lines)
        if section.kind is SectionKind.TABLE:
            yield from _of_table(lines)
            continue
        # A heading with others of its rank below it is a mark, not the title.
        below = sections[at + 1 : _PREAMBLE_SECTIONS]
        title = 0 < section.level < min((one.level for one in below if one.level), default=9)
        for line in lines:
            yield from _said(line, title)
        if left <= 0:
            return


def _of_table(lines: Sequence[str]) -> Iterator[tuple[str, str]]:
    """A table of two columns, key and value; or of a row of keys and one of values."""
    rows = [
        [cell.strip(" *_") for cell in line.strip().strip("|").split("|")]
        for line in lines
        if not _RULE.fullmatch(line)
    ]
    keys = [_plain(cell[:60]) for cell in rows[0]] if rows else []
    known = sum(key in _FIELDS for key in keys)
    if len(rows) == 2 and len(rows[1]) == len(keys) and known >= (2 if len(keys) == 2 else 1):
        for key, cell in zip(keys, rows[1], strict=True):
            yield from _pair(key, cell)
        return
    for row in rows:
        if len(row) == 2:
            yield from _pair(_plain(row[0][:60]), row[1])


def _said(line: str, title: bool = False) -> Iterator[tuple[str, str]]:
    if found := _LINE.match(line) or _BRACKETED.match(line):
        said = _pair(_plain(found[1]), found[2].rstrip("* "))
        # "Expires: …" at the top of a text may be said of anything.
        yield from (pair for pair in said if pair[0] != "ends")
    text = _bare(line)
    if _RELATION.match(text):
        yield "line", text
    else:
        yield from spoken.of_line(line, text, title)


def _bare(line: str) -> str:
    return _MARKS.sub("", line[: 2 * LONGEST]).strip()


def _sidecar(sections: Sequence[Section]) -> Iterator[tuple[str, str]]:
    """`key: value` and `key:` with items below, as YAML has them; anything else is a fault."""
    key = ""
    lines = [line for section in sections[:_PREAMBLE_SECTIONS] for line in _lines(section)]
    for line in lines[:_PREAMBLE_LINES]:
        text = line.strip()
        if text.startswith("- "):
            yield from _pair(key, text[2:].strip("\"' "))
        elif ":" in text and not text.startswith("#"):
            name, _, value = text.partition(":")
            key = _plain(name)
            value = value.split(" #", 1)[0].strip()
            if not _understood(key):
                yield FAULT, f"key {name.strip()[:40]!r} is not known."
            elif value.count("[") != value.count("]"):
                yield FAULT, f"list {value[:60]!r} has no end."
            listed = value.startswith("[") and value.endswith("]")
            for one in value[1:-1].split(",") if listed else [value]:
                yield from _pair(key, one.strip("\"' "))
        elif text and not text.startswith(("#", "```")) and text not in ("---", "..."):
            yield FAULT, f"line {text[:60]!r} is no key with a value."


def _understood(key: str) -> bool:
    return key in _FIELDS or key in _FLAGS or key in _FAMILY or key in _NOTES


def _lines(section: Section) -> list[str]:
    return section.text.split("\n", _PREAMBLE_LINES)[:_PREAMBLE_LINES]
