"""Chunks, keyword index and term counts of a file: written, replaced and erased together.

All functions run inside the caller's write transaction. Full-text rows are only ever reached by
rowid (= chunk id): a search by another column would scan the whole index.
"""

from __future__ import annotations

import sqlite3
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from itertools import chain
from typing import Any

from seoga.models import ChunkState
from seoga.storage.bulk import put
from seoga.storage.packing import Key, PackedChunk
from seoga.storage.records import Tokens

_INSERT_CHUNK = (
    'INSERT INTO chunks (id, file_id, ordinal, text, start, "end", heading_path, header_row,'
    " place, kind, lang, meta,"
    " context, keywords, state, words) VALUES {row}"
)
_INSERT_FTS = (
    "INSERT INTO chunks_fts (rowid, title, heading, body, context, keywords)"
    " VALUES (?, ?, ?, ?, ?, ?)"
)
_COUNT_TERM = (
    "INSERT INTO terms (term, df) VALUES {row} ON CONFLICT (term) DO UPDATE SET df = df +"
    " excluded.df"
)
_MOVE_CHUNK = (
    'UPDATE chunks SET ordinal = ?, start = ?, "end" = ?, place = ?, kind = ?, lang = ?, meta = ?'
    " WHERE id = ?"
)
_OLD = (
    "SELECT c.id, c.text, c.heading_path, c.header_row, c.context, c.keywords, c.state,"
    " f.title, f.heading, f.body, f.context, f.keywords"
    " FROM chunks c JOIN chunks_fts f ON f.rowid = c.id WHERE c.file_id = ? ORDER BY c.ordinal"
)

# Chunks whose terms are counted at once; each term of each is a word in memory.
_TOGETHER = 128

# id, the five parts of the key, state, the five fields of the keyword index.
Stored = tuple[Any, ...]


@dataclass(slots=True)
class Changes:
    """What one transaction does to chunks, gathered over its files and applied in few
    statements."""

    state: ChunkState
    next_id: int
    inserted: list[tuple[object, ...]] = field(default_factory=list)
    indexed: list[tuple[int, Tokens]] = field(default_factory=list)
    counted: list[str] = field(default_factory=list)
    moved: list[tuple[object, ...]] = field(default_factory=list)
    again: list[tuple[int]] = field(default_factory=list)
    dropped: list[tuple[int]] = field(default_factory=list)
    unindexed: list[tuple[int]] = field(default_factory=list)
    terms: Counter[str] = field(default_factory=Counter)

    def replace(
        self, old: Sequence[Stored], file_id: int, chunks: Sequence[PackedChunk], reuse: bool
    ) -> list[str]:
        """Plans the new chunks of a file in the place of its `stored` ones. A chunk of the same
        words keeps its id and vectors; without `reuse` it waits for new ones, the old serve until
        those come.

        Returns the states that the chunks will have.
        """
        kept: dict[Key, list[tuple[int, str, Tokens]]] = {}
        for row in old:
            tokens = Tokens(*row[7:12])
            kept.setdefault(row[1:6], []).append((row[0], row[6], tokens))
        states = []
        for packed in chunks:
            if found := kept.get(packed.key):
                states.append(self._keep(found.pop(0), packed, reuse))
            else:
                states.append(self._add(file_id, packed))
        for chunk_id, _, tokens in chain.from_iterable(kept.values()):
            self._drop(chunk_id, tokens)
        return states

    def erase(self, conn: sqlite3.Connection, file_id: int) -> None:
        """Plans the removal of all chunks of a file."""
        self.replace(stored(conn, file_id), file_id, (), reuse=False)

    def retitle(self, conn: sqlite3.Connection, file_id: int, title: str) -> None:
        """Plans a new title field for all chunks of a file."""
        for row in stored(conn, file_id):
            old, new = Tokens(*row[7:12]), Tokens(title, *row[8:12])
            if old != new:
                self._reindex(row[0], old, new, new.terms())

    def apply(self, conn: sqlite3.Connection) -> None:
        """Writes what was planned. Vectors of dropped chunks go by cascade."""
        conn.executemany("DELETE FROM chunks_fts WHERE rowid = ?", self.unindexed)
        conn.executemany("DELETE FROM chunks WHERE id = ?", self.dropped)
        # (file, ordinal) is unique at every moment: moved chunks first step aside to negative
        # numbers.
        conn.executemany(
            "UPDATE chunks SET ordinal = -1 - ordinal WHERE id = ?",
            [(row[-1],) for row in self.moved],
        )
        conn.executemany(_MOVE_CHUNK, self.moved)
        conn.executemany(
            f"UPDATE chunks SET state = '{self.state}', attempts = 0, last_error = '' WHERE id = ?",
            self.again,
        )
        put(conn, _INSERT_CHUNK, self.inserted)
        conn.executemany(_INSERT_FTS, [(chunk_id, *tokens) for chunk_id, tokens in self.indexed])
        # Many at once: a loop in C, where one for each chunk costs three times as much.
        for at in range(0, len(self.counted), _TOGETHER):
            self.terms.update(" ".join(self.counted[at : at + _TOGETHER]).split())
        _count_terms(conn, self.terms)

    def _add(self, file_id: int, packed: PackedChunk) -> str:
        chunk_id = self.next_id
        self.next_id += 1
        text, *words = packed.key
        self.inserted.append(
            (
                *(chunk_id, file_id, packed.ordinal, text, packed.start, packed.end),
                *(words[0], words[1], *packed.where, words[2], words[3], self.state.value),
                packed.words,
            )
        )
        self._index(chunk_id, packed.tokens, packed.terms)
        return self.state.value

    def _keep(self, old: tuple[int, str, Tokens], packed: PackedChunk, reuse: bool) -> str:
        chunk_id, state, tokens = old
        self.moved.append((packed.ordinal, packed.start, packed.end, *packed.where, chunk_id))
        if not reuse or tokens != packed.tokens:
            self._reindex(chunk_id, tokens, packed.tokens, packed.terms)
        if reuse:
            return state
        self.again.append((chunk_id,))
        return self.state.value

    def _reindex(self, chunk_id: int, old: Tokens, new: Tokens, terms: str) -> None:
        self.unindexed.append((chunk_id,))
        self.terms.subtract(old.terms().split())
        self._index(chunk_id, new, terms)

    def _index(self, chunk_id: int, tokens: Tokens, terms: str) -> None:
        self.indexed.append((chunk_id, tokens))
        self.counted.append(terms)

    def _drop(self, chunk_id: int, tokens: Tokens) -> None:
        self.dropped.append((chunk_id,))
        self.unindexed.append((chunk_id,))
        self.terms.subtract(tokens.terms().split())


