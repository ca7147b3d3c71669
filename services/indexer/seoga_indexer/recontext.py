"""`--partial contextualization`: every stored chunk is set in its document anew. Nothing is listed
and nothing is read: a source that is away does not matter."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from seoga.errors import Reason
from seoga.models import Stage
from seoga.storage.documents import DocumentStore
from seoga.storage.records import KnownFile
from seoga_indexer.channel import Channel, Stop, Tally
from seoga_indexer.contextstage import ContextStage
from seoga_indexer.outcome import Looked, Message, TextDone
from seoga_indexer.textstage import Counts

_AHEAD = 8


def is_due(known: KnownFile, since: str) -> bool:
    """Whether a file gets new contexts in a redo that began then; what cannot be read now waits
    until it can."""
    done = known.indexed_at > since
    return bool(known.chunk_count) and not done and known.reason != Reason.UNREADABLE


@dataclass(slots=True)
class RecontextStage:
    """One thread runs `direct`, several run `work`, as in TextStage. `identity` names the LLM and
    its prompt; files that were indexed after `since` are done."""

    contexts: ContextStage
    identity: str
    since: str
    reader: DocumentStore
    inbox: Channel[Message]
    stop: Stop
    cancelled: Callable[[], bool]
    counts: Counts
    _queue: Channel[KnownFile] = field(init=False)
    _tally: Tally = field(init=False)

    def __post_init__(self) -> None:
        self._queue = Channel(_AHEAD, self.stop)
        self._tally = Tally(self.stop)

    def direct(self) -> None:
        """The whole stage, seen from above. Raises Stopped when the run ends early."""
        self.counts.stage = Stage.CONTEXT
        for label in self.reader.labels():
            for known in self.reader.known(label):
                if self.cancelled():
                    break
                self._take(known)
        self._tally.wait()
        whole = not (self.cancelled() or self.contexts.trouble)
        self.inbox.put(TextDone((), complete=whole))

    def work(self) -> None:
        """Asks for contexts until the run ends (Stopped)."""
        while True:
            known = self._queue.get()
            try:
                if not self.cancelled():
                    self._ask(known)
            finally:
                self._tally.end()

    def _take(self, known: KnownFile) -> None:
        self.counts.listed += 1
        if is_due(known, self.since):
            self._tally.begin()
            self._queue.put(known)
        else:
            self.counts.unchanged += 1

    def _ask(self, known: KnownFile) -> None:
        self.counts.current = f"{known.label}/{known.path}"
        packed = self.reader.packed_again(known.id)
        told = self.contexts.anew(packed, self.identity) if packed is not None else None
        if told is not None:
            self.inbox.put(Looked((told,)))
