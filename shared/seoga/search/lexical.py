"""The keyword track: BM25 over the token index, as an absolute share of the query's ideal."""

from __future__ import annotations

import json
import math
import sqlite3
from collections.abc import Container, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import PurePosixPath
from typing import Final

from seoga.search.asked import AskedWords, Worth, idf_of
from seoga.search.filters import Scope
from seoga.search.inside import containing
from seoga.search.postings import K1, B, PostingLists, varints
from seoga.search.query import Query
from seoga.search.spelling import alike
from seoga.search.writings import OtherWritings, by_form, forms_in
from seoga.text.tokens import query_terms

# title, heading, body, context, keywords.
WEIGHTS: Final = (1.0, 2.0, 1.0, 0.5, 0.5)

# Of the idf of a term that is only grammar (`seoga.text.endings`).
GRAMMAR: Final = 0.3

# Of the idf of a term for which one spelt like it stands in.
GUESSED: Final = 0.8
# Of what a term counts for where it stands in another writing.
OTHERWISE: Final = 0.75
# Outside of these shares of what is asked for, it does not matter how near together it stands.
FEW: Final = 0.25
MANY: Final = 0.5

# So many letters that begin a word are it, in short.
_BEGINNING: Final = 4
# A word of one syllable is written with these behind it.
PARTICLES: Final = "은는이가을를의에와과도만로"

MAX_TERMS: Final = 96
# Up to so many postings (of one term: so many) FTS5 ranks them itself, at about a microsecond each.
# With 50,000 a search among 100,000 passages costs a third more, for one of a hundred best hits.
FULL_POSTINGS: Final = 20_000
FULL_OF_ONE: Final = 100_000
# Above, in two stages. Common terms say little and cost most: candidates are looked up by the
# rarest terms within this many postings, then all terms count in the score.
MAX_POSTINGS: Final = 50_000
# So many times as many are scored then: with 2, 3 and 4 of ten best hits 0.984, 0.991 and 0.992 are
# those that FTS5 finds.
_WIDER: Final = 3
# An identifier that begins the titles of more documents than this names a family.
MAX_NAMED: Final = 3
_MOST_TITLES: Final = 100
_NONE: Final[frozenset[str]] = frozenset()


@dataclass(frozen=True, slots=True)
class Term:
    """A query term. `forms` are the terms of the index that stand for it: itself, or those that
    contain it when the index does not know it; empty: not in this index at all. `others`: those
    that are another writing of it, `guessed`: they are only spelt like it."""

    text: str
    idf: float
    df: int
    forms: tuple[str, ...]
    guessed: bool = False
    others: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class KeywordScore:
    """`share` of the ideal BM25, `coverage` of the idf mass of what is asked for (grammar asks for
    nothing), both 0..1, and the terms it holds. `known`: as `coverage`, but what nobody wrote
    weighs as what stands in no passage; `together`: see `AskedWords`, 0 where `known` tells.
    `otherwise`: the terms that it holds in another writing only."""

    share: float
    coverage: float
    matched: frozenset[str]
    known: float = 0.0
    together: float = 0.0
    otherwise: frozenset[str] = frozenset()


