"""What a query consists of: terms, identifiers, language. Any text is a query; none is an error."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final
from urllib.parse import urlsplit

from seoga.text.endings import content_words, grammar_terms
from seoga.text.language import Language, language_of
from seoga.text.normal import compatible
from seoga.text.tokens import query_terms

MAX_CHARS: Final = 10_000

# A particle of one syllable glued to a Latin word or a number is grammar, not a word to look for.
_PARTICLE = re.compile(r"(?<=[A-Za-z0-9_)\]\"'`])[은는이가을를의에로와과도만](?![가-힣])")
_CODE = re.compile(r"(?=.*[a-z])[a-z_][a-z_]*[-./]?\d|.*[_.:@#+]|.*\d.*[-/]|.*[-/].*\d", re.S)
# A key held down: no word of any language, so only its own letters answer it.
_HELD = re.compile(r"([^\W\d_])\1{4,}")
_DECIMAL = re.compile(r"\d+\.\d+|.*://.*|.*\.", re.S)


@dataclass(frozen=True, slots=True)
class Query:
    """`text` is bounded and clean (what is embedded); `terms` are distinct tokens of the keyword
    index; `identifiers` those terms that name one thing (ADR-0005, v2.3.1, err_token_expired);
    `grammar` those that ask for nothing: particles, endings, function words. Not all are.
    `content`: the tokens of each word that asks for something; `held`: terms that stand for a key
    held down; `idle`: nothing but grammar, so that all of it has to be there."""

    text: str
    terms: tuple[str, ...]
    identifiers: frozenset[str]
    words: int
    language: Language
    grammar: frozenset[str] = frozenset()
    content: tuple[frozenset[str], ...] = ()
    held: frozenset[str] = frozenset()
    idle: bool = False

    @property
    def short(self) -> bool:
        """At most two words: whoever types that wants the documents that say it."""
        return self.words <= 2

    @property
    def parts(self) -> dict[str, frozenset[str]]:
        """The terms that each identifier is made of, itself left out."""
        return {name: frozenset(query_terms(name)) - {name} for name in self.identifiers}

    def only_names(self, identifiers: frozenset[str]) -> bool:
        """True when the query is nothing but these identifiers."""
        parts = {part for name in identifiers for part in query_terms(name)}
        return bool(identifiers) and parts.issuperset(self.terms)

    def as_typed(self, term: str) -> str:
        """An identifier, or the word of a stem, in the letters of the query."""
        found = re.search(re.escape(term) + r"[A-Za-z]*", self.text, re.IGNORECASE)
        return found.group() if found else term


def analyse(text: str) -> Query:
    """The query of a text; `terms` is empty when there is no letter or digit to look for."""
    clean = compatible(text[:MAX_CHARS]).strip()
    terms = query_terms(_PARTICLE.sub(" ", clean)) or query_terms(clean)
    grammar = grammar_terms(clean).intersection(terms)
    runs = filter(_HELD.fullmatch, clean.split())
    held = frozenset(term for word in runs for term in query_terms(word))
    return Query(
        text=" ".join(clean.split()),
        terms=tuple(terms),
        identifiers=_whole(terms),
        words=sum(1 for word in clean.split() if query_terms(word)),
        language=language_of(clean),
        grammar=grammar if len(grammar) < len(terms) else frozenset(),
        content=tuple(content_words(_PARTICLE.sub(" ", clean))),
        held=held.intersection(terms),
        idle=bool(terms) and len(grammar) == len(terms),
    )


def _whole(terms: Sequence[str]) -> frozenset[str]:
    """The terms that name one thing, without those that are only a part of another one: 3.4.1 is
    what v3.4.1 is and a file what its path is, v3 is not, nor is the host of an address any page
    of it."""
    parts: set[str] = set()
    for term in terms:
        if "://" in term:
            parts.update(query_terms(urlsplit(term).netloc))
        elif is_identifier(term):
            same = {term, term.removeprefix("v"), term.rpartition("/")[2]}
            parts.update(set(query_terms(term)) - same)
    return frozenset(filter(is_identifier, terms)) - parts


def is_identifier(term: str) -> bool:
    """True for a term that names one thing: letters then digits, or joined by _ . : @ # +, or by
    - and / with a digit. Decimals, ordinals and addresses are not."""
    return bool(_CODE.match(term)) and not _DECIMAL.fullmatch(term)
