"""Every contradiction between the tables of an index is found and named, and mended."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from seoga.storage.audit import Fault, audit
from seoga.storage.database import open_reader, open_writer, transaction
from seoga.storage.documents import DocumentStore
from seoga.storage.records import Kept
from seoga.storage.repair import repair

from .stored import card, database, embed_all, prepared, row, vectors


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """An index with vectors, failing files and kept extractions, all well."""
    path = database(tmp_path)
    with closing(DocumentStore(open_writer(path))) as store:
        store.ensure_generation(card())
        store.commit_text(
            [
                prepared("a.md", "alpha beta", "gamma alpha", hash="h1"),
                prepared("b.md", "gamma delta", hash="h2"),
                prepared("c.md", "waits", hash="h3"),
            ]
        )
        store.set_state(
            [row("bad.pdf", hash="h4")], [Kept("h4", ".pdf", "1", b"x\x9c\x03\x00\x00\x00\x00\x01")]
        )
        generation = store.ensure_generation(card())
        first = store.pending(10)[:-1]
        store.commit_vectors(generation, [vectors(chunk.id) for chunk in first])
    return path


def faults(path: Path) -> dict[str, list[Fault]]:
    with closing(open_reader(path)) as conn:
        return {name: found for name, found in audit(conn).items() if found}


def damage(path: Path, *statements: str) -> None:
    with closing(sqlite3.connect(path, isolation_level=None)) as conn:
        for statement in statements:
            conn.execute(statement)


def mend(path: Path) -> int:
    with closing(open_writer(path)) as conn, transaction(conn):
        return repair(conn, faults(path))


def test_a_sound_index_has_no_fault_and_mending_it_changes_nothing(path: Path) -> None:
    assert faults(path) == {}
    with closing(open_reader(path)) as conn:
        before = list(conn.iterdump())
    assert mend(path) == 0
    with closing(open_reader(path)) as conn:
        assert list(conn.iterdump()) == before


DAMAGES = {
    "a count": ("files", "UPDATE files SET chunk_count = 9 WHERE path = 'a.md'"),
    "a state": ("files", "UPDATE files SET state = 'Ready' WHERE path = 'c.md'"),
    "a lost text": ("files", "DELETE FROM texts WHERE file_id = 1"),
    "a damaged text": ("files", "UPDATE texts SET text = x'0102' WHERE file_id = 1"),
    "another passage": ("files", "UPDATE chunks SET text = 'other' WHERE id = 1"),
    "a context said otherwise": ("files", "UPDATE chunks SET context = 'other' WHERE id = 1"),
    "another heading": ("files", "UPDATE chunks SET heading_path = '[\"No\"]' WHERE id = 1"),
    "a gap": ("files", "UPDATE chunks SET ordinal = 7 WHERE id = 2"),
    "a lost chunk": ("keyword index", "DELETE FROM chunks WHERE id = 1"),
    "a lost row of words": ("keyword index", "DELETE FROM chunks_fts WHERE rowid = 1"),
    "words said otherwise": (
        "keyword index",
        "UPDATE chunks_fts_content SET c2 = 'alpha beta gamma' WHERE id = 1",
    ),
    "a wrong count of a term": ("terms", "UPDATE terms SET df = 7 WHERE term = 'alpha'"),
    "a lost term": ("terms", "DELETE FROM terms WHERE term = 'alpha'"),
    "a term of nobody": ("terms", "INSERT INTO terms (term, df) VALUES ('zzz', 1)"),
    "a lost vector": ("vectors", "DELETE FROM vectors WHERE chunk_id = 1"),
    "half a vector": ("vectors", "UPDATE vectors SET data = x'0000803f' WHERE chunk_id = 1"),
    "a zero vector": ("vectors", "UPDATE vectors SET data = zeroblob(16) WHERE chunk_id = 1"),
    "not a number": (
        "vectors",
        "UPDATE vectors SET data = x'0000c07f000000000000000000000000' WHERE chunk_id = 1",
    ),
    "a lost model": ("vectors", "UPDATE meta SET value = '99' WHERE key = 'generation'"),
    "two models": (
        "vectors",
        "INSERT INTO generations (key, card, status, created_at)"
        " SELECT 'other', card, 'live', '' FROM generations",
    ),
    "a vector of nobody": (
        "database",
        "INSERT INTO vectors SELECT 999, generation, count, data, penalties, seal FROM vectors"
        " LIMIT 1",
    ),
    "an extraction of nothing": (
        "kept extractions",
        "INSERT INTO extractions (hash, hint, made, data) VALUES ('h9', '.pdf', '1', x'00')",
    ),
    "a damaged extraction": ("kept extractions", "UPDATE extractions SET data = x'00'"),
}


@pytest.mark.parametrize("name", DAMAGES)
def test_damage_is_found_and_mended(path: Path, name: str) -> None:
    check, statement = DAMAGES[name]
    damage(path, statement)
    found = faults(path)
    assert check in found, found
    assert all(fault.count and str(fault) and fault.to_json() for fault in found[check])
    mend(path)
    # Two models with one target: what waits is decided by the next run.
    left = faults(path)
    assert left == {}, left


def test_what_was_dropped_is_made_again_by_the_next_commit(path: Path) -> None:
    damage(path, "DELETE FROM chunks_fts WHERE rowid = 1")
    assert mend(path) == 1
    with closing(DocumentStore(open_writer(path))) as store:
        known = store.get("docs", "a.md")
        assert known is not None
        assert (known.made, known.chunk_count, known.hash) == ("", 0, "h1")
        store.commit_text([prepared("a.md", "alpha beta", "gamma alpha", hash="h1")])
        embed_all(store)
    assert faults(path) == {}


def test_an_audit_can_write_nothing(path: Path) -> Iterator[None] | None:
    with closing(open_reader(path)) as conn:
        audit(conn)
        with pytest.raises(sqlite3.OperationalError, match="readonly"):
            conn.execute("DELETE FROM files")
