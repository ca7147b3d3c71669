"""What goes into the document store and what comes back: plain frozen rows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields
from operator import attrgetter
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from seoga.models import Chunk, FileState, Place, Stage

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

# The key of a document's metadata under which its statements about its own life are stored, and the
# end of the name of a file that makes statements about the one beside it.
STATED: Final = "seoga.lifecycle"
SIDECAR: Final = ".seoga.yaml"


@dataclass(frozen=True, slots=True)
class FileRow:
    """A file as the indexer wants it recorded; identity is (label, path).

    `made` names the versions that its text was made with. `state` is the state once every chunk
    has its vectors: with chunks waiting the store writes PartiallyDeferred in its place. `reason`
    is a `Reason` or "", `scanned_ns` the wall clock when `mtime_ns` was read.
    """

    label: str
    path: str
    size: int
    mtime_ns: int
    scanned_ns: int
    version: str = ""
    hash: str = ""
    url: str = ""
    state: FileState = FileState.READY
    stage: Stage = Stage.DONE
    reason: str = ""
    detail: str = ""
    format: str = ""
    title: str = ""
    lang: str = ""
    meta: Mapping[str, Any] = field(default_factory=dict)
    made: str = ""

    def __reduce__(self) -> tuple[type[FileRow], tuple[Any, ...]]:
        # Rows go to child processes and back: the way of frozen dataclasses is a loop in Python.
        return FileRow, _row_fields(self)


_row_fields = attrgetter(*(each.name for each in fields(FileRow)))


class KnownFile(NamedTuple):
    """What the index remembers of a file: enough to decide whether it changed. A tuple: a scan
    makes one of every file."""

    id: int
    label: str
    path: str
    size: int
    mtime_ns: int
    scanned_ns: int
    version: str
    hash: str
    state: FileState
    stage: str
    reason: str
    chunk_count: int
    format: str = ""
    indexed_at: str = ""
    made: str = ""


@dataclass(frozen=True, slots=True)
class Making:
    """What made the text of so many files; `chunks` is 0 where they have none."""

    format: str
    reason: str
    made: str
    chunks: int
    files: int


@dataclass(frozen=True, slots=True)
class Touch:
    """New metadata of a file whose content did not change."""

    id: int
    size: int
    mtime_ns: int
    scanned_ns: int
    version: str = ""


class Tokens(NamedTuple):
    """The keyword index of a chunk, a field each: tokens separated by single spaces
    (`seoga.text.index_text`)."""

    title: str = ""
    heading: str = ""
    body: str = ""
    context: str = ""
    keywords: str = ""

    def terms(self) -> str:
        """The terms of all fields, each once, between spaces."""
        return " ".join(dict.fromkeys(" ".join(self).split()))


@dataclass(frozen=True, slots=True)
class PreparedChunk:
    """A chunk with everything that commit 1 stores of it. `context` and `keywords` are the LLM's
    texts, or empty."""

    chunk: Chunk
    tokens: Tokens
    lang: str = ""
    context: str = ""
    keywords: str = ""


@dataclass(frozen=True, slots=True)
class Kept:
    """What extraction gave for a content, packed: `hint` is the extension that it was read with,
    `made` the version of extraction."""

    hash: str
    hint: str
    made: str
    data: bytes


@dataclass(frozen=True, slots=True)
class PreparedFile:
    """A file ready for commit 1. `text` is what the chunks are slices of; `marks` are (offset in
    code points, place); `kept` is stored with it, where there is something to keep."""

    row: FileRow
    text: str
    chunks: Sequence[PreparedChunk]
    marks: Sequence[tuple[int, Place]] = ()
    kept: Kept | None = None


@dataclass(frozen=True, slots=True)
class PendingChunk:
    """A chunk that waits for its vectors."""

    id: int
    file_id: int
    text: str
    heading_path: tuple[str, ...]
    header_row: str
    context: str
    keywords: str
    attempts: int


class StoredWords(NamedTuple):
    """The words by which a chunk is known again (text, heading path as JSON, header row, context,
    keywords), and whether it has its vectors."""

    key: tuple[str, str, str, str, str]
    indexed: bool


@dataclass(frozen=True, slots=True)
class ChunkVectors:
    """The vectors of a chunk: (k, d) float32 of unit length, one a window, and (k,) float32
    penalties."""

    chunk_id: int
    vectors: NDArray[np.float32]
    penalties: NDArray[np.float32]
