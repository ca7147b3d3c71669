"""SQLite connections: version check, pragmas, transactions and the words for what goes wrong."""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from pathlib import Path

from seoga.errors import DatabaseLocked, NotFound, StorageError
from seoga.regularfile import NotRegular, refuse_irregular
from seoga.storage.filesystem import refuse_remote
from seoga.storage.migrate import Kind, migrate, refuse_newer
from seoga.storage.stored import is_of_a_value
from seoga.storage.vectors import seal

# RETURNING needs 3.35, the trigram tokenizer 3.34.
MIN_SQLITE = (3, 35, 0)
BUSY_S = 10.0
_RETRY_S = 0.01

# busy_timeout comes before all of these, by `timeout=` of connect: even the switch to WAL can meet
# a lock.
_WRITER_PRAGMAS = (
    "PRAGMA synchronous = NORMAL",
    "PRAGMA foreign_keys = ON",
    "PRAGMA temp_store = MEMORY",
    "PRAGMA cache_size = -65536",
    "PRAGMA wal_autocheckpoint = 4000",
    "PRAGMA journal_size_limit = 67108864",
    # FAST zeroes what is freed on pages written anyway; ON (the build's default here) writes the
    # others too.
    "PRAGMA secure_delete = FAST",
)
_READER_PRAGMAS = (
    "PRAGMA query_only = ON",
    "PRAGMA foreign_keys = ON",
    "PRAGMA temp_store = MEMORY",
)
# KiB of pages that a reader keeps: for searches, and for passes over all rows, which come by once.
# More (32 MiB) makes no search of a million passages faster, and each connection keeps it.
SEARCH_CACHE, PASS_CACHE = 8192, 4096

_WORDS = {
    sqlite3.SQLITE_FULL: (
        "the disk is full",
        "Free space and start again: what was committed stays.",
    ),
    sqlite3.SQLITE_CORRUPT: (
        "the database is corrupt",
        "`seoga doctor --deep` says whether that can be mended, or how to go on without.",
    ),
    sqlite3.SQLITE_NOTADB: (
        "the file is no database",
        "Restore a backup, or move it away and index again.",
    ),
    sqlite3.SQLITE_BUSY: (
        "the database is locked",
        "Another process is writing; try again in a moment.",
    ),
    sqlite3.SQLITE_LOCKED: (
        "the database is locked",
        "Another process is writing; try again in a moment.",
    ),
    sqlite3.SQLITE_READONLY: (
        "the database cannot be written",
        "Check the owner of the folder and that its mount is writable.",
    ),
    sqlite3.SQLITE_CANTOPEN: (
        "the database cannot be opened",
        "Check that the folder exists and is writable: readers need its -shm file too.",
    ),
    sqlite3.SQLITE_PERM: ("access to the database is denied", "Check the owner of the folder."),
    sqlite3.SQLITE_IOERR: (
        "the disk reports an error",
        "Check free space and the health of the disk.",
    ),
}

_LOCKED = (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED)
_DAMAGED = (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB)
# Of databases beside the indexes: what is lost with them is little, and said.
# Of one value of a row, which is made again.
_MENDABLE = "`seoga doctor --deep --repair` mends it."
_WAYS_OUT = {
    "queue.db": "Stop what uses it and move it away, with its -wal and -shm: requests that wait and"
    " the history of the queue are lost, no index is.",
    "embedding.db": "Stop what uses it and move it away, with its -wal and -shm: only what was kept"
    " to save work is lost, no index is.",
}


def open_writer(path: Path, kind: Kind = "rag") -> sqlite3.Connection:
    """A connection that may write; makes the folder and brings the schema up to date.

    In autocommit mode: writes go through `transaction`. May be used by several threads, one at a
    time. Raises StorageError (network file system, newer or foreign schema, old SQLite, full,
    corrupt or locked).
    """
    refuse_remote(path.parent)
    check_sqlite()
    with speaking(path):
        path.parent.mkdir(parents=True, exist_ok=True)
        _refuse_irregular(path)
        conn = connect(path)
        try:
            migrate(conn, kind, str(path))
            conn.create_function("seal", 4, seal, deterministic=True)
        except BaseException:
            conn.close()
            raise
    return conn


def connect(path: Path) -> sqlite3.Connection:
    """A writing connection to a database that is known to be in order (no check, no migration): for
    heartbeats."""
    conn = sqlite3.connect(
        path, timeout=BUSY_S, isolation_level=None, check_same_thread=False, cached_statements=256
    )
    try:
        _enter_wal(conn, path)
        for pragma in _WRITER_PRAGMAS:
            conn.execute(pragma)
    except BaseException:
        conn.close()
        raise
    return conn


def open_reader(
    path: Path, kind: Kind = "rag", cache_kib: int = SEARCH_CACHE
) -> sqlite3.Connection:
    """A connection that cannot write and never migrates; serves older schemas too.

    Raises NotFound when there is no index yet, StorageError for a newer schema or an unusable file.
    """
    if not path.exists():
        raise NotFound(f"there is no index at {path}", "Index the knowledge base first.")
    with speaking(path):
        _refuse_irregular(path)
        conn = sqlite3.connect(
            f"{path.resolve().as_uri()}?mode=ro",
            uri=True,
            timeout=BUSY_S,
            isolation_level=None,
            check_same_thread=False,
        )
        try:
            for pragma in _READER_PRAGMAS:
                conn.execute(pragma)
            conn.execute(f"PRAGMA cache_size = -{int(cache_kib)}")
            version = refuse_newer(conn, kind, str(path))
        except sqlite3.OperationalError as error:
            conn.close()
            if error_code(error) != sqlite3.SQLITE_READONLY_ROLLBACK:
                raise
            # Killed before it was switched to WAL; only a writer may roll that back.
            version = 0
        except BaseException:
            conn.close()
            raise
    if version == 0:
        conn.close()
        raise NotFound(f"the index at {path} is still empty", "Index the knowledge base first.")
    return conn


