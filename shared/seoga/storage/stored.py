"""Values that rows hold as JSON: one that cannot be read is damage of the database, as SQLite would
say of a page."""

from __future__ import annotations

import json
import sqlite3
from typing import Any, TypeVar

from seoga.models import ModelCard, Place

T = TypeVar("T")


# What SQLite and Python say of such values; neither has a code of its own for it.
_SAID = ("Could not decode to UTF-8", "malformed JSON", "a stored ")


def damaged(what: str) -> sqlite3.DatabaseError:
    """The error of a value that cannot be read; `speaking` says of which file. `what` begins with
    "a stored"."""
    error = sqlite3.DatabaseError(what)
    error.sqlite_errorcode = sqlite3.SQLITE_CORRUPT
    return error


def is_of_a_value(error: sqlite3.Error) -> bool:
    """Whether an error is about one value, not about the file."""
    return str(error).startswith(_SAID)


def parsed(text: Any, kind: type[T]) -> T:
    """A stored JSON value of this kind. Raises sqlite3.DatabaseError."""
    try:
        value = json.loads(text)
    except (TypeError, ValueError, RecursionError) as error:
        raise damaged(f"a stored value is no JSON: {str(text)[:40]!r}") from error
    if not isinstance(value, kind):
        raise damaged(f"a stored value is no {kind.__name__}: {str(text)[:40]!r}")
    return value


def texts(*values: Any) -> None:
    """Stored texts, of a column that may hold anything. Raises sqlite3.DatabaseError."""
    if not all(isinstance(value, str) for value in values):
        raise damaged("a stored text is none")


def number(text: Any) -> int:
    """A stored whole number. Raises sqlite3.DatabaseError."""
    try:
        return int(text)
    except (TypeError, ValueError) as error:
        raise damaged(f"a stored value is no number: {str(text)[:40]!r}") from error


def place(text: Any) -> Place:
    """A stored place. Raises sqlite3.DatabaseError."""
    return Place.from_json(parsed(text, dict))


def path(text: Any) -> tuple[str, ...]:
    """A stored path of headings. Raises sqlite3.DatabaseError."""
    values = parsed(text, list)
    if not all(isinstance(value, str) for value in values):
        raise damaged(f"a stored value is no list of headings: {str(text)[:40]!r}")
    return tuple(values)


def card(text: Any) -> ModelCard:
    """A stored ModelCard; keys that a newer version wrote are ignored. Raises
    sqlite3.DatabaseError."""
    known = ModelCard.__dataclass_fields__
    try:
        found = ModelCard(**{k: v for k, v in parsed(text, dict).items() if k in known})
    except TypeError as error:
        raise damaged("a stored identity of a model is not whole") from error
    if not isinstance(found.dimension, int) or not isinstance(found.threshold, int | float):
        raise damaged("a stored identity of a model is not whole")
    return found
