"""The keyword index says of each passage what its document says, field by field, and runs leave it
so; where a field is damaged that is seen and made right."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from typing import Any

import pytest

from seoga.storage.database import open_writer, transaction
from seoga.storage.repair import repair
from seoga.text.tokens import index_text

FIELDS = ("title", "heading", "body", "context", "keywords")


@pytest.fixture
def spoken(place: Any) -> Any:
    """A KB of one document with a title, authors, headings and contexts of an LLM."""
    place.configure("hashing", contextualizer={"provider": "openai", "model": "m1"})
    place.extraction.title = "출장 규정"
    place.extraction.meta = {"author": "김민지", "tags": ["여비", "travel"], "pages": 3}
    parts = [f"| name | amount |\n| --- | --- |\n| part {n} | {n} |" for n in range(3)]
    place.write("trip.md", "\n\n".join(f"{part}\n\n{'words ' * 200}" for part in parts))
    place.run()
    return place


def words_of(place: Any) -> list[tuple[Any, ...]]:
    rows: list[tuple[Any, ...]] = place.query("SELECT c0, c1, c2, c3, c4 FROM chunks_fts_content")
    return rows


@pytest.mark.parametrize("field", FIELDS)
def test_a_damaged_field_is_seen_and_made_again(spoken: Any, field: str) -> None:
    before = words_of(spoken)
    assert len(before) > 1
    assert index_text("김민지 여비 travel") in before[0][4]
    assert spoken.faults() == {}
    column = f"c{FIELDS.index(field)}"
    # As many words as before, and as many in all: only their letters tell.
    with closing(sqlite3.connect(spoken.kb.db_path)) as conn, conn:
        conn.execute(f"UPDATE chunks_fts_content SET {column} = 'x' || {column} WHERE id = 2")
        conn.execute("INSERT INTO chunks_fts (chunks_fts) VALUES ('rebuild')")
    assert spoken.faults()["keyword index"] == [
        "passages whose words are not those of their text: 1 (2)"
    ]
    with closing(open_writer(spoken.kb.db_path)) as conn, transaction(conn):
        assert repair(conn, spoken.found_by_audit(), index_text) == 0
    assert words_of(spoken) == before
    assert spoken.faults() == {}


def test_a_document_that_moved_or_changed_is_spoken_of_as_it_is(spoken: Any) -> None:
    (spoken.docs / "trip.md").rename(spoken.docs / "journeys.md")
    spoken.run()
    assert index_text("journeys") in words_of(spoken)[0][0]
    spoken.check_whole()
    spoken.extraction.meta = {"author": "someone else"}
    spoken.write("journeys.md", "all new words\n\n" + "words " * 400)
    spoken.write("twin.md", "all new words\n\n" + "words " * 400)
    spoken.run()
    spoken.check_whole()
