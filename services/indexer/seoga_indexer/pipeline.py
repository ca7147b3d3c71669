"""Index one file: stamp → hash → extract → chunk → tokens. What comes out is ready to be stored."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace
from pathlib import Path

from xxhash import xxh3_128

from seoga import logs
from seoga.contracts.extraction import Extraction
from seoga.errors import Cancelled, ExtractionFailed, Reason, SeogaError
from seoga.kb import Kb
from seoga.models import DocumentInfo, Item, Section
from seoga.storage.records import FileRow, KnownFile, PreparedFile, Touch
from seoga_indexer.outcome import Missing, NoText, Outcome, Same, Text, Twin, Unreadable, Work
from seoga_indexer.preparing import Draft, Sizes, failed, name_of

_BLOCK = 1 << 20
# A file that keeps changing is stored as it was; its stamp gives it away next time.
_STEADY_TRIES = 3
_ONCE_MORE = (Reason.CRASH, Reason.OUT_OF_MEMORY)

log = logs.get("indexer")


def sizes_of(kb: Kb) -> Sizes:
    """What the config of a KB asks for."""
    chunking = kb.config.chunking
    return Sizes(chunking.target_chars, chunking.overlap_chars, kb.config.embedding.max_chunk_chars)


@dataclass(frozen=True, slots=True)
class Bench:
    """What a thread needs to index a file."""

    extraction: Extraction
    prepare: Callable[[Draft], PreparedFile | FileRow]
    refresh: Callable[[Item], Item]
    open: Callable[[Item], AbstractContextManager[Path]]
    twins: Callable[[str], Sequence[KnownFile]]
    cancelled: Callable[[], bool]
    sizes: Sizes
    max_bytes: int


def index_file(work: Work, bench: Bench) -> Outcome:
    """Everything between a listed item and the database. Raises Cancelled, and what is no fault of
    the file (a service that does not answer)."""
    try:
        item = bench.refresh(work.item)
        for _ in range(_STEADY_TRIES):
            outcome = _read(work, item, bench)
            later = bench.refresh(item)
            if (later.size, later.mtime_ns) == (item.size, item.mtime_ns):
                break
            item = later
    except FileNotFoundError as error:
        return Missing(work.item, error.strerror or str(error))
    except OSError as error:
        return _unreadable(work, error.strerror or str(error))
    return outcome


def _read(work: Work, item: Item, bench: Bench) -> Outcome:
    row = row_of(item)
    if item.size > bench.max_bytes:
        unread = replace(row, hash=f"unread:{item.size}:{item.mtime_ns}")
        return NoText(failed(unread, Reason.TOO_LARGE, f"larger than {bench.max_bytes >> 20} MiB"))
    try:
        with bench.open(item) as local:
            return _read_local(work, local, row, bench)
    except ExtractionFailed as error:
        unread = replace(row, hash=f"unread:{item.version}")
        return NoText(failed(unread, error.reason, error.message))


def _read_local(work: Work, local: Path, row: FileRow, bench: Bench) -> Outcome:
    row = replace(row, hash=content_hash(local))
    if row.version:
        # Few servers tell the size of what they list.
        row = replace(row, size=local.stat().st_size)
    if work.known is not None and not work.redo and work.known.hash == row.hash:
        return Same(Touch(work.known.id, row.size, row.mtime_ns, row.scanned_ns, row.version))
    if work.known is None and not work.settled and (twins := bench.twins(row.hash)):
        return Twin(work, row, tuple(twins))
    if not row.size:
        return NoText(failed(row, Reason.EMPTY, ""))
    try:
        return _extract(local, row, bench)
    except (SeogaError, OSError):
        raise
    except Exception as error:  # one file's content must never end a run
        log.exception("a file could not be indexed", path=row.path)
        return NoText(failed(row, Reason.INTERNAL, f"{type(error).__name__}: {error}"))


def _extract(local: Path, row: FileRow, bench: Bench) -> Outcome:
    info, sections, trouble = _read_sections(local, row, bench)
    if trouble is not None and trouble.reason in _ONCE_MORE:
        # The system may have killed the parser for another's memory: a verdict needs two of them.
        info, sections, trouble = _read_sections(local, row, bench)
    told = None if trouble is None else (trouble.reason, trouble.message)
    result = bench.prepare(Draft(row, info, sections, bench.sizes, told))
    return NoText(result) if isinstance(result, FileRow) else Text(result)


def _read_sections(
    local: Path, row: FileRow, bench: Bench
) -> tuple[DocumentInfo, list[Section], ExtractionFailed | None]:
    info = DocumentInfo(format="")
    sections: list[Section] = []
    try:
        for event in bench.extraction.extract(local, row.path):
            if bench.cancelled():
                raise Cancelled("stopped while extracting")
            if isinstance(event, Section):
                sections.append(event)
            else:
                info = event
    except ExtractionFailed as error:
        if error.reason is Reason.VANISHED:
            raise FileNotFoundError(error.message) from error
        if error.reason is Reason.UNREADABLE:
            raise PermissionError(error.message) from error
        return info, sections, error
    return info, sections, None


def _unreadable(work: Work, detail: str) -> Outcome:
    if work.known is not None and work.known.chunk_count:
        return Unreadable(work.known, Reason.UNREADABLE, detail)
    return NoText(failed(row_of(work.item), Reason.UNREADABLE, detail))


def row_of(item: Item) -> FileRow:
    """The row of an item whose stamp was read just now; nothing is known of its content yet."""
    return FileRow(
        item.label,
        item.path,
        item.size,
        item.mtime_ns,
        time.time_ns(),
        item.version,
        url=item.url,
        title=name_of(item.path),
    )


def content_hash(path: Path) -> str:
    """xxh3_128 of a file as 32 hex digits, read a MiB at a time. Raises OSError."""
    digest = xxh3_128()
    with path.open("rb", buffering=0) as file:
        while block := file.read(_BLOCK):
            digest.update(block)
    return digest.hexdigest()
