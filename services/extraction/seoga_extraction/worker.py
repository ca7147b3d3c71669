"""The child process: reads requests from stdin, answers with frames on stdout, one file at a time.

Request: one line of JSON `{"path", "name", "whole"}`, `{"finish", "files"}` (see `finishing.py`) or
`{"check": true}` to hear what the formats of this lane found to work with. Frame: 4 bytes of length
(big endian), then JSON `{"events": [...]}`. One may have `"grant_s"`, more time for this file. The
last has `"end": true`, and may have `"error"`, `"format"`, `"figures"` (numbers for metrics),
`"status"` (the answer to a check), `"made"` and `"costs"` (of finished files, whose texts and bytes
follow after a line end), or `"lane"`: it read nothing, a child of that lane must be asked.
"""

from __future__ import annotations

import contextlib
import errno
import gc
import json
import os
import signal
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any, BinaryIO

from seoga.contracts.extraction import Event, pack, unreadable
from seoga.errors import ExtractionFailed, Reason, SeogaError, wire
from seoga.models import Section
from seoga_extraction.detect import OtherLane, choose, formats
from seoga_extraction.finishing import Cost, finished
from seoga_extraction.format import Format, Input, corrupt
from seoga_extraction.frames import HEADER, Orders, Wrapped, finished_frame
from seoga_extraction.intake import check_file, cleaned, input_of
from seoga_extraction.lanes import Lane
from seoga_extraction.limits import MIB, Limits, limit_cpu, limit_memory, resident_mb

# A small document is one frame; a long one streams.
FRAME_CHARS = 128 * 1024
FRAME_SECONDS = 0.25
# Objects after which cycles are looked for; Python's 700 are few for sections and chunks.
_COLLECT_AFTER = 10_000


class Answer:
    """The frames of one file; counts what goes out. Raises ExtractionFailed above the limits."""

    def __init__(self, out: BinaryIO, limits: Limits) -> None:
        self._out = out
        self._limits = limits
        self._events: list[dict[str, Any]] = []
        self._pending = self._chars = self._count = 0
        self._most = limits.output_mb * MIB
        self._sent = time.monotonic()

    def bound(self, size: int) -> None:
        """Sets how many characters a file of `size` bytes may give."""
        fair = max(self._limits.output_floor_mb * MIB, self._limits.output_ratio * size)
        self._most = min(self._limits.output_mb * MIB, fair)

    def add(self, event: Event) -> None:
        """One more event; goes out when enough has gathered or some time has passed."""
        event = cleaned(event)
        if isinstance(event, Section):
            if not event.text or event.text.isspace():
                return
            self._pending += len(event.text)
            self._count += 1
        self._events.append(pack(event))
        now = time.monotonic()
        if self._pending >= FRAME_CHARS or now - self._sent > FRAME_SECONDS:
            self._chars += self._pending
            self._check()
            self._frame({})
            self._sent = now

    def _check(self) -> None:
        if self._chars > self._most or self._count > self._limits.sections:
            raise ExtractionFailed(
                f"The document gives more than {self._most / MIB:.1f} MiB of text or "
                f"{self._limits.sections:,} sections; what came before is kept.",
                "Split it.",
                Reason.TOO_LARGE,
            )

    def grant(self, seconds: float) -> None:
        """Tells the parent, and the system, of more time for this file."""
        limit_cpu(self._limits, seconds)
        self._frame({"grant_s": seconds})

    def end(self, error: SeogaError | None, retire: bool = False, **more: Any) -> None:
        """The last frame; `retire` asks the parent for a fresh process."""
        last: dict[str, Any] = {"end": True, "rss": resident_mb(), "retire": retire, **more}
        if error is not None:
            last["error"] = wire(error)
        if retire:
            # There may be no memory left to encode them.
            self._events = []
        self._frame(last)

    def give(self, made: Sequence[Wrapped | None], costs: Sequence[Cost | None]) -> None:
        """The one frame of files that were finished here: what was made of each, and what each
        cost."""
        head = {"end": True, "rss": resident_mb(), "retire": False, "costs": costs}
        self._send(*finished_frame(head, made))

    def pass_on(self, lane: str) -> None:
        """The last frame of a file that a child of another lane must read."""
        self._events = []
        self.end(None, lane=lane)

    def _frame(self, more: dict[str, Any]) -> None:
        message = {"events": self._events, **more}
        # Lone surrogates (broken fonts, broken UTF-16) cannot be stored: they become "?".
        self._send(json.dumps(message, ensure_ascii=False).encode("utf-8", "replace"))
        self._events, self._pending = [], 0

    def _send(self, *body: bytes) -> None:
        self._out.write(b"".join((HEADER.pack(sum(map(len, body))), *body)))
        self._out.flush()


