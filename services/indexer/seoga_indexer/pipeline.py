"""Index files: stamp → hash → extract → chunk → tokens. What comes out is ready to be stored."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace
from pathlib import Path

from xxhash import xxh3_128

from seoga import logs
from seoga.contracts.extraction import Extraction
from seoga.errors import Cancelled, ExtractionFailed, Reason, SeogaError
from seoga.kb import Kb
from seoga.models import DocumentInfo, Item, Section
from seoga.storage.packing import PackedFile
from seoga.storage.records import FileRow, Kept, Touch
from seoga.storage.spoken import name_of
from seoga_indexer.changes import Depth, unchanged
from seoga_indexer.outcome import Missing, NoText, Outcome, Same, Text, Twin, Unreadable, Work
from seoga_indexer.preparing import Draft, Sizes, failed
from seoga_indexer.stagecache import Extracted, StageCache

_BLOCK = 1 << 20
# A file that keeps changing is stored as it was; its stamp gives it away next time.
_STEADY_TRIES = 3
_ONCE_MORE = (Reason.CRASH, Reason.OUT_OF_MEMORY)
_MOST_TRIES = 20

log = logs.get("indexer")


def sizes_of(kb: Kb) -> Sizes:
    """What the config of a KB asks for."""
    chunking = kb.config.chunking
    return Sizes(chunking.target_chars, chunking.overlap_chars, kb.config.embedding.max_chunk_chars)


@dataclass(frozen=True, slots=True)
class Bench:
    """What a thread needs to index a file."""

    extraction: Extraction
    prepare: Callable[[Sequence[Draft]], Sequence[PackedFile | FileRow | Exception]]
    refresh: Callable[[Item], Item]
    open: Callable[[Item], AbstractContextManager[Path]]
    is_known: Callable[[str], bool]
    cancelled: Callable[[], bool]
    cache: StageCache
    sizes: Sizes
    max_bytes: int

    def stamped(self, row: FileRow) -> FileRow:
        """A row of a file that gave nothing, with the versions that say when to try again."""
        return replace(row, made=self.cache.versions.made(row.format, row.reason))


@dataclass(frozen=True, slots=True)
class Drafted:
    """A file that was read and waits to be cut; `kept` is what is stored of its extraction."""

    draft: Draft
    kept: Kept | None = None


def index_files(works: Iterable[Work], bench: Bench) -> list[Outcome]:
    """Everything between listed items and the database, for files that are cut together. Raises
    Cancelled, and what is no fault of a file (a service that does not answer)."""
    read = [_steadily_read(work, bench) for work in works]
    drafted = [one for one in read if isinstance(one, Drafted)]
    outcomes: list[Outcome] = [one for one in read if not isinstance(one, Drafted)]
    if drafted:
        results = bench.prepare([one.draft for one in drafted])
        outcomes += [
            _finished(one, result, bench) for one, result in zip(drafted, results, strict=True)
        ]
    return outcomes


def _steadily_read(work: Work, bench: Bench) -> Outcome | Drafted:
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
        return _unreadable(work, error.strerror or str(error), bench)
    return outcome


def _read(work: Work, item: Item, bench: Bench) -> Outcome | Drafted:
    row = row_of(item)
    if item.size > bench.max_bytes:
        unread = replace(row, hash=f"unread:{item.size}:{item.mtime_ns}")
        why = f"larger than {bench.max_bytes >> 20} MiB"
        return NoText(bench.stamped(failed(unread, Reason.TOO_LARGE, why)))
    if recut := _recut(work, item, row, bench):
        return recut
    try:
        with bench.open(item) as local:
            return _read_local(work, local, row, bench)
    except ExtractionFailed as error:
        unread = replace(row, hash=f"unread:{item.version}")
        return NoText(bench.stamped(failed(unread, error.reason, error.message)))


def _recut(work: Work, item: Item, row: FileRow, bench: Bench) -> Drafted | None:
    """A file that needs new chunks only, from what is kept of it, without a look at it."""
    known = work.known
    if known is None or work.redo is not Depth.CHUNK or known.reason == Reason.UNREADABLE:
        return None
    if not unchanged(item, known):
        return None
    row = replace(row, hash=known.hash, size=known.size)
    extracted = bench.cache.recall(row.hash, row.path)
    return None if extracted is None else _drafted(extracted, row, bench)


def _read_local(work: Work, local: Path, row: FileRow, bench: Bench) -> Outcome | Drafted:
    known = work.known
    row = replace(row, hash=content_hash(local))
    if row.version:
        # Few servers tell the size of what they list.
        row = replace(row, size=local.stat().st_size)
    if known is not None and not work.redo and known.hash == row.hash:
        return Same(Touch(known.id, row.size, row.mtime_ns, row.scanned_ns, row.version))
    if work.settled:
        return _indexed(local, row, bench)
    with bench.cache.claim(row.hash, row.path) as first:
        copy = known is None and bench.is_known(row.hash)
        if copy or not (first or not row.size):
            return Twin(work, row)
        return _indexed(local, row, bench)


def _indexed(local: Path, row: FileRow, bench: Bench) -> Outcome | Drafted:
    if not row.size:
        return NoText(bench.stamped(failed(row, Reason.EMPTY, "")))
    extracted, kept = bench.cache.recall(row.hash, row.path), None
    if extracted is None:
        try:
            extracted = _extracted_at_last(local, row, bench)
        except (SeogaError, OSError):
            raise
        except Exception as error:  # one file's content must never end a run
            return _broken(row, error, bench)
        kept = bench.cache.keep(row.hash, row.path, extracted)
    return _drafted(extracted, row, bench, kept)


def _drafted(extracted: Extracted, row: FileRow, bench: Bench, kept: Kept | None = None) -> Drafted:
    info, trouble = extracted.info, extracted.trouble
    row = replace(row, made=bench.cache.versions.made(info.format, extracted.reason))
    return Drafted(Draft(row, info, extracted.sections, bench.sizes, trouble), kept)


def _finished(drafted: Drafted, result: PackedFile | FileRow | Exception, bench: Bench) -> Outcome:
    kept = drafted.kept
    if isinstance(result, Exception):  # its text must not end a run either
        return _broken(drafted.draft.row, result, bench)
    if isinstance(result, FileRow):
        return NoText(result, kept)
    return Text(result if kept is None else result._replace(kept=kept))


def _broken(row: FileRow, error: Exception, bench: Bench) -> Outcome:
    log.warning("a file could not be indexed", path=row.path, exc_info=error)
    why = f"{type(error).__name__}: {error}"
    return NoText(bench.stamped(failed(row, Reason.INTERNAL, why)))


def _extracted_at_last(local: Path, row: FileRow, bench: Bench) -> Extracted:
    """What a file gives. The system may have killed its parser for another's memory: a verdict
    needs two that ended at the same place, and pages that are kept make the next try go further."""
    got = -1
    for _ in range(_MOST_TRIES):
        extracted = _extracted(local, row, bench)
        if extracted.reason not in _ONCE_MORE or len(extracted.sections) <= got:
            break
        got = len(extracted.sections)
    return extracted


def _extracted(local: Path, row: FileRow, bench: Bench) -> Extracted:
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
        return Extracted(info, sections, (error.reason, error.message))
    return Extracted(info, sections)


def _unreadable(work: Work, detail: str, bench: Bench) -> Outcome:
    if work.known is not None and work.known.chunk_count:
        return Unreadable(work.known, Reason.UNREADABLE, detail)
    return NoText(bench.stamped(failed(row_of(work.item), Reason.UNREADABLE, detail)))


def row_of(item: Item, content: str = "") -> FileRow:
    """The row of an item whose stamp was read just now; `content` is the hash of its content."""
    return FileRow(
        item.label,
        item.path,
        item.size,
        item.mtime_ns,
        time.time_ns(),
        item.version,
        content,
        item.url,
        title=name_of(item.path),
    )


def content_hash(path: Path) -> str:
    """xxh3_128 of a file as 32 hex digits, read a MiB at a time. Raises OSError."""
    digest = xxh3_128()
    with path.open("rb", buffering=0) as file:
        while block := file.read(_BLOCK):
            digest.update(block)
    return digest.hexdigest()
