"""`doctor --deep` compares everything that an index holds, and mends what follows from the rest."""

from __future__ import annotations

import json
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from seoga.kb import create_kb
from seoga.storage.leases import Lease


@pytest.fixture
def kb(seoga: Any, base_path: Path, tmp_path: Path) -> Path:
    """The folder of an indexed KB of two files, with vectors."""
    docs = tmp_path / "docs"
    docs.mkdir()
    (docs / "a.md").write_text("# 휴가\n\n연차 휴가는 규정에 따라 부여한다.\n", "utf-8")
    (docs / "b.md").write_text("# Errors\n\nERR_TOKEN_EXPIRED is returned.\n", "utf-8")
    folder = create_kb(base_path, docs).folder
    config = json.loads((folder / "config.json").read_text("utf-8"))
    config["embedding"] = {"provider": "hashing"}
    (folder / "config.json").write_text(json.dumps(config), "utf-8")
    assert seoga("exec", "--path", folder).code == 0
    return folder


def provider(folder: Path, embedding: dict[str, str]) -> None:
    config = json.loads((folder / "config.json").read_text("utf-8"))
    config["embedding"] = embedding
    (folder / "config.json").write_text(json.dumps(config), "utf-8")


def damage(folder: Path, statement: str) -> None:
    with closing(sqlite3.connect(folder / "rag.db", isolation_level=None)) as conn:
        conn.execute(statement)


def failed(outcome: Any) -> dict[str, str]:
    checks = outcome.json["checks"]
    return {c["name"].partition(": ")[2]: c["detail"] for c in checks if c["status"] == "fail"}


def test_a_whole_index_passes_and_every_check_is_named(seoga: Any, kb: Path) -> None:
    done = seoga("doctor", "--deep", "--json")
    assert (done.code, done.json["ok"]) == (0, True)
    names = [check["name"] for check in done.json["checks"]]
    assert names[:2] == ["queue", "embedding cache"]
    assert [name.partition(": ")[2] for name in names[2:]] == [
        *(
            "database",
            "values",
            "files",
            "folders",
            "keyword index",
            "terms",
            "vectors",
            "vector file",
        ),
        *("kept extractions", "log", "folder", "sources"),
    ]
    assert "up to date: 2 unchanged" in done.json["checks"][-1]["detail"]
    assert seoga("doctor", "--deep", "--path", kb).out.count("whole") == 9


def test_damage_is_named_mended_and_made_again(seoga: Any, kb: Path) -> None:
    damage(kb, "DELETE FROM chunks_fts WHERE rowid = 1")
    damage(kb, "UPDATE vectors SET data = zeroblob(1024) WHERE chunk_id = 2")
    (kb / ".config.json.1.tmp").write_text("half")
    found = seoga("doctor", "--deep", "--path", kb, "--json")
    assert found.code == 1
    assert set(failed(found)) == {"keyword index", "terms", "vectors", "vector file", "folder"}
    mended = seoga("doctor", "--deep", "--repair", "--path", kb, "--json")
    assert (mended.code, failed(mended)) == (0, {})
    said = mended.json["checks"][0]["detail"]
    assert "1 files are not found and 1 passages are found by their words only" in said
    assert f"until `seoga exec --path {kb}` has made them again" in said
    assert seoga("exec", "--path", kb, "--json").json["indexed"] == 1
    assert seoga("doctor", "--deep").code == 0
    assert "부여한다" in seoga("search", "휴가").out


def test_a_damaged_keyword_index_is_made_again_without_reading_a_file(seoga: Any, kb: Path) -> None:
    damage(kb, "DELETE FROM chunks_fts_data WHERE id > 10")
    found = seoga("doctor", "--deep", "--path", kb, "--json")
    assert found.code == 1
    assert set(failed(found)) <= {"keyword index", "terms", "database"}
    mended = seoga("doctor", "--deep", "--repair", "--path", kb, "--json")
    assert (mended.code, failed(mended)) == (0, {})
    assert "부여한다" in seoga("search", "휴가").out
    assert seoga("exec", "--path", kb, "--json").json["indexed"] == 0


