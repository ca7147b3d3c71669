"""What the keyword index holds of a passage: the texts that its fields are made of."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from typing import Any, Final

from seoga.models import FAULTS, REMARKS
from seoga.storage import stored
from seoga.storage.records import STATED, Tokens

# Text as the keyword index has it: tokens separated by spaces (`seoga.text.tokens.index_text`).
Words = Callable[[str], str]

# Front matter counts whole; of other formats' properties only what a person wrote to be found.
_SAID: Final = frozenset({"author", "authors", "keywords", "description", "subject", "tags"})
_LONGEST: Final = 500
_ROWS: Final = (
    "SELECT c.id, c.ordinal, c.heading_path, c.header_row, c.text, c.context, c.keywords,"
    " f.title, f.path, f.format, f.meta,"
    " x.title, x.heading, x.body, x.context, x.keywords"
    " FROM chunks c JOIN chunks_fts x ON x.rowid = c.id JOIN files f ON f.id = c.file_id"
)


def name_of(path: str) -> str:
    """The title of a document that has none: its name without the extension."""
    name = path.rpartition("/")[2]
    # As a path has it: a name that begins or ends with its only dot has no extension.
    stem, dot, extension = name.rpartition(".")
    return stem if stem and dot and extension else name


def title_text(title: str, path: str) -> str:
    """The title, and the file's name where that differs."""
    name = name_of(path)
    return title if title == name else f"{title} {name}"


def heading_text(path: Sequence[str], header_row: str) -> str:
    """The headings above a passage, and the header of its table."""
    return " ".join((*path, header_row))


def said_text(format_name: str, meta: Mapping[str, Any]) -> str:
    """What a document says of itself (authors, numbers, tags): found by its first passage."""
    return " ".join(_said(format_name, meta))


def _said(format_name: str, meta: Mapping[str, Any]) -> Iterator[str]:
    for key, value in meta.items():
        if key in (FAULTS, REMARKS) or (format_name != "markdown" and key not in _SAID):
            continue
        for one in value if isinstance(value, list | tuple) else [value]:
            if isinstance(one, str | int | float) and not isinstance(one, bool):
                yield str(one)[:_LONGEST]


def misspoken(conn: sqlite3.Connection, words: Words) -> Iterator[tuple[int, Tokens]]:
    """The passages that the keyword index has otherwise, with the tokens that are right."""
    # A document's passages, which stand together, have the title in common.
    titles: dict[str, str] = {}
    for chunk_id, *row in conn.execute(_ROWS):
        with suppress(sqlite3.DatabaseError):
            right = _right(row, words, titles)
            if right != tuple(row[10:]):
                yield chunk_id, right


def _right(row: Sequence[Any], words: Words, titles: dict[str, str]) -> Tokens:
    ordinal, path, header, text, context, keywords, title, name, format_name, meta = row[:10]
    stored.texts(header, text, context, keywords, title, name)
    titled = title_text(title, name)
    if titled not in titles:
        titles.clear()
        titles[titled] = words(titled)
    said = "" if ordinal else words(said_text(format_name, _stated(meta)))
    return Tokens(
        titles[titled],
        words(heading_text(stored.path(path), header)),
        words(text),
        words(context) if context else "",
        " ".join(filter(None, (said, words(keywords) if keywords else ""))),
    )


def _stated(meta: str) -> Mapping[str, Any]:
    """Without what we write into it ourselves."""
    found: dict[str, Any] = stored.parsed(meta, dict)
    return {key: value for key, value in found.items() if key != STATED}
