"""Keys that people gave when they were asked: each for the one who gave it, in memory only."""

from __future__ import annotations

import threading
import time
from collections import OrderedDict
from collections.abc import Mapping
from hashlib import blake2b
from typing import Final

# A working day; longer than a person remembers to have been asked.
_KEPT_S: Final = 12 * 3600.0
_MOST_CALLERS: Final = 1000
STDIO: Final = "stdio"


class Keyring:
    """Thread-safe. A caller without a name ("") is nobody twice: nothing is kept for it."""

    def __init__(self) -> None:
        self._keys: OrderedDict[str, tuple[float, dict[str, str]]] = OrderedDict()
        self._lock = threading.Lock()

    def of(self, caller: str) -> Mapping[str, str]:
        """What this caller gave before, by the name of the variable."""
        with self._lock:
            until, keys = self._keys.get(caller, (0.0, {}))
            if until < time.monotonic():
                self._keys.pop(caller, None)
                return {}
            return dict(keys)

    def keep(self, caller: str, keys: Mapping[str, str]) -> None:
        """Remembers keys that the provider took."""
        if not caller or not keys:
            return
        with self._lock:
            _, known = self._keys.pop(caller, (0.0, {}))
            self._keys[caller] = (time.monotonic() + _KEPT_S, {**known, **keys})
            while len(self._keys) > _MOST_CALLERS:
                self._keys.popitem(last=False)

    def forget(self, caller: str, variable: str) -> None:
        """A key that is refused now."""
        with self._lock:
            self._keys.get(caller, (0.0, {}))[1].pop(variable, None)


def caller_of(headers: Mapping[str, str] | None) -> str:
    """Who calls: the client of this process over stdio, else whoever shows this token; "" for one
    who shows none. Whoever shows the same token is the same caller."""
    if headers is None:
        return STDIO
    token = headers.get("authorization", "")
    return blake2b(token.encode(), digest_size=16).hexdigest() if token else ""
