"""Whether an index tells one story: rows, text, keyword index, vectors and what is kept.

Reads in one transaction, so that it may run beside an indexing run.
"""

from __future__ import annotations

import re
import sqlite3
import zlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass
from functools import partial
from itertools import islice
from typing import Any

from seoga.errors import Reason
from seoga.models import ChunkState, FileState
from seoga.storage import generations
from seoga.storage.database import error_code, snapshot
from seoga.storage.matrixaudit import contradictions
from seoga.storage.migrate import schema_version
from seoga.storage.packing import hash_of
from seoga.storage.spoken import Words, misspoken
from seoga.storage.stored import is_of_a_value
from seoga.storage.texts import unpack_text
from seoga.storage.values import unreadable
from seoga.storage.vectors import seal, sealed, sound

_SHOWN = 3
_PAGE = 500
_OF_AN_INDEX = re.compile(
    r"^(row \d+ missing from|wrong # of entries in|non-unique entry in) index"
)
# What the rows of each table are called whose values nobody can read.
VALUES_OF = {
    "files": "files with values that cannot be read",
    "chunks": "files whose passages have values that cannot be read",
    "generations": "models with values that cannot be read",
    "runs": "runs with values that cannot be read",
    "meta": "facts of the index that cannot be read",
}


@dataclass(frozen=True, slots=True)
class Fault:
    """So many rows that contradict others; `rows` are their ids (files, chunks, …), at most 10,000.
    `derivable`: what is wrong can be made again from what is right."""

    check: str
    what: str
    count: int
    rows: tuple[Any, ...] = ()
    derivable: bool = True

    def __str__(self) -> str:
        shown = ", ".join(str(row) for row in self.rows[:_SHOWN])
        more = ", …" if self.count > _SHOWN else ""
        return f"{self.what}: {self.count:,}" + (f" ({shown}{more})" if shown else "")

    def to_json(self) -> dict[str, Any]:
        """A JSON object; three rows of each."""
        return {**asdict(self), "rows": list(self.rows[:_SHOWN])}


_PASSAGES = (
    'SELECT start, "end", words, text, heading_path, header_row, context, keywords FROM chunks'
    " WHERE file_id = ?"
)
_CHUNKS = "SELECT file_id FROM chunks WHERE id = ?"


def documents_of(conn: sqlite3.Connection, fault: Fault) -> list[str]:
    """`label/path` of the first documents that a fault is about, where its rows tell."""
    names: dict[str, None] = {}
    of_files = fault.what.startswith("files")
    conn.text_factory = _legible
    for row in (
        fault.rows if of_files or fault.what.startswith(("chunks", "passages", "vectors")) else ()
    ):
        number = row[-1] if isinstance(row, tuple) else row
        wanted = "?" if of_files else f"({_CHUNKS})"
        found = conn.execute(f"SELECT label, path FROM files WHERE id = {wanted}", (number,))
        names |= dict.fromkeys(f"{label}/{path}" for label, path in found)
        if len(names) == _SHOWN:
            break
    return list(names)


DISPUTED = "passages with two whole vectors of which nobody knows the right one"
UNLIKE = "passages whose words are not those of their text"
Check = Callable[[sqlite3.Connection], Iterator[Fault]]


def audit(conn: sqlite3.Connection, words: Words | None = None) -> dict[str, list[Fault]]:
    """The faults of an index by check, each check named though it found none. `conn` is one of
    `open_reader`, of the present schema; with `words` (`seoga.text.tokens.index_text`), what the
    keyword index holds of each passage is compared with its text too."""
    # Temporary tables only: the file itself is open for reading.
    conn.execute("PRAGMA query_only = OFF")
    conn.text_factory = _legible
    try:
        conn.execute(
            "CREATE VIRTUAL TABLE IF NOT EXISTS temp.vocabulary"
            " USING fts5vocab ('main', 'chunks_fts', 'row')"
        )
        with snapshot(conn):
            found = {name: _found_by(name, check, conn) for name, check in CHECKS.items()}
            if words is not None:
                unlike = partial(_unlike, words=words)
                found["keyword index"] += _found_by("keyword index", unlike, conn)
            return found
    finally:
        conn.text_factory = str
        conn.execute("PRAGMA query_only = ON")


