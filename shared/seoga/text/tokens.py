"""Tokens of the keyword index: Hangul bigrams, Latin words and identifiers whole and in parts.

Documents and queries go through the same function, so whatever was typed is found as typed. Hangul
bigrams, with no whole Hangul words beside them, are measured: nDCG@10 0.95, trigrams 0.79.
"""

from __future__ import annotations

import re
import unicodedata
from itertools import pairwise

from seoga.text.normal import compatible
from seoga.text.stem import stem

TOKENIZER_VERSION = "1"

HANGUL = "가-힣\u1100-\u11ff\u3131-\u318e\ua960-\ua97c\ud7b0-\ud7fb"
IDEOGRAPHS = "\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U000323af\u3040-\u30ff々"

_SCRIPTS = re.compile(f"([{HANGUL}]+)|([{IDEOGRAPHS}]+)|([^{HANGUL}{IDEOGRAPHS}]+)")
# Words joined by what joins identifiers, paths, versions and times; then the ++ of C++, # of C#.
_LATIN = re.compile(r"\w+(?:[-./:'@&+]+\w+)*(?:\+\+(?!\w)|#(?!\w))?")
_THOUSANDS = re.compile(r"(?<=\d),(?=\d{3}(?!\d))")
_SEGMENT = re.compile(r"[^/:@]+")
_ATOM = re.compile(r"[^\W_]+")
_CAMEL = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+")
_DECIMAL = re.compile(r"\d+(?:\.\d+)?")
_VERSION = re.compile(r"v\d+(?:\.\d+)+")

_PLAIN_HANGUL = re.compile("[가-힣]+")
# Not in here: + and # (C++, C#), characters that NFKC changes, and the underscore (__init__).
_PUNCTUATION = ".,;:!?()[]{}<>\"'`*|“”‘"

# Longer words are not worth remembering, and a whole longer than _LONGEST is no identifier.
_REMEMBERED = 48
_LONGEST = 80
# Words held at most, about 150 bytes each.
_MOST_WORDS = 1 << 17


def index_text(text: str) -> str:
    """The tokens of a text in reading order, joined by spaces: what is written to an FTS column."""
    return " ".join(filter(None, map(_words.__getitem__, text.split())))


def query_terms(text: str) -> list[str]:
    """The distinct tokens of a query, in the order of their first appearance."""
    return list(dict.fromkeys(index_text(text).split()))


class _Words(dict[str, str]):
    """The tokens of words seen before. Words repeat (Zipf), so most of a text is answered by a
    look into this dict, without a call of Python: this makes indexing fast."""

    def __missing__(self, word: str) -> str:
        tokens = " ".join(_tokens(word))
        if len(word) <= _REMEMBERED:
            if len(self) >= _MOST_WORDS:
                # Cheaper than keeping an order: the frequent words are back after a few texts.
                self.clear()
            self[word] = tokens
        return tokens


_words = _Words()


def _tokens(word: str) -> list[str]:
    # Plain words and plain Hangul are most of any text: a short way to the same result.
    bare = word.strip(_PUNCTUATION)
    if bare.isascii() and bare.isalpha() and (bare.islower() or bare[1:].islower()):
        return [stem(bare.lower())]
    if _PLAIN_HANGUL.fullmatch(bare):
        return _bigrams(bare)
    out: list[str] = []
    for hangul, ideographs, other in _SCRIPTS.findall(compatible(word)):
        if hangul:
            out += _bigrams(hangul)
        elif ideographs:
            out += ideographs if len(ideographs) == 1 else [*ideographs, *_bigrams(ideographs)]
        else:
            for found in _LATIN.findall(_THOUSANDS.sub("", other.replace("’", "'"))):
                out += _identifier(found)
    return out


def _bigrams(run: str) -> list[str]:
    return [run] if len(run) == 1 else [a + b for a, b in pairwise(run)]


def _identifier(found: str) -> list[str]:
    """A Latin word; or an identifier as a whole, its path segments and its words."""
    if found.isalpha():
        return _atom(found)
    if _DECIMAL.fullmatch(found):
        return [found]
    whole = _plain(found.strip("_") if not found.startswith("__") else found)
    if whole.endswith("'s"):
        return _identifier(found[:-2])
    atoms = _ATOM.findall(found)
    if not atoms:
        return []
    if len(atoms) == 1 and whole == _plain(atoms[0]):
        return _atom(found.strip("_"))
    out = [whole] if len(whole) <= _LONGEST else []
    if _VERSION.fullmatch(whole):
        out.append(whole[1:])
    segments = _SEGMENT.findall(whole)
    if len(segments) > 1:
        out += [part for part in segments if not _ATOM.fullmatch(part) and len(part) <= _LONGEST]
    # A single letter or digit of an identifier says nothing alone, except the C of C++.
    for atom in atoms:
        if len(atom) > 1 or len(atoms) == 1:
            out += _atom(atom)
    return out


def _atom(atom: str) -> list[str]:
    plain = _plain(atom)
    if atom.islower() or atom.isupper() or not atom.isascii():
        return [stem(plain)]
    parts = [part for part in _CAMEL.findall(atom) if len(part) > 1]
    if len(parts) < 2:
        return [stem(plain)]
    return [plain, *(stem(part.lower()) for part in parts)]


def _plain(word: str) -> str:
    """Casefolded, Latin letters without their accents."""
    folded = word.casefold()
    if folded.isascii():
        return folded
    spread = unicodedata.normalize("NFD", folded)
    bare = "".join(
        mark
        for before, mark in zip(" " + spread, spread, strict=False)
        if not (unicodedata.combining(mark) and before < "\u0370")
    )
    return unicodedata.normalize("NFKC", bare)
