"""Watching one source: events of the kernel where they come, comparing listings where they do not.

What counts as a change is decided by listing the source, by its own rules: an event about a file
that is no document changes nothing.
"""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable, Iterable
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path

import xxhash

from seoga import logs
from seoga.errors import SeogaError
from seoga.models import Source
from seoga.settings import Settings
from seoga.storage.filesystem import NETWORK_TYPES, file_systems
from seoga_indexer.source import Problem, SourceUnavailable, connector_for

TICK_S = 0.25
# A file that is written without end must not hide the others for ever.
LONGEST_S = 30.0
_MASK = (1 << 128) - 1
# Where another machine, or the host of this one, changes files without telling our kernel.
_SILENT = NETWORK_TYPES | set(
    ("virtiofs", "prl_fs", "vmhgfs", "osxfs", "grpcfuse", "fakeowner", "overlay", "aufs")
)

log = logs.get("watch")

Changed = Callable[[], None]


def silent_of(kinds: Iterable[str]) -> list[str]:
    """Those file systems whose changes a kernel need not hear of, by name."""
    return sorted(kind for kind in kinds if kind in _SILENT or kind.startswith("fuse"))


@dataclass(slots=True)
class SourceWatch:
    """A thread that calls `changed` when a source is not what it was, and has come to rest."""

    source: Source
    settings: Settings
    changed: Changed
    _stop: threading.Event = field(default_factory=threading.Event)
    _thread: threading.Thread | None = None
    _seen: int | None = None
    _polls: str = ""

    def start(self) -> None:
        """Begins; what is there now counts as known."""
        self._thread = threading.Thread(
            target=self._run, name=f"watch-{self.source.label}", daemon=True
        )
        self._thread.start()

    def ask_to_stop(self) -> None:
        """Returns at once; `join` waits for the end."""
        self._stop.set()

    def join(self) -> None:
        """A look at a slow disk is waited for a moment only: it writes nothing."""
        if self._thread is not None:
            self._thread.join(4 * TICK_S)

    def _run(self) -> None:
        while not self._stop.is_set():
            try:
                self._follow()
            except Exception:  # one bad source must not end the watching of the others
                log.exception("watching failed", source=self.source.label)
            self._stop.wait(self.settings.watch_settle_s)

    def _follow(self) -> None:
        if self.source.type != "folder":
            self._remind()
            return
        root = Path(self.source.path)
        if not root.is_dir():
            self._await(root)
            return
        self._polls = self._polls or self._reason_to_poll(root)
        if not self._polls:
            self._listen(root)
        if self._polls and not self._stop.is_set():
            log.info("looked at by polling", source=self.source.label, why=self._polls)
            self._poll(root)

    def _remind(self) -> None:
        """A source that cannot tell is asked at intervals; the run finds out what is new there."""
        while not self._stop.wait(self.settings.watch_interval_s):
            self.changed()

    def _await(self, root: Path) -> None:
        log.warning("the folder is not there; waiting for it", source=self.source.label)
        while not self._stop.wait(self.settings.watch_settle_s):
            if root.is_dir():
                self._seen = None
                log.info("the folder is there now", source=self.source.label)
                self.changed()
                return

    def _reason_to_poll(self, root: Path) -> str:
        if self.settings.watch_mode != "auto":
            return "as set" if self.settings.watch_mode == "poll" else ""
        silent = silent_of(file_systems(root))
        return f"file system {', '.join(silent)}" if silent else ""

    def _listen(self, root: Path) -> None:
        """Until the root is another folder, or gone. Sets `_polls` where no events can be had."""
        from watchfiles import watch

        pauses = Pauses(self.settings.watch_settle_s)
        identity = _identity(root)
        events = watch(
            root,
            watch_filter=None,
            stop_event=self._stop,
            rust_timeout=int(TICK_S * 1000),
            yield_on_timeout=True,
            debounce=1000,
            force_polling=False,
            # True would hide a limit that is reached as well; a folder without rights is polled.
            ignore_permission_denied=False,
        )
        try:
            first = True
            for changes in events:
                if first:
                    # Events come from here on: what is listed now cannot change unnoticed.
                    self._note_baseline()
                    next_look, first = self._after_interval(), False
                pauses.add(path for _, path in changes)
                if _identity(root) != identity:
                    return
                if pauses.over() or time.monotonic() >= next_look:
                    pauses.clear()
                    self._compare(self._listing())
                    next_look = self._after_interval()
        except (OSError, RuntimeError) as error:
            # watchfiles has no classes for a limit that is reached; its words are in the message.
            self._polls = f"no events here: {str(error)[:200]}"

    def _poll(self, root: Path) -> None:
        identity = _identity(root)
        self._note_baseline()
        pause = self.settings.watch_poll_s
        waiting: int | None = None
        while not self._stop.wait(pause) and _identity(root) == identity:
            found = self._listing()
            if found == waiting:
                self._compare(found)
            at_rest = found in (self._seen, None)
            waiting = None if at_rest else found
            # Something is new: it counts once a second look finds the same.
            pause = self.settings.watch_poll_s if at_rest else self.settings.watch_settle_s

    def _after_interval(self) -> float:
        return time.monotonic() + self.settings.watch_interval_s

    def _note_baseline(self) -> None:
        found = self._listing()
        if self._seen is None:
            self._seen = found
        else:
            self._compare(found)

    def _compare(self, found: int | None) -> None:
        if found is not None and found != self._seen:
            self._seen = found
            self.changed()

    def _listing(self) -> int | None:
        """One number for all names, sizes and times of the source; None where it cannot be listed.

        A sum of hashes needs no memory for the names.
        """
        total = 0
        try:
            with closing(connector_for(self.source)) as connector:
                for item in connector.items():
                    if self._stop.is_set():
                        return None
                    if isinstance(item, Problem):
                        text = f"{item.path}\0{item.reason}"
                    else:
                        text = f"{item.path}\0{item.size}\0{item.mtime_ns}"
                    raw = text.encode("utf-8", "surrogatepass")
                    total = (total + xxhash.xxh3_128_intdigest(raw)) & _MASK
        except (SourceUnavailable, OSError):
            return None
        except SeogaError as error:
            log.warning("cannot be listed", source=self.source.label, why=error.message)
            return None
        return total


@dataclass(slots=True)
class Pauses:
    """When the files that events speak of have come to rest."""

    settle_s: float
    _last: dict[str, float] = field(default_factory=dict)
    _since: float = 0.0

    def add(self, paths: Iterable[str]) -> None:
        """Notes that these changed now."""
        now = time.monotonic()
        for path in paths:
            if not self._last:
                self._since = now
            self._last[path] = now

    def over(self) -> bool:
        """Something changed, and nothing for a while since; or the first has waited long enough,
        and has come to rest itself."""
        if not self._last:
            return False
        at_rest = time.monotonic() - self.settle_s
        if max(self._last.values()) <= at_rest:
            return True
        late = time.monotonic() - self._since > LONGEST_S
        return late and min(self._last.values()) <= at_rest

    def clear(self) -> None:
        """All of it is dealt with."""
        self._last.clear()


def _identity(root: Path) -> tuple[int, int] | None:
    try:
        now = os.stat(root)
    except OSError:
        return None
    return now.st_dev, now.st_ino