class KeywordTrack:
    """One query against one KB, over a reading connection."""

    def __init__(self, conn: sqlite3.Connection, query: Query) -> None:
        self.conn, self.query = conn, query
        self.rows, self.mean_length = _averages(conn)

    @cached_property
    def terms(self) -> tuple[Term, ...]:
        """The query's terms, rarest first, at most MAX_TERMS."""
        terms = [self._looked_for[text] for text in self.query.terms]
        # A term that the index never saw is no rarer than the rarest it knows: Hangul bigrams
        # across a stem and its ending are often new to a small index, and would weigh most.
        rarest = max((term.idf for term in terms if term.forms), default=0.0)
        terms = [term if term.forms else replace(term, idf=rarest) for term in terms]
        soft = self.query.grammar
        terms = [replace(t, idf=GRAMMAR * t.idf) if t.text in soft else t for t in terms]
        terms.sort(key=lambda term: -term.idf)
        return tuple(terms[:MAX_TERMS])

    @cached_property
    def asked(self) -> frozenset[str]:
        """The terms that ask for something."""
        return frozenset(term.text for term in self.terms) - self.query.grammar

    @cached_property
    def _asked_mass(self) -> float:
        return sum(term.idf for term in self.terms if term.text in self.asked) or math.inf

    @cached_property
    def _words(self) -> AskedWords:
        """What it asks for, word by word."""
        soft = self.query.grammar | self._hints
        worth = {term.text: self._worth(term.text) for term in self.terms if term.text not in soft}
        return AskedWords(self.query.content, worth, self.rows)

    def _worth(self, text: str) -> Worth:
        term = self._looked_for[text]
        sure = bool(term.forms) and not term.guessed and text not in self._inside
        mass = term.idf if sure else idf_of(self.rows, 0)
        return Worth(mass, term.idf if term.forms else 0.0, sure)

    @cached_property
    def named(self) -> Mapping[str, frozenset[int]]:
        """The query's identifiers that are the name of at most MAX_NAMED documents, with the file
        ids of those: whoever types one asks for that document."""
        known = (name for name in self.query.identifiers if name in self._looked_for[name].forms)
        files = {name: self._files_named(name) for name in known}
        return {name: ids for name, ids in files.items() if 1 <= len(ids) <= MAX_NAMED}

    @cached_property
    def guessed(self) -> frozenset[str]:
        """The query's terms that nobody wrote, and for which words spelt like them stand in."""
        return frozenset(text for text in self.query.terms if self._looked_for[text].guessed)

    @cached_property
    def absent(self) -> frozenset[str]:
        """The query's identifiers that no document holds, nor (one of them at least) their parts:
        what is like them is something else. So it is with a key held down."""
        held = (term for term in self.query.held if not self._is_written(term))
        return frozenset((*filter(self._is_absent, self.query.identifiers), *held))

    def _is_written(self, text: str) -> bool:
        term = self._looked_for[text]
        if not term.forms or term.guessed:
            return False
        # Two syllables alike may be the end of a word and its particle; three are a key's.
        pair = len(text) == 2 and text[0] == text[1]
        return not pair or bool(self._best(_quoted(f"{text} {text}"), Scope(), 1))

    @cached_property
    def unwritten(self) -> bool:
        """True when nobody here wrote a word of what is asked for, nor one spelt like it."""
        asked = {token for word in self.query.content for token in word} & self._looked_for.keys()
        return bool(asked) and not any(self._looked_for[token].forms for token in asked)

    @cached_property
    def _hints(self) -> frozenset[str]:
        """Parts of what is absent: they help to rank, and are no evidence for anything."""
        return frozenset(part for name in self.absent for part in query_terms(name))

    @cached_property
    def _inside(self) -> frozenset[str]:
        """Latin words of a longer query that nobody wrote but as a part of other words (`sting` in
        `nesting`): they help to rank, and are no evidence."""
        if self.query.short:
            return frozenset()
        return frozenset(filter(self._is_inside, self.query.terms))

    def _is_inside(self, text: str) -> bool:
        term = self._looked_for[text]
        if not term.forms or term.guessed or not (text.isascii() and text.isalpha()):
            return False
        begins = len(text) >= _BEGINNING
        return not any(form == text or (begins and form.startswith(text)) for form in term.forms)

    def _is_absent(self, identifier: str) -> bool:
        parts = query_terms(identifier)
        missing = [part for part in parts if not self._looked_for[part].forms]
        return identifier in missing and len(missing) > 1

    @cached_property
    def _looked_for(self) -> dict[str, Term]:
        texts = {
            *self.query.terms,
            *(p for name in self.query.identifiers for p in query_terms(name)),
        }
        known = self._frequencies(tuple(texts))
        return {text: self._term(text, known.get(text, 0)) for text in texts}

    def rare(self, share: float) -> list[frozenset[str]]:
        """The query's words (the tokens of each) whose rarest token is in at most max(5, share of
        the chunks), and in at most half of them."""
        most = min(max(5.0, share * self.rows), self.rows / 2)
        known = {term.text: term.df for term in self.terms if term.forms}
        words = (word for word in self.query.content if word <= known.keys())
        return [word for word in words if min(known[token] for token in word) <= most]

    def candidates(self, scope: Scope, limit: int) -> list[int]:
        """Chunk ids of the `limit` best matches, as FTS5's BM25 sees it (three times as many from
        the rarest terms, where the query's terms are too common for that), and of the best of the
        documents that the query names."""
        if not self.rows:
            return []
        terms = list(self._looked_up())
        if not terms:
            return []
        asked = " OR ".join(_quoted(form) for term in terms for form in term.forms)
        if self._is_cheap(terms):
            found = self._best(asked, scope, limit)
        else:
            lists = PostingLists(self.conn, self.mean_length)
            found = lists.best([(term.idf, term.forms) for term in terms], scope, _WIDER * limit)
        for name in sorted(self.named):
            found += self._best(f"title : {_quoted(name)} AND ({asked})", scope, MAX_NAMED)
        return list(dict.fromkeys(found))

    def _is_cheap(self, looked_up: Sequence[Term]) -> bool:
        if sum(term.df for term in self.terms) <= FULL_POSTINGS:
            return True
        # Among the passages of one term only their length and how often they say it can order.
        return len(looked_up) == 1 and looked_up[0].df <= FULL_OF_ONE

    def _best(self, match: str, scope: Scope, limit: int) -> list[int]:
        where, values = scope.sql()
        weights = ", ".join(map(str, WEIGHTS))
        join = "JOIN chunks c ON c.id = chunks_fts.rowid JOIN files f ON f.id = c.file_id"
        found = self.conn.execute(
            f"SELECT chunks_fts.rowid FROM chunks_fts {join if where else ''}"
            f" WHERE chunks_fts MATCH ? {where} ORDER BY bm25(chunks_fts, {weights}) LIMIT ?",
            (match, *values, limit),
        ).fetchall()
        return [row[0] for row in found]

    def score(
        self, chunk_ids: Iterable[int], alone: Container[int] | None = None
    ) -> dict[int, KeywordScore]:
        """The exact score of these chunks, whichever track found them; unknown ids are left out.
        `alone`: those for which words alone speak (None: all); of the others nothing more is looked
        at than what they share with the query."""
        rows = self.conn.execute(
            "SELECT rowid, title, heading, body, context, keywords FROM chunks_fts"
            " WHERE rowid IN (SELECT value FROM json_each(?))",
            (json.dumps(list(chunk_ids)),),
        )
        wanted = by_form((term, set(term.forms) - term.others) for term in self.terms)
        mass = sum(term.idf for term in self.terms)
        return {
            row[0]: self._score(row[1:], wanted, mass, alone is None or row[0] in alone)
            for row in rows
        }

    def _score(
        self, fields: Sequence[str], wanted: Mapping[str, list[Term]], mass: float, alone: bool
    ) -> KeywordScore:
        length = 0
        counts: dict[str, float] = {}
        for weight, text in zip(WEIGHTS, fields, strict=True):
            tokens = text.split()
            length += len(tokens)
            for token in filter(wanted.__contains__, tokens):
                for term in wanted[token]:
                    counts[term.text] = counts.get(term.text, 0.0) + weight
        otherwise = self._otherwise(fields, counts) if self._rewritten else _NONE
        if not counts or mass <= 0:
            return KeywordScore(0.0, 0.0, frozenset())
        norm = K1 * (1 - B + B * length / max(self.mean_length, 1.0))
        idf = self._idf
        held = frozenset(counts) & self.asked - self._hints - self._inside
        if self.query.idle and len(held) < len(idf):
            # Of a query that asks for nothing, parts are in every document.
            held = frozenset()
        covered = sum(idf[text] for text in held) / self._asked_mass
        gained = sum(idf[text] * count / (count + norm) for text, count in counts.items())
        matched = frozenset(counts)
        if not alone:
            return KeywordScore(gained / mass, covered, matched, covered, 0.0, otherwise)
        plain = self.query.idle or self._words.single
        known = covered if plain else self._words.share(held)
        together = self._together(fields, wanted) if FEW <= known < MANY else 0.0
        return KeywordScore(gained / mass, covered, matched, known, together, otherwise)

    def _otherwise(self, fields: Sequence[str], counts: dict[str, float]) -> frozenset[str]:
        """Adds to the counts what stands in these fields in another writing only; which terms."""
        out: dict[str, float] = {}
        for weight, form in forms_in(zip(WEIGHTS, fields, strict=True), self._rewritten):
            for term in self._rewritten[form]:
                if term.text not in counts:
                    out[term.text] = out.get(term.text, 0.0) + weight * OTHERWISE
        counts |= out
        return frozenset(out)

    @cached_property
    def _writings(self) -> OtherWritings:
        return OtherWritings(self.conn, self.query)

    @cached_property
    def _rewritten(self) -> dict[str, list[Term]]:
        return by_form((term, term.others) for term in self.terms)

    def _together(self, fields: Sequence[str], wanted: Mapping[str, list[Term]]) -> float:
        title, heading, *text = fields
        named = (token for token in f"{title} {heading}".split() if token in wanted)
        places = enumerate(" ".join(text).split())
        return self._words.together(
            (term.text for token in named for term in wanted[token]),
            [(at, term.text) for at, token in places for term in wanted.get(token, ())],
        )

    @cached_property
    def _idf(self) -> dict[str, float]:
        return {term.text: term.idf for term in self.terms}

    def _files_named(self, identifier: str) -> frozenset[int]:
        """Files whose title begins with it, or whose name holds it."""
        rows = self.conn.execute(
            "SELECT DISTINCT f.id, f.title, f.path FROM chunks_fts"
            " JOIN chunks c ON c.id = chunks_fts.rowid JOIN files f ON f.id = c.file_id"
            " WHERE chunks_fts MATCH ? LIMIT ?",
            (f"title : {_quoted(identifier)}", _MOST_TITLES),
        )
        return frozenset(
            file
            for file, title, path in rows
            if identifier in (*query_terms(title)[:1], *query_terms(PurePosixPath(path).stem))
        )

    def _looked_up(self) -> Iterable[Term]:
        budget = MAX_POSTINGS
        seen = False
        for term in self.terms:
            if not term.forms or (seen and term.df > budget):
                continue
            seen = True
            budget -= term.df
            yield term

    def _term(self, text: str, df: int) -> Term:
        forms = {text: df} if df else {}
        if self.query.short and len(text) == 1 and "가" <= text <= "힣":
            forms |= self._frequencies([text + particle for particle in PARTICLES])
        others = self._writings.of(text)
        forms = (
            others | forms
            if others
            else forms or containing(self.conn, text, named=text in self.query.identifiers)
        )
        guessed = {} if forms else alike(self.conn, text, self.query.as_typed(text))
        forms = forms or guessed
        total = min(self.rows, sum(forms.values()))
        idf = idf_of(self.rows, total) * (GUESSED if guessed else 1)
        return Term(text, idf, total, tuple(forms), bool(guessed), frozenset(others))

    def _frequencies(self, terms: Sequence[str]) -> dict[str, int]:
        rows = self.conn.execute(
            "SELECT term, df FROM terms WHERE term IN (SELECT value FROM json_each(?))",
            (json.dumps(list(terms)),),
        )
        return {term: df for term, df in rows if df > 0}


def _quoted(term: str) -> str:
    """A term as an FTS5 string: nothing in it is an operator."""
    return '"' + term.replace('"', '""') + '"'


def _averages(conn: sqlite3.Connection) -> tuple[int, float]:
    """Number of chunks and mean tokens a chunk, as FTS5 keeps them: record 1 of its data table is
    the number of rows, then the tokens of each column (sqlite.org/fts5.html, "Data Format")."""
    row = conn.execute("SELECT block FROM chunks_fts_data WHERE id = 1").fetchone()
    numbers = varints(row[0]) if row else []
    if not numbers or numbers[0] == 0:
        return 0, 0.0
    return numbers[0], sum(numbers[1:]) / numbers[0]
