"""What the fake allows and which errors it gives next; both are set over HTTP while it runs."""

from __future__ import annotations

import threading
import time
from collections import Counter, deque
from collections.abc import Iterator
from hashlib import blake2b
from itertools import count, cycle
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field

_SECRET_HEADERS = frozenset({"authorization", "api-key", "x-api-key", "x-goog-api-key"})
_MOST_CALLS = 10_000


class Fault(BaseModel):
    """One thing that goes wrong, for the next `times` calls whose path holds `path` and whose body
    holds `word`, `after` seconds after they came."""

    model_config = ConfigDict(extra="forbid")

    kind: Literal[
        "status",
        "slow",
        "cut",
        "error_in_200",
        "html",
        "page",
        "fewer",
        "nan",
        "zero",
        "dimension",
        "words",
        "huge",
        "lost",
    ] = "status"
    status: int = 500
    message: str = ""
    code: str = ""
    retry_after: str = ""
    seconds: float = Field(default=1.0, ge=0, le=600)
    after: float = Field(default=0.0, ge=0, le=600)
    times: int = Field(default=1, ge=1)
    path: str = ""
    word: str = ""


class Rules(BaseModel):
    """Limits like a real provider's. `key` is what callers must show (empty: nothing); `models`
    are those that are there (empty: any); a text that holds a word of `refuse` is refused, with
    its number when `names_text`; one that holds `nan` or `zero` gets such a vector; a `blind` model
    takes every Hangul word for the same, as English vocabularies do; `base64`: vectors asked for so
    are given, given as numbers, refused, or packed as float64; `batches` are done at once,
    held back or expire. An answer
    leaves `latency` seconds after its call came; more than `max_at_once` calls at once are told to
    slow down. Of all calls the share `mishap_share` (by `seed`) meets one of `mishaps`, in turn."""

    model_config = ConfigDict(extra="forbid")

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
    version: str = "0.9.0"
    blind: bool = False
    base64: Literal["gives", "ignores", "refuses", "wide"] = "gives"
    batches: Literal["done", "held", "expired"] = "done"
    answer: str = ""
    latency: float = Field(default=0.0, ge=0, le=60)
    max_at_once: int = Field(default=10_000, ge=1)
    mishaps: list[Fault] = []
    mishap_share: float = Field(default=0.0, ge=0, le=1)
    seed: int = 1


def _chances(seed: int) -> Iterator[float]:
    """Numbers from 0 to 1 that are the same for the same seed."""
    for number in count():
        digest = blake2b(f"{seed} {number}".encode(), digest_size=8).digest()
        yield int.from_bytes(digest) / 2**64


class Desk:
    """Rules, faults to come, and every call that came in. Thread-safe."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._faults: list[Fault] = []
        self._calls: deque[dict[str, Any]] = deque(maxlen=_MOST_CALLS)
        self._inside = 0
        self.era = 0
        self.reset()

    @property
    def rules(self) -> Rules:
        """What is allowed now."""
        return self._rules

    @rules.setter
    def rules(self, rules: Rules) -> None:
        self._rules, self._chances = rules, _chances(rules.seed)
        self._mishaps = cycle(rules.mishaps)

    def reset(self) -> None:
        """As at the start."""
        with self._lock:
            # What is still under way is not counted among what comes now.
            self.era += 1
            self.rules = Rules()
            self._faults.clear()
            self._calls.clear()
            # What protocols keep between calls.
            self.shelf: dict[str, Any] = {}
            self.counts: Counter[str] = Counter()
            self.most_at_once = 0
            self._first = self._last = 0.0

    def expect(self, faults: list[Fault]) -> None:
        """These happen next, in order."""
        with self._lock:
            self._faults += faults

    def record(self, call: dict[str, Any]) -> Fault | None:
        """Remembers a call and says what goes wrong with it. `leave` follows."""
        with self._lock:
            self._inside += 1
            self.most_at_once = max(self.most_at_once, self._inside)
            self._first = self._first or time.monotonic()
            self._calls.append(call)
            return self._fault(call)

    def _fault(self, call: dict[str, Any]) -> Fault | None:
        if self._inside > self._rules.max_at_once:
            return Fault(status=429, message="too many requests at once", retry_after="0.1")
        for number, fault in enumerate(self._faults):
            if fault.path in call["path"] and (not fault.word or fault.word in str(call["body"])):
                fault.times -= 1
                if not fault.times:
                    del self._faults[number]
                return fault
        if self._rules.mishaps and next(self._chances) < self._rules.mishap_share:
            return next(self._mishaps)
        return None

    def leave(self, outcome: str, texts: int, era: int) -> None:
        """The end of a call that came in this era: what it was told, and how many texts got
        vectors."""
        with self._lock:
            self._inside -= 1
            if era != self.era:
                return
            self._last = time.monotonic()
            self.counts[outcome] += 1
            self.counts["texts"] += texts

    def tally(self) -> dict[str, Any]:
        """Calls by outcome (`ok`, a fault or a status), texts with vectors, most calls at once, and
        seconds from the first call to the last answer."""
        with self._lock:
            return {
                "counts": dict(self.counts),
                "most_at_once": self.most_at_once,
                "span_s": self._last - self._first,
            }

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
