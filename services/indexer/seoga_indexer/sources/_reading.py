"""What goes wrong with one item of a server, as the pipeline takes it: gone, refused, not now."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime
from errno import EACCES
from typing import Any

from seoga.text.normal import nfc
from seoga_indexer.source import SourceUnavailable
from seoga_indexer.sources._rest import Denied, Missing


@contextmanager
def reading(path: str) -> Iterator[None]:
    """Errors of the server become FileNotFoundError, PermissionError or ConnectionError."""
    try:
        yield
    except Missing as error:
        raise FileNotFoundError(f"{path} is not there any more: {error.message}") from error
    except Denied as error:
        raise PermissionError(EACCES, error.message) from error
    except SourceUnavailable as error:
        raise ConnectionError(error.message) from error


@contextmanager
def understood(server: str) -> Iterator[None]:
    """An answer of another form than is documented makes the source unavailable: it can be no
    proof that anything is gone."""
    try:
        yield
    except (TypeError, AttributeError, LookupError, ValueError, OverflowError) as error:
        raise SourceUnavailable(
            f"{server} answers in another form than its documentation says"
            f" ({type(error).__name__}: {str(error)[:100]})",
            "Does a proxy or another program stand in its place?",
        ) from error


def moment_ns(text: Any) -> int:
    """Nanoseconds since the epoch of an ISO 8601 time, 0 for anything else."""
    try:
        return int(datetime.fromisoformat(str(text)).timestamp() * 1_000_000) * 1000
    except (ValueError, OverflowError, OSError):
        return 0


def part(name: Any) -> str:
    """A name as one part of a path: NFC, without slashes and control characters."""
    kept = "".join("_" if sign == "/" or ord(sign) < 32 else sign for sign in nfc(str(name)))
    return kept if kept.strip(". ") else "_"


def dig(data: Any, *keys: str) -> Any:
    """The value below nested keys of JSON objects; None where one of them is missing."""
    for key in keys:
        data = data.get(key) if isinstance(data, dict) else None
    return data
