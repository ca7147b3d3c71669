"""Binary split: from a refused batch to the text that is refused, keeping all the others.

Where one of n texts is bad this takes at most 2·log2(n) + 2 calls, the first one included: once the
first half of a refused batch has passed, the bad text must be in the second half, which is then
split without asking for it as a whole (adaptive group testing; Hwang 1972).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final

from seoga_embedding.remote.faults import CallFailed, Trouble

# Raises CallFailed; what it returns is kept by the caller.
Send = Callable[[Sequence[int]], None]
_NARROWED: Final = (Trouble.INPUT, Trouble.SIZE)


class Narrowing:
    """One batch, texts named by their index. `probe` sends a text that any model takes."""

    def __init__(self, send: Send, probe: Callable[[], None]) -> None:
        self.refused: dict[int, CallFailed] = {}
        self._send, self._probe = send, probe
        self._accepted = False

    def run(self, texts: Sequence[int]) -> None:
        """Sends all, in as few calls as it takes; `refused` then names those that were not taken.

        Raises CallFailed for whatever is not about a text or the size of a request.
        """
        if (error := self._try(texts)) is not None:
            self._descend(texts, error)

    def _try(self, texts: Sequence[int]) -> CallFailed | None:
        try:
            self._send(texts)
        except CallFailed as error:
            if error.trouble not in _NARROWED:
                raise
            return error
        self._accepted = True
        return None

    def _descend(self, texts: Sequence[int], error: CallFailed) -> None:
        if len(texts) == 1:
            self._refuse(texts[0], error)
        elif error.at is not None and 0 <= error.at < len(texts):
            self._take_out(texts, error.at)
        else:
            self._halve(texts, error)

    def _take_out(self, texts: Sequence[int], at: int) -> None:
        """The provider named the text; whether it named the right one, a call of its own shows."""
        for part in ([texts[at]], [*texts[:at], *texts[at + 1 :]]):
            if (error := self._try(part)) is not None:
                self._descend(part, error)

    def _halve(self, texts: Sequence[int], error: CallFailed) -> None:
        middle = len(texts) // 2
        first, second = texts[:middle], texts[middle:]
        failed = self._try(first)
        if failed is not None:
            self._descend(first, failed)
        elif error.trouble is Trouble.INPUT and len(second) > 1:
            self._halve(second, error)
            return
        if (failed := self._try(second)) is not None:
            self._descend(second, failed)

    def _refuse(self, text: int, error: CallFailed) -> None:
        self.refused[text] = error
        if len(self.refused) == 2 and not self._accepted:
            # Two refusals and no success: is it the texts, or is every request refused?
            try:
                self._probe()
            except CallFailed as probed:
                if probed.trouble not in _NARROWED:
                    raise
                raise CallFailed(
                    Trouble.REQUEST, probed.message, "Every text is refused: check the model."
                ) from probed
            self._accepted = True