def _found_by(name: str, check: Check, conn: sqlite3.Connection) -> list[Fault]:
    try:
        return list(check(conn))
    except sqlite3.DatabaseError as error:
        # The tables of a full-text index are damaged: it is made again from what it indexes.
        if is_of_a_value(error):
            return [_unchecked(name, error)]
        if error_code(error) != sqlite3.SQLITE_CORRUPT_VTAB:
            raise
        return [Fault(name, "damaged", 1)]
    except (TypeError, AttributeError) as error:
        # A value of another kind than its column's: named by the check of values.
        return [_unchecked(name, error)]


def _unchecked(name: str, error: Exception) -> Fault:
    return Fault(name, f"not checked: {error}", 1)


def _legible(text: bytes) -> str:
    """Text as far as it can be read: what is damaged in it makes it another, which a check sees."""
    return text.decode("utf-8", "replace")


def _database(conn: sqlite3.Connection) -> Iterator[Fault]:
    said = [row[0] for row in conn.execute("PRAGMA integrity_check (20)")]
    if said != ["ok"]:
        # An index of a table is made again from the table.
        derivable = all(_OF_AN_INDEX.search(line) for line in said)
        what = "rows that an index of theirs has otherwise" if derivable else "damaged pages"
        yield Fault("database", what, len(said), tuple(said), derivable)
    yield from _rows(conn, "database", "rows without their owner", "PRAGMA foreign_key_check")


def _values(conn: sqlite3.Connection) -> Iterator[Fault]:
    for table, rows in unreadable(conn):
        shown = tuple(rows[:_MOST_ROWS])
        yield Fault("values", VALUES_OF[table], len(rows), shown)


def _files(conn: sqlite3.Connection) -> Iterator[Fault]:
    counted = "(SELECT count(*) FROM chunks WHERE file_id = f.id)"
    wrong = {
        "files whose count of chunks is wrong": f"chunk_count != {counted}",
        "files with chunks and no text": (
            "chunk_count > 0 AND id NOT IN (SELECT file_id FROM texts)"
        ),
        "files without a chunk that wait for vectors": (
            f"chunk_count = 0 AND state = '{FileState.PARTIALLY_DEFERRED}'"
        ),
        "files whose chunks are not numbered through": (
            "chunk_count > 0 AND (SELECT min(ordinal) != 0 OR max(ordinal) != count(*) - 1"
            " FROM chunks WHERE file_id = f.id)"
        ),
        "files whose state does not follow from their chunks": generations.CONTRADICTED,
    }
    for what, where in wrong.items():
        yield from _rows(conn, "files", what, f"SELECT id FROM files f WHERE {where}")
    yield from _found("files", "files whose chunks are no slices of their text", _unsliced(conn))


def _unsliced(conn: sqlite3.Connection) -> Iterator[Any]:
    """Files whose stored text is damaged, or has another passage where a chunk says it stands; or
    one that is not what it was when it was hashed."""
    for file_id, *packed in conn.execute("SELECT file_id, text, marks FROM texts"):
        try:
            text, _ = unpack_text(*packed)
        except (ValueError, zlib.error):
            yield file_id
            continue
        rows = conn.execute(_PASSAGES, (file_id,))
        if any(
            text[start:end] != key[0] or not _as_hashed(hashed, key)
            for start, end, hashed, *key in rows
        ):
            yield file_id


def _as_hashed(hashed: int | None, key: Sequence[Any]) -> bool:
    of_text = all(isinstance(value, str) for value in key)
    return hashed is None or (of_text and hashed == hash_of(key))


