"""What the stages of a run tell its writer: everything that is to be stored, as plain values."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from dataclasses import dataclass

from seoga.errors import Reason
from seoga.models import Item
from seoga.storage.folders import FolderRow
from seoga.storage.packing import PackedFile
from seoga.storage.records import ChunkVectors, FileRow, Kept, KnownFile, Touch
from seoga_indexer.changes import Depth
from seoga_indexer.scan import SourceReport


@dataclass(frozen=True, slots=True)
class Work:
    """A file to look at: `known` as the index has it, `redo` from which stage on whatever its
    hash, `settled` when looking for a file that it may be a copy of is over."""

    item: Item
    known: KnownFile | None = None
    redo: Depth = Depth.NOTHING
    settled: bool = False


@dataclass(frozen=True, slots=True)
class Text:
    """A file with text (or known to be empty of it): commit 1."""

    packed: PackedFile


@dataclass(frozen=True, slots=True)
class NoText:
    """A file that gives none, with state and reason; `kept` is what extraction said of it."""

    row: FileRow
    kept: Kept | None = None


@dataclass(frozen=True, slots=True)
class Same:
    """The content did not change; its metadata may have."""

    touch: Touch


@dataclass(frozen=True, slots=True)
class Unreadable:
    """A known file that cannot be read now: what is stored of it stays."""

    known: KnownFile
    reason: Reason
    detail: str


@dataclass(frozen=True, slots=True)
class Twin:
    """A new file whose content is known, or is being read: perhaps the new place of a file that
    is gone, else a copy."""

    work: Work
    row: FileRow


@dataclass(frozen=True, slots=True)
class Missing:
    """A file that vanished between listing and reading."""

    item: Item
    detail: str


Outcome = Text | NoText | Same | Unreadable | Twin | Missing


@dataclass(frozen=True, slots=True)
class Looked:
    """What came of some files that were looked at together."""

    outcomes: Sequence[Text | NoText | Same | Unreadable | Missing]


@dataclass(frozen=True, slots=True)
class Moved:
    """A known file that now stands elsewhere: its chunks and vectors stay."""

    known: KnownFile
    row: FileRow
    title_tokens: str | None


@dataclass(frozen=True, slots=True)
class Settled:
    """Folders whose files were all found unchanged."""

    folders: Sequence[FolderRow]


@dataclass(frozen=True, slots=True)
class Gone:
    """Known files that their sources list no more."""

    ids: Sequence[int]


@dataclass(frozen=True, slots=True)
class Vectors:
    """What came back from the embedder: commit 2, and the chunks that it refused with why."""

    generation: int
    rows: Sequence[ChunkVectors]
    refused: Sequence[tuple[int, str]]


@dataclass(frozen=True, slots=True)
class Barrier:
    """Set once everything sent before it is stored."""

    stored: threading.Event


@dataclass(frozen=True, slots=True)
class TextDone:
    """Every file has been looked at (`complete`), or the run was cancelled on the way."""

    reports: Sequence[SourceReport]
    complete: bool


@dataclass(frozen=True, slots=True)
class EmbedDone:
    """No more vectors will come in this run; `trouble` says why some are missing, or is empty."""

    trouble: str = ""


@dataclass(frozen=True, slots=True)
class Crash:
    """A thread ended with an error that the run cannot survive."""

    error: BaseException


Message = (
    Looked | Moved | Settled | Gone
    | Vectors | Barrier | TextDone | EmbedDone | Crash
)  # fmt: skip
