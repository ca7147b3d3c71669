"""A database that is moved or replaced beneath its users is not written to any more."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from seoga.errors import LeaseLost, StorageError
from seoga.storage.database import connect, open_writer, transaction
from seoga.storage.embedding import FILE, EmbeddingStore
from seoga.storage.jobs import Queue
from seoga.storage.leases import WORKER, Lease

ENDINGS = ("", "-wal", "-shm")


@pytest.fixture
def queue(tmp_path: Path) -> Iterator[Queue]:
    with closing(Queue(tmp_path / "base" / "queue.db")) as queue:
        yield queue


def move_away(path: Path) -> Path:
    """As the hint of a damaged queue says: with what lies beside it."""
    away = Path(tempfile.mkdtemp(dir=path.parent.parent))
    for ending in ENDINGS:
        beside = path.with_name(path.name + ending)
        if beside.exists():
            beside.rename(away / beside.name)
    return away / path.name


def waiting(path: Path) -> list[str]:
    with closing(Queue(path)) as queue:
        return [job.kb_id for job in queue.waiting()]


def test_an_entry_after_the_file_was_moved_away_is_in_the_new_one(queue: Queue) -> None:
    queue.enqueue("before")
    away = move_away(queue.path)
    assert queue.waiting() == []
    queue.enqueue("after")
    assert waiting(queue.path) == ["after"]
    assert waiting(away) == ["before"]
    # The one that was moved alone, and those that come after it, serve as well.
    queue.enqueue("later")
    queue.path.rename(queue.path.with_name("once more"))
    queue.enqueue("last")
    assert waiting(queue.path) == ["last"]


def test_an_entry_after_a_backup_was_put_back_is_beside_those_of_the_backup(
    queue: Queue, tmp_path: Path
) -> None:
    with closing(Queue(tmp_path / "backup.db")) as other:
        other.enqueue("of the backup")
    queue.enqueue("of the day")
    move_away(queue.path)
    shutil.copy(tmp_path / "backup.db", queue.path)
    queue.enqueue("after")
    assert waiting(queue.path) == ["of the backup", "after"]


def test_what_is_written_while_the_file_goes_fails_and_is_not_written(queue: Queue) -> None:
    with pytest.raises(StorageError, match=r"queue\.db was moved or replaced"), queue.alone():
        away = move_away(queue.path)
    queue.enqueue("after")
    assert waiting(queue.path) == ["after"]
    assert waiting(away) == []


def test_a_folder_that_is_gone_is_said_and_not_made_again(queue: Queue) -> None:
    folder = queue.path.parent
    folder.rename(folder.with_name("elsewhere"))
    with pytest.raises(StorageError, match="is not there any more"):
        queue.enqueue("kb")
    assert not folder.exists()
    folder.with_name("elsewhere").rename(folder)
    queue.enqueue("kb")
    assert waiting(queue.path) == ["kb"]


def test_a_worker_of_the_old_file_neither_takes_nor_ends_anything_in_the_new_one(
    queue: Queue,
) -> None:
    queue.enqueue("kb")
    with Lease.acquire(queue.path, WORKER) as lease:
        job = queue.take(lease)
        assert job is not None
        move_away(queue.path)
        queue.enqueue("kb")
        # Tokens begin anew: the same number means nothing.
        with Lease.acquire(queue.path, WORKER) as successor:
            assert successor.token == lease.token
            with pytest.raises(LeaseLost, match="moved or replaced"):
                queue.finish(job.id, "done")
            with pytest.raises(LeaseLost):
                queue.take(lease)
            assert lease.lost
            assert not lease.renew()
            assert queue.take(successor) is not None


def test_answers_that_were_paid_for_are_kept_in_the_file_that_is_there(tmp_path: Path) -> None:
    base = tmp_path / "base"
    with closing(EmbeddingStore(base)) as store:
        store.save_context("before", "context", "words")
        away = move_away(base / FILE)
        assert store.context("before") is None
        store.save_context("after", "context", "words")
        with closing(EmbeddingStore(base, read_only=True)) as reader:
            assert reader.context("after") == ("context", "words")
            move_away(base / FILE)
            assert reader.context("after") is None
    with closing(EmbeddingStore(away.parent, read_only=True)) as old:
        assert old.context("before") == ("context", "words")


def test_a_run_writes_nothing_more_into_an_index_that_was_replaced(tmp_path: Path) -> None:
    path = tmp_path / "kb" / "rag.db"
    with closing(open_writer(path)) as conn, Lease.acquire(path) as lease:
        move_away(path)
        with pytest.raises(LeaseLost), transaction(conn):
            lease.check(conn)
    # The renewal and the release of the lease make no empty file of its name.
    assert not path.exists()
    open_writer(path).close()
    with closing(connect(path)) as conn:
        assert conn.execute("SELECT count(*) FROM leases").fetchone()[0] == 0
