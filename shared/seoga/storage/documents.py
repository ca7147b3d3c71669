"""The document store: every write of an indexing run, each one transaction under the lease."""

from __future__ import annotations

import json
import sqlite3
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

from seoga.models import ChunkState, FileState, ModelCard
from seoga.storage import content, filerows, folders, generations, matrixfile, stored
from seoga.storage.again import packed_again
from seoga.storage.bulk import put
from seoga.storage.database import checkpoint, snapshot, speaking, transaction
from seoga.storage.filerows import now
from seoga.storage.folders import FolderRow
from seoga.storage.leases import Lease
from seoga.storage.migrate import schema_version
from seoga.storage.packing import PackedFile, pack
from seoga.storage.records import (
    ChunkVectors,
    FileRow,
    Kept,
    KnownFile,
    Making,
    PendingChunk,
    PreparedFile,
    StoredWords,
    Touch,
)

_KNOWN = (
    "SELECT id, label, path, size, mtime_ns, scanned_ns, version, hash, state, stage, reason,"
    " chunk_count, format, indexed_at, {made} FROM files"
)
# The schemas that brought `files.made` and the kept extractions, and what is known of folders.
_KEEPING, _FOLDERS = 2, 6
_PENDING = (
    "SELECT id, file_id, text, heading_path, header_row, context, keywords, attempts FROM chunks"
    f" WHERE state = '{ChunkState.PENDING}' AND id > ? ORDER BY id LIMIT ?"
)
_EVERY = _PENDING.replace(f"state = '{ChunkState.PENDING}' AND ", "")
# The meta key of a run that does finished work again.
REDO = "redo"
# Rows that are read at once: few at first, for a reader that is soon sent elsewhere.
_FIRST_PAGE, _PAGE = 100, 5000
# Vectors of a replaced model that go in one transaction: a fraction of a second.
SWEPT = 2000


