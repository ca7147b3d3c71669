"""Databases open safely, migrate once, and say what is wrong in words."""

from __future__ import annotations

import os
import shutil
import sqlite3
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from seoga.errors import DatabaseLocked, NotFound, StorageError
from seoga.storage import database, filesystem
from seoga.storage.migrate import APPLICATION_ID, Kind, migrate, migrations, statements


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "kb with space #1?%" / "rag.db"


@pytest.fixture
def writer(path: Path) -> Iterator[sqlite3.Connection]:
    conn = database.open_writer(path)
    yield conn
    conn.close()


def pragma(conn: sqlite3.Connection, name: str) -> object:
    return conn.execute(f"PRAGMA {name}").fetchone()[0]


def test_an_index_whose_making_was_killed_is_still_empty_and_then_made(path: Path) -> None:
    made = path.with_name("made.db")
    path.parent.mkdir()
    conn = sqlite3.connect(made, isolation_level=None)
    conn.execute("PRAGMA cache_size = 1")
    conn.execute("BEGIN IMMEDIATE")
    conn.execute("CREATE TABLE old (x)")
    conn.executemany("INSERT INTO old VALUES (?)", [("x" * 900,)] * 200)
    # What a kill leaves in this moment: half-written pages and the journal to undo them.
    shutil.copy(made, path)
    shutil.copy(f"{made}-journal", f"{path}-journal")
    conn.close()
    with pytest.raises(NotFound, match="still empty"):
        database.open_reader(path)
    with closing(database.open_writer(path)):
        database.open_reader(path).close()


@pytest.mark.parametrize("kind", ["rag", "queue", "embedding"])
def test_a_new_database_gets_every_migration_and_the_house_pragmas(
    tmp_path: Path, kind: Kind
) -> None:
    conn = database.open_writer(tmp_path / "new" / f"{kind}.db", kind)
    assert pragma(conn, "user_version") == len(migrations(kind))
    assert pragma(conn, "application_id") == APPLICATION_ID
    assert pragma(conn, "journal_mode") == "wal"
    assert pragma(conn, "foreign_keys") == 1
    assert pragma(conn, "busy_timeout") == 10_000
    assert pragma(conn, "synchronous") == 1
    conn.close()


@pytest.mark.parametrize("kind", ["rag", "queue", "embedding"])
def test_every_older_schema_is_brought_up_to_date(tmp_path: Path, kind: Kind) -> None:
    for version in range(len(migrations(kind)) + 1):
        path = tmp_path / f"{kind}-{version}.db"
        old = sqlite3.connect(path, isolation_level=None)
        for script in migrations(kind)[:version]:
            old.executescript(script)
        if version:
            old.execute(f"PRAGMA user_version = {version}")
            old.execute(f"PRAGMA application_id = {APPLICATION_ID}")
        old.close()
        conn = database.open_writer(path, kind)
        assert pragma(conn, "user_version") == len(migrations(kind))
        conn.close()


OPEN_WHEN_TOLD = """
import sys
from pathlib import Path
from seoga.storage.database import open_writer
print("ready", flush=True)
sys.stdin.readline()
open_writer(Path(sys.argv[1])).close()
"""


def test_processes_that_open_first_at_once_all_succeed(tmp_path: Path) -> None:
    for attempt in range(3):
        path = tmp_path / f"race{attempt}" / "rag.db"
        openers = [
            subprocess.Popen(
                [sys.executable, "-c", OPEN_WHEN_TOLD, str(path)],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                text=True,
            )
            for _ in range(3)
        ]
        for opener in openers:
            assert opener.stdout is not None
            assert opener.stdout.readline() == "ready\n"
        for opener in openers:
            assert opener.stdin is not None
            opener.stdin.write("go\n")
            opener.stdin.flush()
        assert [opener.communicate(timeout=60)[1] for opener in openers] == [""] * 3
        assert [opener.returncode for opener in openers] == [0] * 3


def test_a_migration_that_fails_half_way_leaves_nothing(tmp_path: Path) -> None:
    folder = tmp_path / "migrations"
    (folder / "rag").mkdir(parents=True)
    (folder / "rag" / "0001_first.sql").write_text("CREATE TABLE one (x);")
    (folder / "rag" / "0002_second.sql").write_text("CREATE TABLE two (x); CREATE TABLE one (x);")
    conn = sqlite3.connect(tmp_path / "x.db", isolation_level=None)
    with pytest.raises(sqlite3.OperationalError, match="already exists"):
        migrate(conn, "rag", "x.db", folder)
    assert pragma(conn, "user_version") == 1
    assert conn.execute("SELECT name FROM sqlite_master").fetchall() == [("one",)]
    conn.close()


