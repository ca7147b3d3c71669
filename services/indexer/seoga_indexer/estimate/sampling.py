"""What new files hold: some of each kind are read, the others are taken to be like them."""

from __future__ import annotations

import time
from collections.abc import Generator, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final, NamedTuple

from seoga.contracts.extraction import Extraction
from seoga.errors import ExtractionFailed, SeogaError
from seoga.models import DocumentInfo, Item, Section
from seoga.storage.packing import PackedFile
from seoga_indexer.pipeline import row_of
from seoga_indexer.preparing import Draft, Sizes, packed
from seoga_indexer.source import Connector
from seoga_indexer.stagecache import hint_of

# Files of each kind that are read, the seconds for all and for one of them, and the largest one.
SAMPLE: Final = 12
_ALL_S: Final = 20.0
_ONE_S: Final = 3.0
_MOST_BYTES: Final = 4 << 20
# Not read for an estimate: recognition takes seconds a page and longer than the recording's tenth.
_IMAGES: Final = frozenset({".png", ".jpg", ".jpeg", ".tif", ".tiff", ".webp", ".bmp"})
_AUDIO: Final = frozenset({".mp3", ".wav", ".m4a", ".ogg", ".flac", ".webm", ".mp4", ".mkv"})
# Where nothing of a kind is known: bytes of text a byte of file, text of a page, of a second.
_TEXT_SHARE: Final = 0.1
_PAGE_CHARS: Final = 1800
_PAGE_BYTES: Final = 60_000
_SECOND_CHARS: Final = 12
_SECOND_BYTES: Final = 16_000
_WORDS: Final = "본문 text of about this length "


class Found(NamedTuple):
    """A file that was read: what commit 1 would store of it, and its pages. Where only its first
    pages were read, all of it is `times` as much; where none was, `packed` is `guessed`."""

    item: Item
    packed: PackedFile | None
    pages: int
    times: float = 1.0
    guessed: bool = False

    @property
    def whole(self) -> bool:
        """Whether it was read to its end."""
        return self.times == 1.0 and not self.guessed


@dataclass(slots=True)
class Kind:
    """The new files of one extension. `read` were read (or are taken for them, with `basis`), in
    `seconds`; all together hold `scale` times as much. `alike`: they are others, of the index."""

    hint: str
    items: list[Item] = field(default_factory=list)
    read: list[Found] = field(default_factory=list)
    basis: str = ""
    alike: bool = False
    seconds: float = 0.0

    @property
    def size(self) -> int:
        """Bytes of all files."""
        return sum(item.size for item in self.items)

    @property
    def scale(self) -> float:
        """How much more there is than was read, by bytes (by number where sizes are not told)."""
        read = sum(found.item.size for found in self.read)
        if not self.read:
            return 0.0
        return self.size / read if read else len(self.items) / len(self.read)

    @property
    def exact(self) -> bool:
        """Whether every file was read, and whole."""
        return len(self.read) == len(self.items) and not self.basis