class DocumentStore:
    """Writes one KB's database over a connection of `open_writer`. Threads may share it: calls wait
    for one another.

    Every write raises LeaseLost when another owner took the lease, StorageError when the disk or
    the file fails; either leaves the database as it was before the call. Without a lease nothing is
    fenced (tests, eval).
    """

    def __init__(self, conn: sqlite3.Connection, lease: Lease | None = None) -> None:
        self.conn, self.lease = conn, lease
        self._lock = threading.RLock()
        # A reader serves an index that was not migrated yet.
        version = schema_version(conn)
        self._keeps, self._has_folders = version >= _KEEPING, version >= _FOLDERS
        self._known = _KNOWN.format(made="made" if self._keeps else "''")

    def known(self, label: str, start: str = "") -> Iterator[KnownFile]:
        """The files of a source in code point order of their paths, from `start` on, a page at a
        time: memory stays small and the store may be written in between."""
        where, page = "path >= ?", _FIRST_PAGE
        while True:
            with self._read() as conn:
                rows = conn.execute(
                    f"{self._known} WHERE label = ? AND {where} ORDER BY path LIMIT ?",
                    (label, start, page),
                ).fetchall()
            yield from map(filerows.known, rows)
            if len(rows) < page:
                return
            where, start, page = "path > ?", rows[-1][2], min(2 * page, _PAGE)

    def files_in(self, label: str, path: str, digest: bytes) -> int | None:
        """How many files lie in a folder that was left with this listing (see `settle_folders`);
        None where another one, or none, is known."""
        if not self._has_folders:
            return None
        with self._read() as conn:
            return folders.files_in(conn, label, path, digest)

    def settle_folders(self, rows: Sequence[FolderRow]) -> None:
        """Remembers folders whose files were all found unchanged, until one of them changes."""
        with self._write(content=False) as conn:
            folders.settle(conn, rows)

    def labels(self) -> dict[str, int]:
        """The labels that have files, with their numbers."""
        with self._read() as conn:
            return dict(conn.execute("SELECT label, count(*) FROM files GROUP BY label"))

    def get(self, label: str, path: str) -> KnownFile | None:
        """One file by identity."""
        return self._one("label = ? AND path = ?", (label, path))

    def first_with(self, content_hash: str) -> KnownFile | None:
        """A file with this content, one with chunks before others: a copy or a moved file needs no
        second extraction. There may be as many as files: `__init__.py` is empty everywhere."""
        return self._one("hash = ? ORDER BY chunk_count = 0, id LIMIT 1", (content_hash,))

    def makings(self) -> list[Making]:
        """What made the texts of this index, counted."""
        made = "made" if self._keeps else "''"
        with self._read() as conn:
            rows = conn.execute(
                f"SELECT format, reason, {made}, chunk_count > 0, count(*) FROM files"
                " GROUP BY 1, 2, 3, 4"
            ).fetchall()
        return [Making(*row) for row in rows]

    def kept(self, content_hash: str, hint: str) -> Kept | None:
        """What extraction gave for a content that was read with this extension."""
        if not self._keeps:
            return None
        with self._read() as conn:
            row = conn.execute(
                "SELECT hash, hint, made, data FROM extractions WHERE hash = ? AND hint = ?",
                (content_hash, hint),
            ).fetchone()
        return Kept(*row) if row else None

    def commit_text(self, batch: Sequence[PreparedFile], *, reuse: bool = True) -> list[int]:
        """Commit 1: files with their text, chunks and keyword index, in one transaction; returns
        their ids.

        Chunks wait for vectors, unless the KB wants none. A file that exists is replaced: chunks
        whose words (text, heading, header row, context, keywords) are the same keep id and vectors.
        With `reuse` they keep their state too, and new ones get the vectors of the same words
        elsewhere; without, all wait for new vectors.
        """
        return self.commit_packed([pack(prepared) for prepared in batch], reuse=reuse)

    def commit_packed(self, batch: Sequence[PackedFile], *, reuse: bool = True) -> list[int]:
        """The same for files that were packed before, each of them once."""
        with self._write() as conn:
            waits = generations.target(conn) != 0
            plan = content.begin(conn, ChunkState.PENDING if waits else ChunkState.INDEXED)
            first = plan.next_id
            ids, known = filerows.numbered(conn, [packed.row for packed in batch])
            rows = []
            for file_id, packed in zip(ids, batch, strict=True):
                old = content.stored(conn, file_id) if file_id in known else ()
                states = plan.replace(old, file_id, packed.chunks, reuse)
                row = filerows.settled(packed.row, states)
                rows.append(filerows.values(row, file_id, len(states), packed.chars))
            filerows.write(conn, rows, known)
            put(
                conn,
                "INSERT OR REPLACE INTO texts (file_id, text, marks) VALUES {row}",
                [(number, one.text, one.marks) for number, one in zip(ids, batch, strict=True)],
            )
            plan.apply(conn)
            filerows.keep(conn, [packed.kept for packed in batch])
            if reuse:
                generations.borrow(conn, first)
        return ids

    def set_state(self, rows: Sequence[FileRow], kept: Sequence[Kept | None] = ()) -> None:
        """Records files that give no text (failed, unsupported, empty …); what they had before is
        erased. `kept` is what extraction gave for them."""
        with self._write() as conn:
            plan = content.begin(conn, ChunkState.PENDING)
            ids, known = filerows.numbered(conn, rows)
            for file_id in known:
                plan.erase(conn, file_id)
            conn.executemany(
                "DELETE FROM texts WHERE file_id = ?", [(file_id,) for file_id in known]
            )
            pairs = zip(rows, ids, strict=True)
            filerows.write(conn, [filerows.values(row, file_id) for row, file_id in pairs], known)
            plan.apply(conn)
            filerows.keep(conn, kept)

    def mark(self, file_ids: Sequence[int], state: FileState, reason: str, detail: str) -> None:
        """Sets state and reason only: chunks stay and stay searchable (an unreadable file that was
        read before)."""
        with self._write() as conn:
            conn.executemany(
                "UPDATE files SET state = ?, reason = ?, detail = ? WHERE id = ?",
                [(state.value, reason, detail, file_id) for file_id in file_ids],
            )

    def touch(self, rows: Sequence[Touch]) -> None:
        """New metadata for files whose content is the same."""
        with self._write() as conn:
            conn.executemany(
                "UPDATE files SET size = ?, mtime_ns = ?, scanned_ns = ?, version = ? WHERE id = ?",
                [(row.size, row.mtime_ns, row.scanned_ns, row.version, row.id) for row in rows],
            )

    def rename(self, file_id: int, row: FileRow, title_tokens: str | None = None) -> None:
        """A moved file: identity, metadata and title of `row`; chunks and vectors stay.
        `title_tokens` replaces the title field of the keyword index (None: as it is)."""
        with self._write() as conn:
            plan = content.begin(conn, ChunkState.PENDING)
            folders.forget_above(conn, [(row.label, row.path)])
            conn.execute(
                "UPDATE files SET label = ?, path = ?, size = ?, mtime_ns = ?, scanned_ns = ?,"
                " version = ?, url = ?,"
                " title = ? WHERE id = ?",
                (
                    *(row.label, row.path, row.size, row.mtime_ns, row.scanned_ns, row.version),
                    *(row.url, row.title, file_id),
                ),
            )
            if title_tokens is not None:
                plan.retitle(conn, file_id, title_tokens)
            plan.apply(conn)

    def remove(self, file_ids: Sequence[int]) -> None:
        """Removes files with their text, chunks, keyword index, term counts and vectors."""
        with self._write() as conn:
            plan = content.begin(conn, ChunkState.PENDING)
            for file_id in file_ids:
                plan.erase(conn, file_id)
            plan.apply(conn)
            conn.executemany("DELETE FROM files WHERE id = ?", [(each,) for each in file_ids])
            generations.swap(conn)

    def ensure_generation(self, card: ModelCard | None, *, known: bool = True) -> int:
        """Says which model the KB wants (None: no vectors): call it at the start of a run. Returns
        the id for `commit_vectors`, 0 for none. After a change of model all chunks wait; the old
        vectors serve until none does. Not `known`: some model's, which could not be asked."""
        with self._write() as conn:
            wanted = generations.ensure(conn, card) if known else generations.await_one(conn)
        self.make_matrices()
        return wanted

    def pending(self, limit: int, after: int = 0, *, every: bool = False) -> list[PendingChunk]:
        """At most `limit` chunks that wait for vectors (`every`: whether they wait or not), ids
        above `after`, ascending."""
        with self._read() as conn:
            sql = _EVERY if every else _PENDING
            rows = conn.execute(sql, (after, limit)).fetchall()
        return [filerows.waiting(row) for row in rows]

    def words(self, file_id: int) -> list[StoredWords]:
        """The chunks of a file as the next run compares them, in order."""
        with self._read() as conn:
            rows = content.stored(conn, file_id)
        return [StoredWords(row[1:6], row[6] == ChunkState.INDEXED.value) for row in rows]

    def packed_again(self, file_id: int) -> PackedFile | None:
        """A file as commit 1 had it (see `seoga.storage.again`); None where it has no text."""
        with self._read() as conn:
            return packed_again(conn, file_id)

    def commit_vectors(self, generation: int, rows: Sequence[ChunkVectors]) -> int:
        """Commit 2: vectors; chunks become Indexed, files with none waiting Ready (or Degraded), a
        complete new generation live. Returns how many chunks still existed."""
        with self._write() as conn:
            return generations.store(conn, generation, rows)

    def sweep_generations(self, limit: int = SWEPT) -> int:
        """Deletes vectors that a newer model has replaced, so many at a time. Returns how many."""
        with self._write(content=False) as conn:
            swept = generations.sweep(conn, limit)
        self.make_matrices()
        return swept

    def fail_chunks(self, errors: Sequence[tuple[int, str]]) -> None:
        """One more failed try for each (chunk id, message); after three the chunk is Failed, its
        file Degraded."""
        with self._write() as conn:
            generations.fail(conn, errors)

    def restart_embedding(self) -> None:
        """All chunks wait for new vectors (`--partial embedding`); the present ones serve
        meanwhile."""
        with self._write() as conn:
            generations.restart(conn)

    def begin_run(self, scope: str = "full", force: bool = False) -> int:
        """Opens a row of the history; one that a crash left open is marked interrupted."""
        with self._write(content=False) as conn:
            conn.execute(
                "UPDATE runs SET status = 'interrupted', ended_at = ? WHERE status = 'running'",
                (now(),),
            )
            row = conn.execute(
                "INSERT INTO runs (started_at, scope, force) VALUES (?, ?, ?) RETURNING id",
                (now(), scope, int(force)),
            ).fetchone()
        return int(row[0])

    def end_run(self, run_id: int, status: str, counts: Mapping[str, Any], error: str = "") -> None:
        """Closes it (`done`, `failed`, `cancelled`), clears the progress and writes the WAL
        back."""
        with self._write(content=False) as conn:
            conn.execute(
                "UPDATE runs SET status = ?, ended_at = ?, counts = ?, error = ? WHERE id = ?",
                (status, now(), json.dumps(counts, ensure_ascii=False), error, run_id),
            )
            conn.execute("DELETE FROM meta WHERE key = 'progress'")
        with self._lock:
            checkpoint(self.conn)

    def begin_redo(self, what: str) -> tuple[str, bool]:
        """Opens a run that does finished work again (`force`, `embedding`, …): since when it goes
        on, and whether one of the same kind was interrupted and is resumed."""
        found = stored.parsed(self.meta(REDO, "{}"), dict)
        if found.get("what") == what:
            return str(found["since"]), True
        since = now()
        self.set_meta(REDO, json.dumps({"what": what, "since": since}))
        return since, False

    def end_redo(self) -> None:
        """It is complete, or has no meaning any more."""
        with self._write(content=False) as conn:
            conn.execute("DELETE FROM meta WHERE key = ?", (REDO,))

    def progress(self, data: Mapping[str, Any]) -> None:
        """What the run is doing now, for get_index_info. Call it about once a second."""
        self.set_meta("progress", json.dumps(data, ensure_ascii=False))

    def set_meta(self, key: str, value: str) -> None:
        """Writes one meta value."""
        with self._write(content=False) as conn:
            conn.execute("INSERT OR REPLACE INTO meta (key, value) VALUES (?, ?)", (key, value))

    def meta(self, key: str, default: str = "") -> str:
        """Reads one meta value."""
        with self._read() as conn:
            row = conn.execute("SELECT value FROM meta WHERE key = ?", (key,)).fetchone()
        return str(row[0]) if row else default

    def close(self) -> None:
        """Closes the connection; the lease is its owner's to release."""
        with self._lock:
            self.conn.close()

    def make_matrices(self) -> None:
        """Makes the files of int8 vectors that are missing, short or mostly of the past, of the
        stored vectors; removes those that no generation has."""
        with self._lock:
            for left in matrixfile.forgotten(self.conn):
                left.unlink(missing_ok=True)
            path = matrixfile.database_path(self.conn)
            for generation, dimension in self._generations().items():
                found = matrixfile.state(self.conn, generation, path)
                good = found is not None and matrixfile.whole(found, dimension)
                if found is None or not good or matrixfile.wasteful(self.conn, generation):
                    found = self._write_matrix(generation)
                matrixfile.sketch(found, dimension)

    def _generations(self) -> dict[int, int]:
        """Those in use, with the dimensions of their vectors."""
        with self._read() as conn:
            rows = conn.execute("SELECT id, card FROM generations WHERE status != 'retired'")
            return {row[0]: generations.card_of(row[1]).dimension for row in rows.fetchall()}

    def _write_matrix(self, generation: int) -> matrixfile.MatrixState:
        # Reading takes long for a large index, and the lease's heartbeat must get through: only
        # the last step is a write transaction. Nobody else writes meanwhile (lease and lock).
        with self._lock:
            with snapshot(self.conn) as conn:
                made = matrixfile.write_anew(conn, generation, matrixfile.database_path(conn))
            with self._write() as conn:
                matrixfile.adopt(conn, generation, made)
        return made

    @contextmanager
    def _write(self, *, content: bool = True) -> Iterator[sqlite3.Connection]:
        with self._lock, transaction(self.conn) as conn:
            if self.lease is not None:
                self.lease.check(conn)
            yield conn
            if content:
                matrixfile.flush(conn)
                # Readers refresh what they hold in memory when this number has moved.
                conn.execute(
                    "INSERT INTO meta (key, value) VALUES ('commit', '1')"
                    " ON CONFLICT (key) DO UPDATE SET value = CAST(value AS INTEGER) + 1"
                )

    @contextmanager
    def _read(self) -> Iterator[sqlite3.Connection]:
        with self._lock, speaking(self.conn):
            yield self.conn

    def _one(self, where: str, values: tuple[object, ...]) -> KnownFile | None:
        with self._read() as conn:
            row = conn.execute(f"{self._known} WHERE {where}", values).fetchone()
        return filerows.known(row) if row else None