def _keyword(conn: sqlite3.Connection) -> Iterator[Fault]:
    chunks, rows = "SELECT id FROM chunks", "SELECT id FROM chunks_fts_docsize"
    yield from _rows(conn, "keyword index", "chunks without words", f"{chunks} EXCEPT {rows}")
    yield from _rows(conn, "keyword index", "words without a chunk", f"{rows} EXCEPT {chunks}")
    have = conn.execute("SELECT total(cnt), total(doc) FROM temp.vocabulary").fetchone()
    if (spoken := _counted_words(conn)) != tuple(map(int, have)):
        missing = sum(abs(a - int(b)) for a, b in zip(spoken, have, strict=True))
        yield Fault("keyword index", "words that its rows have and its index has not", missing)


def _unlike(conn: sqlite3.Connection, words: Words) -> Iterator[Fault]:
    yield from _found("keyword index", UNLIKE, (row for row, _ in misspoken(conn, words)))


def _counted_words(conn: sqlite3.Connection) -> tuple[int, int]:
    words = distinct = 0
    for fields in conn.execute("SELECT title, heading, body, context, keywords FROM chunks_fts"):
        tokens = " ".join(fields).split()
        words += len(tokens)
        distinct += len(set(tokens))
    return words, distinct


def _terms(conn: sqlite3.Connection) -> Iterator[Fault]:
    yield from _found("terms", "terms with a wrong number of passages", _miscounted(conn))
    terms, parts = "SELECT id FROM terms", "SELECT id FROM terms_trigram_docsize"
    yield from _rows(conn, "terms", "terms without their parts", f"{terms} EXCEPT {parts}")
    yield from _rows(conn, "terms", "parts without a term", f"{parts} EXCEPT {terms}")


def _miscounted(conn: sqlite3.Connection) -> Iterator[Any]:
    """Both come in the order of the bytes of their terms: a merge needs no memory."""
    counted = iter(conn.execute("SELECT term, df FROM terms ORDER BY term"))
    spoken = iter(conn.execute("SELECT term, doc FROM temp.vocabulary"))
    left, right = next(counted, None), next(spoken, None)
    while left or right:
        if left == right:
            left, right = next(counted, None), next(spoken, None)
        elif right is None or (left is not None and left[0].encode() < right[0].encode()):
            yield left and left[0]
            left = next(counted, None)
        elif left is None or right[0].encode() < left[0].encode():
            yield right[0]
            right = next(spoken, None)
        else:
            yield left[0]
            left, right = next(counted, None), next(spoken, None)


def _vectors(conn: sqlite3.Connection) -> Iterator[Fault]:
    target = generations.target(conn)
    live = conn.execute("SELECT id FROM generations WHERE status = 'live'").fetchall()
    if len(live) > 1:
        yield Fault("vectors", "models that serve at once", len(live), tuple(live))
    if target and not conn.execute("SELECT 1 FROM generations WHERE id = ?", (target,)).fetchone():
        yield Fault("vectors", "the model that is wanted is not there", 1, (target,))
        return
    pending = f"SELECT id FROM chunks WHERE state = '{ChunkState.PENDING}'"
    if target:
        yield from _rows(
            conn,
            "vectors",
            "chunks said to have vectors that have none",
            f"SELECT id FROM chunks c WHERE state = '{ChunkState.INDEXED}' AND NOT EXISTS"
            f" (SELECT 1 FROM vectors v WHERE v.chunk_id = c.id AND v.generation = {target})",
        )
    elif target == 0:
        yield from _rows(conn, "vectors", "chunks that wait though none are wanted", pending)
    yield from _found("vectors", "vectors that are none of their model", _misshapen(conn))
    yield from _found("vectors", "vectors that are not as they were written", _unsealed(conn))