def test_migrations_must_be_numbered_without_gaps(tmp_path: Path) -> None:
    (tmp_path / "rag").mkdir()
    (tmp_path / "rag" / "0002_second.sql").write_text("SELECT 1;")
    with pytest.raises(StorageError, match="not numbered"):
        migrations("rag", tmp_path)


def test_a_script_that_ends_inside_a_statement_is_refused() -> None:
    assert list(statements("CREATE TABLE a (x); -- why; not\n")) != []
    with pytest.raises(StorageError, match="inside a statement"):
        list(statements("CREATE TABLE a (x);\nCREATE TABLE b (x"))


def test_a_newer_schema_is_refused_by_writer_and_reader_and_left_alone(
    writer: sqlite3.Connection, path: Path
) -> None:
    writer.execute("PRAGMA user_version = 99")
    for open_it in (database.open_writer, database.open_reader):
        with pytest.raises(StorageError, match="schema 99, written by a newer Seoga"):
            open_it(path)
    assert pragma(writer, "user_version") == 99


def test_a_reader_never_migrates(writer: sqlite3.Connection, path: Path, tmp_path: Path) -> None:
    reader = database.open_reader(path)
    with pytest.raises(sqlite3.OperationalError, match="readonly"):
        reader.execute("CREATE TABLE x (y)")
    reader.close()
    sqlite3.connect(tmp_path / "empty.db").close()
    (tmp_path / "empty.db").touch()
    with pytest.raises(NotFound, match="empty"):
        database.open_reader(tmp_path / "empty.db")
    with pytest.raises(NotFound, match="no index"):
        database.open_reader(tmp_path / "nothing.db")


def test_the_database_of_another_product_is_not_touched(tmp_path: Path) -> None:
    path = tmp_path / "rag.db"
    other = sqlite3.connect(path)
    other.execute("CREATE TABLE notes (x)")
    other.commit()
    other.close()
    with pytest.raises(StorageError, match="another product"):
        database.open_writer(path)
    other = sqlite3.connect(path)
    assert other.execute("SELECT name FROM sqlite_master").fetchall() == [("notes",)]
    other.close()


def test_a_reader_works_while_a_writer_writes_and_after_it_closed(path: Path) -> None:
    writer = database.open_writer(path)
    with database.transaction(writer) as conn:
        conn.execute("INSERT INTO meta VALUES ('a', '1')")
    reader = database.open_reader(path)
    read = "SELECT count(*) FROM meta"
    with database.transaction(writer) as conn:
        conn.execute("INSERT INTO meta VALUES ('b', '2')")
        assert reader.execute(read).fetchone() == (1,)
    assert reader.execute(read).fetchone() == (2,)
    reader.close()
    writer.close()
    reader = database.open_reader(path)
    assert reader.execute(read).fetchone() == (2,)
    reader.close()


def test_a_snapshot_sees_one_state_through_several_reads(path: Path) -> None:
    writer, reader = database.open_writer(path), None
    reader = database.open_reader(path)
    with database.snapshot(reader):
        reader.execute("SELECT count(*) FROM meta").fetchone()
        with database.transaction(writer) as conn:
            conn.execute("INSERT INTO meta VALUES ('a', '1')")
        assert reader.execute("SELECT count(*) FROM meta").fetchone() == (0,)
    assert reader.execute("SELECT count(*) FROM meta").fetchone() == (1,)
    reader.close()
    writer.close()


def test_a_transaction_that_raises_leaves_nothing(writer: sqlite3.Connection) -> None:
    with pytest.raises(sqlite3.IntegrityError), database.transaction(writer) as conn:
        conn.executemany("INSERT INTO meta VALUES (?, '1')", [("a",), ("a",)])
    assert not writer.in_transaction
    assert writer.execute("SELECT count(*) FROM meta").fetchone() == (0,)


def put(conn: sqlite3.Connection, key: str, value: str) -> None:
    with database.transaction(conn):
        conn.execute("INSERT INTO meta VALUES (?, ?)", (key, value))


def test_a_full_disk_is_said_and_the_database_stays_usable(writer: sqlite3.Connection) -> None:
    writer.execute(f"PRAGMA max_page_count = {pragma(writer, 'page_count')}")
    with pytest.raises(StorageError, match="the disk is full") as caught:
        put(writer, "a", "x" * 10_000_000)
    assert "Free space" in caught.value.hint
    writer.execute("PRAGMA max_page_count = 1000000")
    put(writer, "a", "1")


def test_a_locked_database_is_said(writer: sqlite3.Connection, path: Path) -> None:
    other = database.open_writer(path)
    other.execute("PRAGMA busy_timeout = 1")
    with (
        database.transaction(writer),
        pytest.raises(DatabaseLocked, match="locked") as caught,
        database.transaction(other),
    ):
        pass
    other.close()
    # What a later try cures is told apart from what needs a person: 3, as for a run that works.
    assert (caught.value.code, caught.value.exit_code) == ("database_locked", 3)


