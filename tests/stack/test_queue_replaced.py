"""The indexer service notices that its queue was moved away or replaced while it runs."""

from __future__ import annotations

import json
from contextlib import closing
from pathlib import Path

import httpx
import pytest

from seoga.storage.jobs import Queue

from ..waiting import when

ENDINGS = ("", "-wal", "-shm")


@pytest.fixture
def base(tmp_path: Path) -> Path:
    documents, base = tmp_path / "documents", tmp_path / "base"
    documents.mkdir()
    (documents / "note.md").write_text("# Leave\n\nFifteen days.\n", encoding="utf-8")
    for kb_id in ("one", "two", "three"):
        (base / kb_id).mkdir(parents=True)
        keys = {"id": kb_id, "sourcePaths": [str(documents)], "embedding": {"provider": ""}}
        (base / kb_id / "config.json").write_text(json.dumps(keys), encoding="utf-8")
    return base


def enqueue(url: str, kb_id: str) -> str:
    answer = httpx.post(f"{url}/v1/jobs", json={"kb_id": kb_id}, timeout=30)
    assert answer.is_success, answer.text
    return str(answer.json()["status"])


def done(base: Path, kb_id: str) -> bool:
    with closing(Queue(base / "queue.db")) as queue:
        last = queue.state(kb_id).last
    return last is not None and last.status == "done"


def away(base: Path, name: str) -> None:
    folder = base.with_name(name)
    folder.mkdir()
    for ending in ENDINGS:
        file = base / f"queue.db{ending}"
        if file.exists():
            file.rename(folder / file.name)


def test_what_is_asked_for_after_the_queue_was_moved_is_kept_and_done(
    base: Path, start_service
) -> None:
    url = start_service("indexer", SEOGA_BASE_PATH=str(base), SEOGA_LEASE_SECONDS="3")
    assert enqueue(url, "one") == "queued"
    when(base, lambda: done(base, "one"))
    away(base, "moved")
    # Nothing but the service knows of this one: it must be in a file that somebody can read.
    assert enqueue(url, "two") == "queued"
    when(base, lambda: done(base, "two"))
    assert (base / "two" / "rag.db").exists()
    # A backup is put back: of the time before, with an entry that waited then.
    with closing(Queue(base.with_name("backup") / "queue.db")) as queue:
        queue.enqueue("three")
    away(base, "moved again")
    base.with_name("backup").joinpath("queue.db").rename(base / "queue.db")
    when(base, lambda: done(base, "three"))
    assert httpx.get(f"{url}/ready", timeout=30).is_success