def begin(conn: sqlite3.Connection, state: ChunkState) -> Changes:
    """An empty plan; new chunks will get `state`. Ids go on above every id ever given."""
    row = conn.execute("SELECT seq FROM sqlite_sequence WHERE name = 'chunks'").fetchone()
    return Changes(state, (row[0] if row else 0) + 1)


def stored(conn: sqlite3.Connection, file_id: int) -> list[Stored]:
    """The chunks of a file as `replace` compares them, in order."""
    return conn.execute(_OLD, (file_id,)).fetchall()


def _count_terms(conn: sqlite3.Connection, delta: Counter[str]) -> None:
    # In the order of the index: bytes compare several times faster than texts of mixed alphabets.
    more = [(term, n) for term in sorted(delta, key=str.encode) if (n := delta[term]) > 0]
    less = [(-n, term) for term, n in delta.items() if n < 0]
    newest = conn.execute("SELECT coalesce(max(id), 0) FROM terms").fetchone()[0]
    put(conn, _COUNT_TERM, more)
    # Terms under three characters give no trigram, but the two tables are only sound row for row.
    conn.execute(
        "INSERT INTO terms_trigram (rowid, term) SELECT id, term FROM terms WHERE id > ?", (newest,)
    )
    conn.executemany("UPDATE terms SET df = df - ? WHERE term = ?", less)
    _forget_terms(conn, (term for _, term in less))


def _forget_terms(conn: sqlite3.Connection, terms: Iterable[str]) -> None:
    gone = [
        row
        for term in terms
        for row in conn.execute("SELECT id, term FROM terms WHERE term = ? AND df <= 0", (term,))
    ]
    # The index keeps no text of its own: it must be told the term that a row had.
    conn.executemany(
        "INSERT INTO terms_trigram (terms_trigram, rowid, term) VALUES ('delete', ?, ?)",
        gone,
    )
    conn.executemany("DELETE FROM terms WHERE id = ?", [(row[0],) for row in gone])
