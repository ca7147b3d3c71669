"""Watching knowledge bases: a run is asked for when a source has changed, a configuration was
edited, or a knowledge base is new."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field

from seoga import logs
from seoga.errors import SeogaError
from seoga.kb import Kb
from seoga.settings import Settings
from seoga_indexer.watchsource import SourceWatch

TICK_S = 0.5
# While the run in flight may have passed the file by; after errors twice as long each time.
AGAIN_S = 2.0
_LONGEST_S = 60.0

log = logs.get("watch")

# True: the run that is asked for sees what has changed; False: ask again later.
Ask = Callable[[Kb], bool]


@dataclass(slots=True)
class _Watched:
    kb: Kb
    sources: list[SourceWatch]
    changed: threading.Event = field(default_factory=threading.Event)
    not_before: float = 0.0
    failures: int = 0


class Watcher:
    """Watches the knowledge bases that `listed` gives now, and asks for a run of each that has
    changed; at the start once for all. `ask` is called by one thread, one KB after the other."""

    def __init__(self, settings: Settings, listed: Callable[[], Iterable[Kb]], ask: Ask) -> None:
        self._settings, self._listed, self._ask = settings, listed, ask
        self._watched: dict[str, _Watched] = {}
        self._trouble = ""

    def run(self, stop: threading.Event) -> None:
        """Until `stop`."""
        try:
            while not stop.is_set():
                self.tick(stop)
                stop.wait(TICK_S)
        finally:
            self._end(list(self._watched))

    def tick(self, stop: threading.Event) -> None:
        """Follows the list of knowledge bases, and asks for what is due."""
        try:
            self._follow({kb.id: kb for kb in self._listed()})
            self._trouble = ""
        except (SeogaError, OSError) as error:
            if str(error) != self._trouble:
                self._trouble = str(error)
                log.error("knowledge bases cannot be listed", why=self._trouble)
            return
        for one in list(self._watched.values()):
            if one.changed.is_set() and time.monotonic() >= one.not_before and not stop.is_set():
                self._ask_for(one)

    def _ask_for(self, one: _Watched) -> None:
        # Cleared first: what changes while this is asked for is asked for again.
        one.changed.clear()
        pause = AGAIN_S
        try:
            if self._ask(one.kb):
                one.failures = 0
                return
        except SeogaError as error:
            one.failures += 1
            pause = min(_LONGEST_S, AGAIN_S * 2**one.failures)
            log.error("no run could be asked for", kb_id=one.kb.id, why=error.message)
        one.changed.set()
        one.not_before = time.monotonic() + pause

    def _follow(self, now: dict[str, Kb]) -> None:
        gone = [kb_id for kb_id in self._watched if kb_id not in now]
        edited = [kb_id for kb_id, one in self._watched.items() if _edited(one.kb, now.get(kb_id))]
        for kb_id in gone:
            log.info("not watched any more: removed, or its config.json is broken", kb_id=kb_id)
        self._end([*gone, *edited])
        for kb_id, kb in now.items():
            if kb_id not in self._watched:
                self._begin(kb, "its configuration was edited" if kb_id in edited else "it is new")

    def _begin(self, kb: Kb, why: str) -> None:
        one = _Watched(kb, [])
        one.sources = [
            SourceWatch(source, self._settings, one.changed.set) for source in kb.sources()
        ]
        one.changed.set()
        self._watched[kb.id] = one
        log.info("watched", kb_id=kb.id, name=kb.name, sources=len(one.sources), why=why)
        for source in one.sources:
            source.start()

    def _end(self, kb_ids: Iterable[str]) -> None:
        ended = [
            source
            for kb_id in dict.fromkeys(kb_ids)
            if (one := self._watched.pop(kb_id, None))
            for source in one.sources
        ]
        for source in ended:
            source.ask_to_stop()
        for source in ended:
            source.join()


def _edited(old: Kb, new: Kb | None) -> bool:
    """Labels are written by the indexer itself; they are no edit."""
    return new is not None and (new.config, new.folder) != (old.config, old.folder)
