"""What the answers of a server mean: whether to ask again, how long to wait, what it says."""

from __future__ import annotations

import json
import re
import threading
import time
from collections.abc import Iterator
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import httpx

AGAIN = frozenset((408, 425, 429, 500, 502, 503, 504))


class Again(Exception):
    """Worth another try, after `wait` seconds where the server has said so. `silent`: it did not
    answer at all, or for nobody."""

    def __init__(self, why: str, wait: float | None = None, silent: bool = True) -> None:
        super().__init__(why)
        self.wait, self.silent = wait, silent


def in_pieces(response: httpx.Response, seconds: float, stop: threading.Event) -> Iterator[bytes]:
    """The body as it comes. Raises Again when it takes longer than `seconds`, or on `stop`."""
    deadline = time.monotonic() + seconds
    for piece in response.iter_bytes(1 << 16):
        if stop.is_set() or time.monotonic() > deadline:
            raise Again("its answer takes too long")
        yield piece


def message_of(response: httpx.Response, stop: threading.Event) -> str:
    """What an error says for people, in one line."""
    held = b""
    for piece in in_pieces(response, 10.0, stop):
        held += piece
        if len(held) > 1 << 16:
            break
    try:
        data = json.loads(held)
    except ValueError:
        return ""
    if not isinstance(data, dict):
        return ""
    errors = data.get("errors")
    found = [data.get("message"), *_listed(data.get("errorMessages")), *_listed(errors)]
    found += errors.values() if isinstance(errors, dict) else ()
    texts = (str(one.get("title", "") if isinstance(one, dict) else one or "") for one in found)
    return " ".join(" ".join(texts).split())[:300]


def _listed(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []


def wait_of(text: str) -> float | None:
    """Seconds of a Retry-After header, in both of its forms."""
    if re.fullmatch(r"\d{1,9}", text.strip()):
        return float(text)
    try:
        then = parsedate_to_datetime(text)
    except (ValueError, TypeError):
        return None
    now = datetime.now(UTC)
    return max(0.0, (then.replace(tzinfo=then.tzinfo or UTC) - now).total_seconds())