def test_a_file_that_is_no_database_is_said(tmp_path: Path) -> None:
    path = tmp_path / "rag.db"
    path.write_bytes(b"this is not a database" * 1000)
    for open_it in (database.open_writer, database.open_reader):
        with pytest.raises(StorageError, match="no database"):
            open_it(path)
    assert path.read_bytes().startswith(b"this is not")


def test_a_corrupt_page_is_said(path: Path) -> None:
    conn = database.open_writer(path)
    put(conn, "a", "x" * 500_000)
    conn.close()
    with path.open("r+b") as file:
        file.seek(path.stat().st_size - 400_000)
        file.write(b"\xff" * 300_000)
    reader = database.open_reader(path)
    with pytest.raises(StorageError, match=r"the database is corrupt"), database.speaking(reader):
        reader.execute("SELECT * FROM meta").fetchall()
    reader.close()


def test_a_checkpoint_truncates_the_wal_unless_a_reader_holds_it(path: Path) -> None:
    writer = database.open_writer(path)
    with database.transaction(writer):
        writer.execute("INSERT INTO meta VALUES ('a', '1')")
    wal = path.with_name("rag.db-wal")
    assert wal.stat().st_size > 0
    reader = database.open_reader(path)
    with database.snapshot(reader):
        reader.execute("SELECT * FROM meta").fetchall()
        with database.transaction(writer):
            writer.execute("INSERT INTO meta VALUES ('b', '1')")
        assert database.checkpoint(writer) is False
    assert database.checkpoint(writer) is True
    assert wal.stat().st_size == 0
    assert pragma(writer, "busy_timeout") == 10_000
    reader.close()
    writer.close()


def test_an_old_sqlite_is_refused() -> None:
    database.check_sqlite((3, 40, 1))
    with pytest.raises(StorageError, match=r"SQLite 3\.8\.0 is too old"):
        database.check_sqlite((3, 8, 0))


MOUNTS = r"""
22 27 0:21 / /proc rw,relatime - proc proc rw
27 1 254:0 / / rw,relatime shared:1 - ext4 /dev/vda rw
40 27 0:50 / /mnt/nas rw,relatime - nfs4 server:/export rw
41 27 0:51 / /mnt/share\040one rw,relatime - cifs //server/share rw
42 40 0:52 / /mnt/nas/local rw,relatime - xfs /dev/vdb rw
43 27 0:53 / /home/a/remote rw,relatime - fuse.sshfs a@b: rw
44 27 0:54 / /twice rw,relatime - nfs server:/x rw
45 44 0:55 / /twice rw,relatime - ext4 /dev/vdc rw
"""


@pytest.mark.parametrize(
    ("folder", "kind"),
    [
        ("/mnt/nas/kb", "nfs4"),
        ("/mnt/nas", "nfs4"),
        ("/mnt/nas/local/kb", "xfs"),
        ("/mnt/nasty", "ext4"),
        ("/mnt/share one/kb", "cifs"),
        ("/home/a/remote/x/y", "fuse.sshfs"),
        ("/home/a/kb", "ext4"),
        ("/twice/kb", "ext4"),
    ],
)
def test_the_longest_mount_point_tells_the_file_system(folder: str, kind: str) -> None:
    assert filesystem.file_system(Path(folder), MOUNTS) == kind
    assert filesystem.file_system(Path(folder), "") == ""


@pytest.mark.parametrize(
    "folder",
    [
        "/mnt/nas/kb",
        "/mnt/share one/kb",
        "/home/a/remote",
        "/home/a/OneDrive/kb",
        "/home/a/OneDrive - Example Corp/kb",
        "/home/a/Dropbox (Personal)/kb",
        "/home/a/Library/Mobile Documents/kb",
    ],
)
def test_network_and_cloud_folders_are_refused_with_the_path_to_use(folder: str) -> None:
    with pytest.raises(StorageError) as caught:
        filesystem.refuse_remote(Path(folder), MOUNTS)
    assert folder in caught.value.message
    assert "SEOGA_BASE_PATH" in caught.value.hint


@pytest.mark.parametrize("folder", ["/home/a/kb", "/home/a/dropbox-notes/kb", "/mnt/nas/local"])
def test_local_folders_are_accepted(folder: str) -> None:
    filesystem.refuse_remote(Path(folder), MOUNTS)


def test_a_pipe_is_no_database_and_blocks_nobody(tmp_path: Path) -> None:
    pipe = tmp_path / "rag.db"
    os.mkfifo(pipe)
    for opening in (database.open_reader, database.open_writer):
        with pytest.raises(StorageError, match="it is a named pipe, not a regular file"):
            opening(pipe)
    assert pipe.is_fifo()
