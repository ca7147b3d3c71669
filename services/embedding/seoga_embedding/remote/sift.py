"""From a batch at which a provider breaks down, though it answers else, to the texts that do it.

A text that is refused is named by the refusal (see `narrow`); one that breaks the server, or a
proxy before it, down looks like an outage. So nothing is concluded from a failure alone: between
the failures of a text something else has passed.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from typing import Final

from seoga_embedding.remote.faults import CallFailed, Late, LeftAlone, NotMade, Trouble

# No further halving after this time, as somebody waits; a later run begins with what is left.
_LONGEST_S: Final = 120.0
_IN_A_ROW: Final = 2
# More texts than these at fault, and none that passed: it is the provider, whatever it answers.
MOST_GUILTY: Final = 8
# Others may find the provider dead while we send, each time wrongly.
_MOST_WAITS: Final = 3


class Sifting:
    """One batch, texts named by their index. `send` keeps what comes back and raises CallFailed;
    `lives` says whether the provider answers something harmless."""

    def __init__(self, send: Callable[[Sequence[int]], None], lives: Callable[[], bool]) -> None:
        self.guilty: dict[int, CallFailed] = {}
        self.too_much: list[Sequence[int]] = []
        self.passed = False
        self._send, self._lives = send, lives
        self._failed = 0
        self._until = time.monotonic() + _LONGEST_S

    def run(self, texts: Sequence[int], error: CallFailed) -> None:
        """Sends the parts of what failed as a whole; `guilty` then names those that fail alone,
        and `too_much` what took too long though its halves did not.

        Raises CallFailed where the provider no longer answers anything.
        """
        failed = [(texts, error)]
        while failed:
            part, error = failed.pop()
            if len(part) == 1:
                self._judge(part[0])
                if len(self.guilty) >= MOST_GUILTY and not self.passed:
                    raise error
                continue
            if time.monotonic() > self._until:
                raise error
            middle = len(part) // 2
            # Both before any is halved again: the one that passes shows that the provider lives.
            halves = [(half, self._try(half)) for half in (part[:middle], part[middle:])]
            wrong = [(half, found) for half, found in halves if found is not None]
            failed += wrong
            if isinstance(error, Late) and not wrong:
                self.too_much.append(part)

    def _judge(self, text: int) -> None:
        if (error := self._try([text])) is not None:
            self.guilty[text] = error

    def _try(self, part: Sequence[int]) -> CallFailed | None:
        for _ in range(_MOST_WAITS):
            try:
                self._send(part)
            except LeftAlone as error:
                if not self._passing(error):
                    raise
            except CallFailed as error:
                self._failed += 1
                if not doubtful(error) or (self._failed == _IN_A_ROW and not self._passing(error)):
                    raise
                return error
            else:
                self._failed, self.passed = 0, True
                return None
        raise LeftAlone(Trouble.OUTAGE, "is left alone again and again")

    def _passing(self, error: CallFailed) -> bool:
        self._failed = 0
        return doubtful(error) and self._lives()


def doubtful(error: CallFailed) -> bool:
    """Whether it may be the provider's state or the fault of a text."""
    made = not isinstance(error, NotMade) or isinstance(error, LeftAlone)
    return made and (error.trouble in (Trouble.OUTAGE, Trouble.OUTPUT) or error.page)
