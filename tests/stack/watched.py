"""A fake provider that says when it is first asked."""

from __future__ import annotations

import threading
from typing import Any

from seoga_embedding.fake.rules import Desk, Fault


class Watched(Desk):
    """Says when the first call came."""

    def __init__(self) -> None:
        self.came = threading.Event()
        super().__init__()

    def record(self, call: dict[str, Any]) -> Fault | None:
        self.came.set()
        return super().record(call)
