"""`watch`: bring an index up to date whenever its sources change, until Ctrl-C."""

from __future__ import annotations

import threading
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from seoga.cli.indexing import run_lines
from seoga.cli.options import (
    BasePath,
    ConfigFile,
    KbPath,
    chosen_settings,
    opened_engine,
    opened_stack,
)
from seoga.cli.output import say, show
from seoga.cli.progress import ProgressView
from seoga.cli.stopping import stop_event
from seoga.cli.targets import chosen_kbs, reopened
from seoga.errors import Busy, ConfigError, NotFound, SeogaError
from seoga.kb import Kb, list_kbs

if TYPE_CHECKING:
    from seoga.wiring import Stack


def register(app: typer.Typer) -> None:
    """Adds the command of this file."""
    app.command("watch")(watch)


def watch(path: KbPath = None, config: ConfigFile = None, base_path: BasePath = None) -> int:
    """Watch the sources of one knowledge base, or of all, and index what changes; Ctrl-C ends it.

    Where an indexer works the queue, the run is queued; elsewhere it is made here.
    """
    from seoga import logs
    from seoga.wiring import load

    chosen = chosen_settings(base_path)
    logs.configure(chosen.log_level, chosen.log_json)
    # None at all is an error, and what is broken is said once.
    found = chosen_kbs(chosen.base_path, path, config)
    one = path or config or found[0].file
    listed = _One(chosen.base_path, found[0]) if one else _All(chosen.base_path)
    with opened_stack(chosen) as stack, opened_engine(stack) as engine, stop_event() as stop:
        runs = _Runs(stack, engine, stop)
        say("Watching; Ctrl-C ends it.")
        load("seoga_indexer.watching:Watcher")(chosen, listed, runs).run(stop)
    return 0


@dataclass(slots=True)
class _All:
    base: Path

    def __call__(self) -> list[Kb]:
        return list(list_kbs(self.base).kbs)


@dataclass(slots=True)
class _One:
    """One knowledge base as its file is now; a broken edit leaves what was, and is said once."""

    base: Path
    kb: Kb
    said: str = ""

    def __call__(self) -> list[Kb]:
        try:
            self.kb, self.said = reopened(self.base, self.kb), ""
        except NotFound:
            return []
        except ConfigError as error:
            if error.message != self.said:
                self.said = error.message
                say(f"warning: {error.message}")
        return [self.kb]


@dataclass(slots=True)
class _Runs:
    """Queues a run where somebody works the queue, else makes it."""

    stack: Stack
    engine: Any
    stop: threading.Event
    busy: str = ""

    def __call__(self, kb: Kb) -> bool:
        """See `seoga_indexer.watching.Ask`."""
        if kb.folder.parent == self.stack.settings.base_path and (status := self._queued(kb)):
            say(f"{kb.name}: {status.replace('_', ' ')}")
            return status != "already_running"
        try:
            with ProgressView() as view:
                result = self.engine.run_kb(kb, progress=view, cancel=self.stop)
        except Busy as error:
            if error.message != self.busy:
                self.busy = error.message
                say(f"{kb.name}: {error.message}; it is asked again")
            return False
        except SeogaError as error:
            # The next change may bring the cure; the same again would only fail again.
            say(f"error: {kb.name}: {error.message}")
            return True
        self.busy = ""
        for warning in result.warnings:
            say(f"warning: {kb.name}: {warning}")
        for line in run_lines(result):
            show(f"{kb.name}: {line}")
        return True

    def _queued(self, kb: Kb) -> str:
        """The status of a queued run; "" where nobody works the queue."""
        from seoga.storage.jobs import Queue

        if self.stack.settings.indexer_url:
            return self.stack.indexing.enqueue(kb.id).status
        with closing(Queue(self.stack.settings.base_path / "queue.db")) as queue:
            return queue.enqueue(kb.id).status if queue.state(kb.id).worker else ""
