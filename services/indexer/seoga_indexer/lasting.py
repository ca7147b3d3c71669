"""A trouble that lasts is logged once, and again only after it has passed or become another."""

from __future__ import annotations

from seoga.errors import SeogaError
from seoga.logs import Logger


class Lasting:
    """What a loop says of its failures; `what` cannot be done."""

    def __init__(self, log: Logger, what: str) -> None:
        self._log, self._what = log, what
        self._told = ""

    def tell(self, error: Exception) -> None:
        """The error, with the way out, or where it happened when it is none of ours."""
        text = f"{type(error).__name__}: {error}"
        if text == self._told:
            return
        self._told = text
        if isinstance(error, SeogaError):
            self._log.error(self._what, error=error.message, hint=error.hint)
        else:
            self._log.exception(self._what)

    def passed(self) -> None:
        """It can be done again."""
        self._told = ""
