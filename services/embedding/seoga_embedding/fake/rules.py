"""What the fake allows and which errors it gives next; both are set over HTTP while it runs."""

from __future__ import annotations

import threading
from collections import deque
from hashlib import blake2b
from typing import Any, Literal

from pydantic import BaseModel, Field

_SECRET_HEADERS = frozenset({"authorization", "api-key", "x-api-key", "x-goog-api-key"})
_MOST_CALLS = 10_000


class Rules(BaseModel):
    """Limits like a real provider's. `key` is what callers must show (empty: nothing); `models`
    are those that are there (empty: any); a text that holds a word of `refuse` is refused, with
    its number when `names_text`; one that holds `nan` or `zero` gets such a vector."""

    key: str = ""
    models: list[str] = []
    max_texts: int = Field(default=2048, ge=1)
    max_tokens: int = Field(default=8192, ge=1)
    max_request_tokens: int = Field(default=300_000, ge=1)
    max_bytes: int = Field(default=32 << 20, ge=1)
    refuse: list[str] = []
    names_text: bool = False
    nan: str = ""
    zero: str = ""
    dimension: int = Field(default=0, ge=0, le=8192)
    digest: str = "0123456789abcdef"
    answer: str = ""


class Fault(BaseModel):
    """One thing that goes wrong, for the next `times` calls whose path holds `path`, `after`
    seconds after they came."""

    kind: Literal[
        "status", "slow", "cut", "error_in_200", "html", "fewer", "nan", "zero", "dimension"
    ] = "status"
    status: int = 500
    message: str = ""
    code: str = ""
    retry_after: str = ""
    seconds: float = Field(default=1.0, ge=0, le=600)
    after: float = Field(default=0.0, ge=0, le=600)
    times: int = Field(default=1, ge=1)
    path: str = ""


class Desk:
    """Rules, faults to come, and every call that came in. Thread-safe."""

    def __init__(self) -> None:
        self.rules = Rules()
        self._faults: list[Fault] = []
        self._calls: deque[dict[str, Any]] = deque(maxlen=_MOST_CALLS)
        self._lock = threading.Lock()

    def reset(self) -> None:
        """As at the start."""
        with self._lock:
            self.rules = Rules()
            self._faults.clear()
            self._calls.clear()

    def expect(self, faults: list[Fault]) -> None:
        """These happen next, in order."""
        with self._lock:
            self._faults += faults

    def record(self, call: dict[str, Any]) -> Fault | None:
        """Remembers a call and says what goes wrong with it."""
        with self._lock:
            self._calls.append(call)
            for number, fault in enumerate(self._faults):
                if fault.path in call["path"]:
                    fault.times -= 1
                    if not fault.times:
                        del self._faults[number]
                    return fault
        return None

    def calls(self) -> list[dict[str, Any]]:
        """What came in, the oldest first; keys only as `mark`."""
        with self._lock:
            return list(self._calls)


def mark(secret: str) -> str:
    """What stands for a key in the record of calls."""
    return "secret " + blake2b(secret.encode(), digest_size=8).hexdigest()


def shown(headers: dict[str, str]) -> dict[str, str]:
    """Headers as they are recorded."""
    return {name: mark(v) if name in _SECRET_HEADERS else v for name, v in headers.items()}