def serve(source: Input, known: Sequence[Format], answer: Answer, whole: bool = False) -> None:
    """Answers one file. One whose format has another lane than this child is passed on, and so is
    one that holds such a file; `whole`: it was, so that it is read here."""
    error: SeogaError | None = None
    chosen: Format | None = None
    try:
        check_file(source)
        answer.bound(source.size)
        chosen = choose(source, known)
        if missing := chosen.missing:
            raise ExtractionFailed(
                f"{chosen.name} needs {missing}, which is not installed.",
                f"pip install {missing}",
                Reason.MISSING_DEPENDENCY,
            )
        if chosen.lane != source.lane and not whole:
            answer.pass_on(chosen.lane)
            return
        for event in chosen.parse(source):
            answer.add(event)
    except OtherLane as other:
        answer.pass_on(other.lane)
        return
    except SeogaError as told:
        error = told
    except OSError as failed:
        full = failed.errno == errno.ENOMEM
        error = _explain(failed, chosen) if full else unreadable(failed, source.name)
    except Exception as failed:
        error = _explain(failed, chosen)
    full = isinstance(error, ExtractionFailed) and error.reason is Reason.OUT_OF_MEMORY
    name = "" if chosen is None else chosen.name
    answer.end(error, retire=full, figures=source.figures, format=name)


def check(known: Sequence[Format], answer: Answer, lane: Lane) -> None:
    """Answers a check: the status of this lane's formats, or why they cannot work."""
    status: dict[str, Any] = {}
    error: SeogaError | None = None
    try:
        for one in known:
            if one.lane == lane.name and one.check is not None and not one.missing:
                status |= one.check(lane.options)
    except SeogaError as told:
        error = told
    except Exception as failed:
        error = _explain(failed, None)
    answer.end(error, status=status)


def _explain(error: Exception, chosen: Format | None) -> ExtractionFailed:
    """What an exception of a parser says about the file."""
    if isinstance(error, MemoryError) or getattr(error, "errno", 0) == errno.ENOMEM:
        return ExtractionFailed(
            "The document needs more memory than a parser may use.",
            "Raise SEOGA_EXTRACT_MEMORY_MB or split it.",
            Reason.OUT_OF_MEMORY,
        )
    if isinstance(error, RecursionError):
        return ExtractionFailed(
            "The document is nested too deep.",
            "Save it with fewer levels inside each other.",
            Reason.TOO_LARGE,
        )
    # Text cannot be corrupt: an exception there is ours.
    ours = chosen is None or chosen.text
    name = "file" if chosen is None else f"{chosen.name} file"
    if not ours:
        return corrupt(f"The {name} is damaged or cut off: it cannot be read.")
    return ExtractionFailed(
        f"The {name} could not be read: a fault of the reader.",
        "Report it with the file.",
        Reason.INTERNAL,
    )


def _die_with(parent: int) -> None:
    """SIGKILL when the parent's spawning thread ends, whatever ended it (Linux)."""
    import ctypes

    with contextlib.suppress(OSError, AttributeError):
        ctypes.CDLL(None).prctl(1, signal.SIGKILL)
    if os.getppid() != parent:
        sys.exit(1)


def main() -> None:
    """Serves until stdin ends."""
    orders = Orders.from_text(sys.argv[1])
    _die_with(orders.parent)
    # Parsers that print must not break the frames: they print into the void.
    out = os.fdopen(os.dup(1), "wb")
    void = os.open(os.devnull, os.O_WRONLY)
    os.dup2(void, 1)
    known = formats(orders.package)
    # What was imported stays: it is not looked through again while files are read.
    gc.freeze()
    gc.set_threshold(_COLLECT_AFTER)
    lane = orders.lane
    if lane.limits.memory_mb:
        limit_memory(lane.limits)
    for line in sys.stdin.buffer:
        request = json.loads(line)
        limit_cpu(lane.limits)
        answer = Answer(out, lane.limits)
        if "check" in request:
            check(known, answer, lane)
            continue
        if "finish" in request:
            answer.give(*finished(request["files"], request["finish"], known, lane))
            continue
        source = input_of(Path(request["path"]), request["name"], lane)
        source.on_grant = answer.grant
        serve(source, known, answer, bool(request.get("whole")))


if __name__ == "__main__":
    main()
