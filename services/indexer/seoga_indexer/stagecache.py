"""What extraction gave, kept in the index: a new chunker or a second file starts from there."""

from __future__ import annotations

import json
import threading
import zlib
from collections import deque
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import PurePosixPath

from seoga.errors import Reason
from seoga.models import DocumentInfo, Section
from seoga.storage.documents import DocumentStore
from seoga.storage.records import Kept
from seoga_indexer.versions import Versions

# As in the store: a third of the default's time for a tenth more space.
_ZLIB_LEVEL = 1
# More than can be between two looks of the writer.
_REMEMBERED = 4096
# Found out from the first bytes of a file: not worth a row.
_AT_A_GLANCE = frozenset({Reason.UNSUPPORTED, Reason.BINARY, Reason.EMPTY})


@dataclass(frozen=True, slots=True)
class Extracted:
    """The whole stream of a file. `trouble`: how it ended early, or None."""

    info: DocumentInfo
    sections: Sequence[Section]
    trouble: tuple[Reason, str] | None = None

    @property
    def reason(self) -> str:
        """Why some or all of the text is missing, or empty."""
        return self.trouble[0] if self.trouble else ""


def hint_of(path: str) -> str:
    """What of a name tells a reader how to read: the extension, else the whole name."""
    name = PurePosixPath(path.lower())
    return name.suffix or name.name


def pack(extracted: Extracted) -> bytes:
    """As NDJSON, compressed."""
    head = {"info": extracted.info.to_json(), "trouble": extracted.trouble}
    lines = [head, *(section.to_json() for section in extracted.sections)]
    text = "\n".join(json.dumps(line, ensure_ascii=False) for line in lines)
    return zlib.compress(text.encode("utf-8", "surrogatepass"), _ZLIB_LEVEL)


def unpack(data: bytes) -> Extracted:
    """Inverse of `pack`. Raises ValueError, KeyError or zlib.error when it is damaged."""
    first, *rest = zlib.decompress(data).decode("utf-8", "surrogatepass").split("\n")
    head = json.loads(first)
    trouble = head["trouble"]
    return Extracted(
        DocumentInfo.from_json(head["info"]),
        [Section.from_json(json.loads(line)) for line in rest],
        (Reason(trouble[0]), trouble[1]) if trouble else None,
    )


@dataclass(slots=True)
class StageCache:
    """The kept extractions as the threads of a run see them. With `reuse` False nothing is taken
    from there (`--force`)."""

    reader: DocumentStore
    versions: Versions
    reuse: bool
    _open: set[str] = field(default_factory=set)
    _recent: deque[str] = field(default_factory=deque)
    _known: set[str] = field(default_factory=set)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def recall(self, content: str, path: str) -> Extracted | None:
        """What this extraction gave for a content before, or None."""
        kept = self.reader.kept(content, hint_of(path)) if self.reuse else None
        if kept is None:
            return None
        try:
            extracted = unpack(kept.data)
        except (ValueError, KeyError, zlib.error):
            return None
        now = self.versions.reading(extracted.info.format, extracted.reason)
        return extracted if kept.made == now else None

    def keep(self, content: str, path: str, extracted: Extracted) -> Kept | None:
        """The row to store; None for what is as quick to read again."""
        name = extracted.info.format
        if name in self.versions.cheap or (not name and extracted.reason in _AT_A_GLANCE):
            return None
        made = self.versions.reading(name, extracted.reason)
        return Kept(content, hint_of(path), made, pack(extracted))

    @contextmanager
    def claim(self, content: str, path: str) -> Iterator[bool]:
        """Whether this thread is the first of the run to read a content with this extension: the
        others must wait until what it gave is stored."""
        key = f"{content}{hint_of(path)}"
        first = not self.reuse or self._begin(key)
        try:
            yield first
        finally:
            if first and self.reuse:
                self._end(key)

    def _begin(self, key: str) -> bool:
        with self._lock:
            if key in self._open or key in self._known:
                return False
            self._open.add(key)
            return True

    def _end(self, key: str) -> None:
        with self._lock:
            self._open.discard(key)
            if len(self._recent) >= _REMEMBERED:
                self._known.discard(self._recent.popleft())
            self._recent.append(key)
            self._known.add(key)