def _unsealed(conn: sqlite3.Connection) -> Iterator[Any]:
    """(generation, chunk) of rows that have another checksum than when they were written."""
    if not sealed(conn):
        return
    rows = "SELECT generation, chunk_id, data, penalties, seal FROM vectors WHERE seal IS NOT NULL"
    for generation, chunk_id, data, penalties, written in conn.execute(rows):
        if seal(chunk_id, generation, data, penalties) != written:
            yield (generation, chunk_id)


def _misshapen(conn: sqlite3.Connection) -> Iterator[Any]:
    """(generation, chunk) of rows that are too short, not finite or not of unit length."""
    for generation, card in conn.execute("SELECT id, card FROM generations").fetchall():
        dimension = generations.card_of(card).dimension
        rows = conn.execute(
            "SELECT chunk_id, count, data, penalties FROM vectors WHERE generation = ?",
            (generation,),
        )
        while page := list(islice(rows, _PAGE)):
            for chunk_id, count, data, penalties in page:
                if not sound(data, penalties, count, dimension):
                    yield (generation, chunk_id)


def _matrix(conn: sqlite3.Connection) -> Iterator[Fault]:
    serving = "SELECT id, card FROM generations WHERE status != 'retired'"
    for generation, card in conn.execute(serving).fetchall():
        found = contradictions(conn, generation, generations.card_of(card).dimension)
        what = "passages that it has otherwise than the index"
        yield from _found("vector file", what, found.wrong)
        disputed = [(generation, chunk_id) for chunk_id in found.disputed]
        yield from _found("vector file", DISPUTED, disputed)


def _kept(conn: sqlite3.Connection) -> Iterator[Fault]:
    orphans = "SELECT id FROM extractions WHERE hash NOT IN (SELECT hash FROM files)"
    yield from _rows(conn, "kept extractions", "of contents that no file has", orphans)
    yield from _found("kept extractions", "damaged", _damaged(conn))


def _damaged(conn: sqlite3.Connection) -> Iterator[Any]:
    for row_id, data in conn.execute("SELECT id, data FROM extractions"):
        try:
            zlib.decompress(data)
        except zlib.error:
            yield row_id


def _folders(conn: sqlite3.Connection) -> Iterator[Fault]:
    """What a scan would pass over though it has to look: a file more or less, an unsettled one (of
    a time too young when it was read, of a version that a listing shows, made by nothing)."""
    if schema_version(conn) < _FOLDERS:
        return
    folder = "rtrim(path, replace(path, '/', ''))"
    open_files = (
        f"sum(version != '' OR made = '' OR reason = '{Reason.UNREADABLE}'"
        " OR mtime_ns >= scanned_ns - 2000000000)"
    )
    yield from _rows(
        conn,
        "folders",
        "folders that are not what is said of them",
        "SELECT f.label, f.path FROM folders f LEFT JOIN (SELECT label,"
        f" {folder} AS folder, count(*) AS files, {open_files} AS open FROM files GROUP BY 1, 2) c"
        " ON c.label = f.label AND c.folder = f.path"
        " WHERE f.files != coalesce(c.files, 0) OR coalesce(c.open, 0)",
    )


CHECKS: dict[str, Check] = {
    "database": _database,
    "values": _values,
    "files": _files,
    "folders": _folders,
    "keyword index": _keyword,
    "terms": _terms,
    "vectors": _vectors,
    "vector file": _matrix,
    "kept extractions": _kept,
}
# The schema that brought what is known of folders.
_FOLDERS = 6
_MOST_ROWS = 10_000


def _rows(conn: sqlite3.Connection, check: str, what: str, sql: str) -> Iterator[Fault]:
    ids = (row[0] if len(row) == 1 else row for row in conn.execute(sql))
    yield from _found(check, what, ids)


def _found(check: str, what: str, rows: Iterable[Any]) -> Iterator[Fault]:
    all_rows = iter(rows)
    first = tuple(islice(all_rows, _MOST_ROWS))
    if first:
        yield Fault(check, what, len(first) + sum(1 for _ in all_rows), first)
