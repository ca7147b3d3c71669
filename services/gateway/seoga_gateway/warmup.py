"""Loads the builtin embedder in the background, once the first answer is on its way."""

from __future__ import annotations

import threading

from seoga import logs
from seoga.errors import SeogaError
from seoga_gateway.library import Library

# The answer that triggers the warm-up still has to be written; loading would compete for the
# interpreter.
HEAD_START_S = 0.2

log = logs.get("gateway")


class WarmUp:
    """One loading thread."""

    def __init__(self, library: Library) -> None:
        self._library = library
        self._timer: threading.Timer | None = None

    def start(self) -> None:
        """Returns at once; only the first call counts."""
        if self._timer is None:
            self._timer = threading.Timer(HEAD_START_S, self._run)
            self._timer.daemon = True
            self._timer.start()

    def stop(self) -> None:
        """Nothing is loaded any more that had not begun."""
        if self._timer is not None:
            self._timer.cancel()

    def _run(self) -> None:
        try:
            self._library.warm()
        except (SeogaError, ImportError) as error:
            # Not fatal: keyword search works, and the search that needs the model says what is
            # missing.
            log.warning("the builtin embedder is not available", error=str(error))