class Sampler:
    """Reads files for an estimate, for a limited time."""

    def __init__(self, extraction: Extraction, sizes: Sizes) -> None:
        self._extraction, self._sizes = extraction, sizes
        self._deadline = time.monotonic() + _ALL_S

    def read(self, kind: Kind, connector_of: Mapping[str, Connector]) -> None:
        """Fills `kind.read` from the files themselves, as far as that is quick."""
        if kind.hint not in _IMAGES | _AUDIO:
            for item in _spread(kind.items):
                if time.monotonic() > self._deadline:
                    break
                started = time.monotonic()
                if (found := self._one(item, connector_of[item.label])) is not None:
                    kind.read.append(found)
                    took = time.monotonic() - started
                    usual = _reading_s(kind.hint, found)
                    kind.seconds += max(took, usual) if found.guessed else took * found.times

    def assume(self, kind: Kind) -> None:
        """Fills `kind.read` with what such a file usually holds."""
        kind.read = [self._assumed(kind.hint, item) for item in _spread(kind.items)]
        kind.basis = "usual sizes of such files"
        kind.seconds = sum(_reading_s(kind.hint, found) for found in kind.read)

    def _one(self, item: Item, connector: Connector) -> Found | None:
        try:
            with connector.open(connector.refresh(item)) as local:
                # Few servers tell the size of what they list.
                known = item if item.size else item._replace(size=local.stat().st_size)
                until = min(self._deadline, time.monotonic() + _ONE_S)
                events = self._extraction.extract(local, item.path)
                try:
                    return self._gathered(known, events, until)
                finally:
                    if isinstance(events, Generator):
                        events.close()
        except ExtractionFailed:
            return Found(item, None, 0)
        except (SeogaError, OSError):
            return None

    def _gathered(self, item: Item, events: Iterator[object], until: float) -> Found | None:
        info, sections = DocumentInfo(format=""), list[Section]()
        try:
            for event in events:
                if isinstance(event, DocumentInfo):
                    info = event
                elif isinstance(event, Section):
                    if _after_a_scan(sections, event):
                        # Its other pages take as long, and hold about as much.
                        return self._cut_short(item, info, sections)
                    sections.append(event)
                if time.monotonic() > until:
                    return self._cut_short(item, info, sections)
        except ExtractionFailed:
            pass  # What came before it would be indexed.
        return self._found(item, info, sections)

    def _cut_short(
        self, item: Item, info: DocumentInfo, sections: Sequence[Section]
    ) -> Found | None:
        """A long document as if it were as long as what was read of it; where that is nothing, as
        if its pages held what pages usually do."""
        pages, seen = _count(info), _pages(sections)
        if not pages:
            return None
        if not seen:
            usual = self._found(item, info, [_filled(pages * _PAGE_CHARS)])
            return usual._replace(guessed=True)
        part = self._found(item, info, sections)
        return part._replace(times=pages / seen)

    def _found(self, item: Item, info: DocumentInfo, sections: Sequence[Section]) -> Found:
        result = packed(Draft(row_of(item), info, sections, self._sizes))
        text = result if isinstance(result, PackedFile) else None
        return Found(item, text, _count(info) or _pages(sections))

    def _assumed(self, hint: str, item: Item) -> Found:
        chars, pages = _guess(hint, item.size)
        sections = [_filled(chars)] if chars else []
        found = self._found(item, DocumentInfo(format=""), sections)
        return Found(item, found.packed, pages)


def _filled(chars: int) -> Section:
    return Section((_WORDS * (chars // len(_WORDS) + 1))[:chars])


def _guess(hint: str, size: int) -> tuple[int, int]:
    """Characters and pages of a file of which nothing but name and size is known."""
    if hint in _IMAGES:
        return _PAGE_CHARS, 1
    if hint in _AUDIO:
        return size // _SECOND_BYTES * _SECOND_CHARS, 0
    if hint == ".pdf":
        pages = max(1, size // _PAGE_BYTES)
        return pages * _PAGE_CHARS, pages
    return int(size * _TEXT_SHARE), 0


def _reading_s(hint: str, found: Found) -> float:
    """Recognition of a page takes about two seconds, of a recording a third of its length."""
    return found.item.size / _SECOND_BYTES / 3 if hint in _AUDIO else 2.0 * found.pages


def _after_a_scan(sections: Sequence[Section], event: Section) -> bool:
    """True for the first section of the page that follows a recognised one."""
    last = sections[-1].place.page if sections else None
    if last is None or event.place.page == last:
        return False
    return any(one.place.page == last and one.meta.get("ocr") for one in sections)


def _count(info: DocumentInfo) -> int:
    """How many pages the document says that it has; 0 where it says nothing."""
    return int(info.meta.get("pages", 0) or 0)


def _pages(sections: Sequence[Section]) -> int:
    return max((section.place.page or section.place.slide or 0 for section in sections), default=0)


def _spread(items: Sequence[Item]) -> list[Item]:
    """Some of them, of all sizes but the largest."""
    usable = [item for item in items if item.size <= _MOST_BYTES] or list(items[:1])
    ordered = sorted(usable, key=lambda item: (item.size, item.label, item.path))
    if len(ordered) <= SAMPLE:
        return ordered
    step = len(ordered) / SAMPLE
    return [ordered[int((number + 0.5) * step)] for number in range(SAMPLE)]


def kinds_of(items: Sequence[Item]) -> list[Kind]:
    """The files by extension, in the order of their names."""
    found: dict[str, Kind] = {}
    for item in items:
        hint = hint_of(item.path)
        found.setdefault(hint, Kind(hint)).items.append(item)
    return [found[hint] for hint in sorted(found)]
