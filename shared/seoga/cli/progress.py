"""The progress of a run on stderr: a bar on a terminal, plain lines elsewhere."""

from __future__ import annotations

import sys
import time
from types import TracebackType
from typing import TYPE_CHECKING, Self

from seoga.cli.output import say
from seoga.printable import printable

if TYPE_CHECKING:
    from seoga.contracts.indexing import Progress

_LINE_EVERY_S = 10.0
_NAME_WIDTH = 40


class ProgressView:
    """Shows each `Progress` that it is called with; any thread may call."""

    def __init__(self, quiet: bool = False) -> None:
        self._bar = None if quiet or not sys.stderr.isatty() else _Bar()
        self._quiet = quiet
        self._next = 0.0

    def __enter__(self) -> Self:
        if self._bar is not None:
            self._bar.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._bar is not None:
            self._bar.stop()

    def __call__(self, progress: Progress) -> None:
        """Shows where the run stands."""
        if progress.unit == "passages" and not progress.total:
            return  # Nothing waits for vectors: the run is about to end.
        if self._bar is not None:
            self._bar.show(progress)
        elif not self._quiet and self._due():
            say(f"{counted(progress)} · {detail(progress)}")

    def _due(self) -> bool:
        """Once at the beginning, then now and then: such output is a log that somebody keeps."""
        now = time.monotonic()
        if now < self._next:
            return False
        self._next = now + _LINE_EVERY_S
        return True


class _Bar:
    def __init__(self) -> None:
        from rich.console import Console
        from rich.progress import BarColumn, Progress, TextColumn

        self._progress = Progress(
            TextColumn("{task.fields[counted]}", markup=False),
            BarColumn(bar_width=24),
            TextColumn("{task.fields[detail]}", markup=False),
            console=Console(stderr=True),
            transient=True,
        )
        self._task = self._progress.add_task("", total=None, counted="looking for files", detail="")

    def start(self) -> None:
        self._progress.start()

    def stop(self) -> None:
        self._progress.stop()

    def show(self, progress: Progress) -> None:
        self._progress.update(
            self._task,
            total=progress.total or None,
            completed=progress.done,
            counted=counted(progress),
            detail=detail(progress),
        )


def detail(progress: Progress) -> str:
    """Stage, current file, rate, time to go, as one line."""
    parts = [progress.stage]
    if progress.current:
        parts.append(printable(_short(progress.current)))
    if progress.chunks_pending and progress.unit == "files":
        parts.append(f"{progress.chunks_pending} chunks without vectors")
    if progress.rate:
        parts.append(f"{progress.rate:.1f}/s")
    if progress.eta_s is not None:
        parts.append(f"ETA {clock(progress.eta_s)}")
    return " · ".join(parts)


def clock(seconds: float) -> str:
    """h:mm:ss, or m:ss below an hour."""
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{rest:02}" if hours else f"{minutes}:{rest:02}"


def counted(progress: Progress) -> str:
    """`12/40+ files`, or `300/1200 passages` while vectors are made."""
    if not progress.total:
        return "looking for files"
    return f"{progress.done}/{progress.total}{'+' if progress.counting else ''} {progress.unit}"


def _short(name: str) -> str:
    return name if len(name) <= _NAME_WIDTH else "…" + name[1 - _NAME_WIDTH :]