def test_words_that_were_damaged_are_made_again_from_their_text(seoga: Any, kb: Path) -> None:
    damage(kb, "UPDATE chunks_fts_content SET c2 = replace(c2, 'err_token_expired', 'erq')")
    assert "ERR_TOKEN" in seoga("search", "returned", "--path", kb).out
    found = seoga("doctor", "--deep", "--path", kb, "--json")
    assert "passages whose words are not those of their text: 1" in failed(found)["keyword index"]
    assert "/b.md" in failed(found)["keyword index"]
    mended = seoga("doctor", "--deep", "--repair", "--path", kb, "--json")
    assert (mended.code, failed(mended)) == (0, {})
    assert "ERR_TOKEN" in seoga("search", "ERR_TOKEN_EXPIRED", "--path", kb).out
    assert seoga("exec", "--path", kb, "--json").json["indexed"] == 0


def test_a_damaged_file_is_said_and_not_touched(seoga: Any, kb: Path) -> None:
    data = bytearray((kb / "rag.db").read_bytes())
    data[4096 * 3 : 4096 * 5] = b"\xff" * 8192
    (kb / "rag.db").write_bytes(data)
    done = seoga("doctor", "--deep", "--repair", "--path", kb, "--json")
    assert done.code == 1
    assert "Restore a backup" in done.out
    assert "--repair" not in done.out
    assert (kb / "rag.db").read_bytes() == bytes(data)


def test_a_database_that_was_cut_off_has_one_way_out_and_it_works(seoga: Any, kb: Path) -> None:
    with closing(sqlite3.connect(kb / "rag.db")) as conn:
        conn.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    data = (kb / "rag.db").read_bytes()
    (kb / "rag.db").write_bytes(data[: len(data) // 2])
    ways = set()
    for options in ([], ["--repair"]):
        done = seoga("doctor", "--deep", *options, "--path", kb, "--json")
        assert done.code == 1
        ways |= {c["hint"] for c in done.json["checks"] if c["status"] == "fail"}
    assert len(ways) == 1
    assert f"move {kb / 'rag.db'}* away: `seoga exec --path {kb}`" in ways.pop()
    said = seoga("search", "휴가", "--path", kb)
    assert (said.code, "--repair" in said.err, "doctor --deep" in said.err) == (1, False, True)
    for part in kb.glob("rag.db*"):
        part.rename(kb.parent / part.name)
    assert seoga("exec", "--path", kb, "--json").json["indexed"] == 2
    assert seoga("doctor", "--deep", "--path", kb).code == 0


def test_nothing_is_mended_while_a_run_has_the_kb(seoga: Any, kb: Path) -> None:
    damage(kb, "UPDATE files SET chunk_count = 9")
    with Lease.acquire(kb / "rag.db"):
        done = seoga("doctor", "--deep", "--repair", "--path", kb)
    assert done.code == 1
    assert "in use by" in done.out


def test_an_index_that_was_emptied_is_no_kb_that_was_never_indexed(seoga: Any, kb: Path) -> None:
    for part in ("-wal", "-shm"):
        (kb / f"rag.db{part}").unlink(missing_ok=True)
    (kb / "rag.db").write_bytes(b"")
    done = seoga("doctor", "--deep", "--path", kb)
    assert (done.code, "is empty, though the knowledge base was indexed" in done.out) == (1, True)


def test_a_damaged_queue_is_named_with_the_way_out(seoga: Any, kb: Path, base_path: Path) -> None:
    (base_path / "queue.db").write_bytes(b"no database" * 900)
    done = seoga("doctor", "--deep")
    assert done.code == 1
    assert "queue.db: the file is no database" in done.out
    assert "move it away" in done.out


def test_vectors_of_a_provider_that_does_not_answer_are_waited_for(seoga: Any, kb: Path) -> None:
    provider(kb, {"provider": ""})
    assert seoga("exec", "--path", kb).code == 0
    assert "makes no vectors" in seoga("status", "--path", kb).out
    provider(kb, {"provider": "ollama", "model": "m", "baseUrl": "http://127.0.0.1:9"})
    assert seoga("exec", "--path", kb, "--json").json["deferred"] == 2
    status = seoga("status", "--path", kb).out
    assert "makes no vectors" not in status
    assert "makes them" in status


def test_a_kb_without_an_index_is_no_fault_and_gets_none(
    seoga: Any, base_path: Path, tmp_path: Path
) -> None:
    (tmp_path / "new").mkdir()
    folder = create_kb(base_path, tmp_path / "new").folder
    done = seoga("doctor", "--deep", "--repair")
    assert (done.code, "not indexed yet" in done.out) == (0, True)
    assert not (folder / "rag.db").exists()


def test_repair_without_deep_is_a_wrong_use(seoga: Any) -> None:
    assert seoga("doctor", "--repair").code == 64