def _refuse_irregular(path: Path) -> None:
    try:
        refuse_irregular(path)
    except NotRegular as error:
        # SQLite would wait for somebody who writes into a pipe.
        raise StorageError(
            f"{path} is no database: {error.strerror}",
            "Move it away; the next run makes a new one.",
        ) from error
    except OSError:
        # Not there, or not for us: SQLite says it.
        return


@contextmanager
def reader_if_any(path: Path) -> Iterator[sqlite3.Connection | None]:
    """An index for reading, see `open_reader`; None before its first run has made the tables."""
    conn = None
    if path.exists():
        with suppress(NotFound):
            conn = open_reader(path)
    try:
        with speaking(path):
            yield conn
    finally:
        if conn is not None:
            conn.close()


@contextmanager
def reader(path: Path, cache_kib: int = SEARCH_CACHE) -> Iterator[sqlite3.Connection]:
    """An index for reading, see `open_reader`, closed at the end; what is damaged in it is a
    StorageError."""
    with closing(open_reader(path, cache_kib=cache_kib)) as conn, speaking(path):
        yield conn


@contextmanager
def transaction(conn: sqlite3.Connection) -> Iterator[sqlite3.Connection]:
    """One write transaction, locked from its start; rolled back by any exception."""
    with speaking(conn):
        conn.execute("BEGIN IMMEDIATE")
        try:
            yield conn
            conn.execute("COMMIT")
        except BaseException:
            # A full disk makes SQLite roll back by itself.
            if conn.in_transaction:
                with suppress(sqlite3.Error):
                    conn.execute("ROLLBACK")
            raise


@contextmanager
def snapshot(conn: sqlite3.Connection) -> Iterator[sqlite3.Connection]:
    """Several reads of one state of the database. Keep it short: the WAL cannot shrink past it."""
    if conn.in_transaction:
        yield conn
        return
    with speaking(conn):
        conn.execute("BEGIN")
        try:
            yield conn
        finally:
            if conn.in_transaction:
                conn.execute("COMMIT")


@contextmanager
def speaking(where: Path | sqlite3.Connection) -> Iterator[None]:
    """Turns what SQLite reports about the file into a StorageError (DatabaseLocked where another
    process writes) that names the file and the way out."""
    try:
        yield
    except sqlite3.Error as error:
        code = error_code(error) & 0xFF
        if code not in _WORDS:
            raise
        what, hint = _WORDS[code]
        name = _name(where)
        if code in _DAMAGED:
            hint = way_out(Path(name), _MENDABLE if is_of_a_value(error) else hint)
        kind = DatabaseLocked if code in _LOCKED else StorageError
        raise kind(f"{name}: {what} ({error})", hint) from error


def error_code(error: sqlite3.Error) -> int:
    """SQLite's extended code. Text that is no UTF-8 has none from Python, and JSON that is none
    only that of any error: both are damage of what is stored."""
    if is_of_a_value(error):
        return sqlite3.SQLITE_CORRUPT
    return getattr(error, "sqlite_errorcode", 0)


def way_out(path: Path, otherwise: str = _WORDS[sqlite3.SQLITE_CORRUPT][1]) -> str:
    """What to do about a damaged database."""
    return _WAYS_OUT.get(path.name, otherwise)


def checkpoint(conn: sqlite3.Connection) -> bool:
    """Writes the WAL back and truncates it; True when that was complete. A reader in the way is no
    error: the WAL then keeps its size until the next time."""
    with speaking(conn):
        conn.execute("PRAGMA busy_timeout = 500")
        try:
            busy = conn.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()[0]
            if busy:
                conn.execute("PRAGMA wal_checkpoint(PASSIVE)").fetchone()
        finally:
            conn.execute(f"PRAGMA busy_timeout = {int(BUSY_S * 1000)}")
    return not busy


def check_sqlite(version: tuple[int, ...] = sqlite3.sqlite_version_info) -> None:
    """Raises StorageError when the SQLite of this Python is too old."""
    if version < MIN_SQLITE:
        have, need = (".".join(map(str, parts)) for parts in (version, MIN_SQLITE))
        raise StorageError(f"SQLite {have} is too old, {need} is needed", "Use a newer Python.")


def _enter_wal(conn: sqlite3.Connection, path: Path) -> None:
    # The switch answers "locked" at once when two processes open a new file together: the busy
    # handler is not asked.
    deadline = time.monotonic() + BUSY_S
    while True:
        try:
            mode = conn.execute("PRAGMA journal_mode = WAL").fetchone()[0]
            break
        except sqlite3.OperationalError as error:
            if error_code(error) & 0xFF != sqlite3.SQLITE_BUSY or time.monotonic() > deadline:
                raise
            time.sleep(_RETRY_S)
    if mode != "wal":
        raise StorageError(f"{path}: the file system does not carry SQLite's WAL mode")


def _name(where: Path | sqlite3.Connection) -> str:
    if isinstance(where, Path):
        return str(where)
    with suppress(sqlite3.Error):
        return str(where.execute("PRAGMA database_list").fetchone()[2])
    return "database"
