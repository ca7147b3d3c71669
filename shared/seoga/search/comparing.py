"""Several ways to search, asked the same questions: who is better, on what, and is it luck."""

from __future__ import annotations

import csv
import unicodedata
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Final

import numpy as np

from seoga.errors import InvalidArgument
from seoga.regularfile import open_text
from seoga.search.query import analyse
from seoga.search.request import FUSIONS, MODES, SearchAnswer, SearchRequest
from seoga.text.normal import nfc

RESAMPLES: Final = 2_000
# Of a table: no document answers this.
NOTHING: Final = "-"
_DEPTH: Final = 10
_PASSAGES: Final = 5
_QUESTION: Final = ("?", "까", "까요", "나요", "는가", "인가", "는지")
# Query id → measure → value.
Scores = Mapping[str, Mapping[str, float]]
Ask = Callable[[SearchRequest], SearchAnswer]


@dataclass(frozen=True, slots=True)
class Judged:
    """A question of a team: any of `documents` answers it (a path, or the end of one), and
    `must_contain`, where given, stands in one of the first five passages. Without documents it is
    one that nothing answers, to be refused."""

    question: str
    documents: tuple[str, ...]
    must_contain: str = ""
    kind: str = ""


@dataclass(frozen=True, slots=True)
class Difference:
    """The mean of `b - a` over the same questions, its 95 % interval, and how often a resample had
    the other sign (two-sided p)."""

    mean: float
    low: float
    high: float
    p: float

    @property
    def significant(self) -> bool:
        """True when luck alone gives this less than once in twenty."""
        return self.p < 0.05


def read_judged(file: Path) -> list[Judged]:
    """A table with the columns question, document (several: separated by |; none, or a dash: to be
    refused) and, where wanted, must_contain and type. Raises InvalidArgument naming the line."""
    try:
        with open_text(file, "utf-8-sig", newline="") as lines:
            rows = list(csv.reader(lines, delimiter="\t", quoting=csv.QUOTE_NONE))
    except (OSError, UnicodeError, csv.Error) as error:
        raise InvalidArgument(f"{file} cannot be read: {error}") from error
    names = [name.strip().casefold() for name in rows[0]] if rows else []
    if not {"question", "document"} <= set(names):
        raise InvalidArgument(
            f"{file} has no columns question and document",
            "Its first line: question, document, must_contain, type, with tabs between them.",
        )
    out = []
    for number, row in enumerate(rows[1:], 2):
        if not any(field.strip() for field in row):
            continue
        values = dict(zip(names, (nfc(field.strip()) for field in row), strict=False))
        if not values["question"] or "document" not in values:
            raise InvalidArgument(
                f"{file}, line {number}: a question and a document are needed",
                f"Where nothing answers it, {NOTHING} stands for the document.",
            )
        given = (name.strip() for name in values["document"].split("|"))
        documents = tuple(name for name in given if name not in ("", NOTHING))
        if not documents and values.get("must_contain"):
            raise InvalidArgument(
                f"{file}, line {number}: what is to be refused can contain nothing"
            )
        out.append(
            Judged(
                values["question"],
                documents,
                values.get("must_contain", ""),
                values.get("type", ""),
            )
        )
    if not out:
        raise InvalidArgument(f"{file} holds no question")
    return _together(out)


def _together(rows: Sequence[Judged]) -> list[Judged]:
    """The same question on several lines is one that any of their documents answers."""
    out: dict[tuple[str, str, str], Judged] = {}
    for one in rows:
        key = (one.question, one.must_contain, one.kind)
        known = out.get(key)
        documents = (*(known.documents if known else ()), *one.documents)
        out[key] = replace(one, documents=tuple(dict.fromkeys(documents)))
    return list(out.values())


def missing(judged: Sequence[Judged], documents: Iterable[str]) -> frozenset[str]:
    """The names of expected documents that none of these has (`label/path`, all of a KB)."""
    wanted = {_composed(name) for one in judged for name in one.documents}
    for document in map(_composed, documents):
        parts = document.split("/")
        wanted -= {"/".join(parts[at:]) for at in range(len(parts))}
    names = (name for one in judged for name in one.documents)
    return frozenset(name for name in names if _composed(name) in wanted)


def ask_judged(
    judged: Sequence[Judged], like: SearchRequest, ask: Ask, lost: Iterable[str] = ()
) -> dict[str, Any]:
    """Scores of each question (keys "1", "2" ...): searched as people search, abstention and all,
    ten results deep. Those are left out whose documents are all `lost`; of what is to be refused
    it only counts whether it is."""
    out: dict[str, dict[str, float]] = {}
    for number, one in enumerate(judged, 1):
        if one.documents and set(one.documents) <= set(lost):
            continue
        answer = ask(replace(like, query=one.question, top_k=_DEPTH, max_chars=0))
        if not one.documents:
            out[str(number)] = {"rightly_refused": float(not answer.hits)}
            continue
        paths = list(dict.fromkeys(hit.document for hit in answer.hits))
        place = next((at for at, path in enumerate(paths, 1) if _is_one(path, one)), 0)
        texts = ["".join(hit.text.split()).casefold() for hit in answer.hits[:_PASSAGES]]
        wanted = "".join(one.must_contain.split()).casefold()
        scores = {
            "hit_at_1": float(place == 1),
            "hit_at_3": float(1 <= place <= 3),
            "mrr_at_10": 1 / place if place else 0.0,
            "refused": float(not answer.hits),
        }
        if wanted:
            scores["answered"] = float(any(wanted in text for text in texts))
        out[str(number)] = scores
    return out


def _is_one(path: str, judged: Judged) -> bool:
    path, names = _composed(path), map(_composed, judged.documents)
    return any(path == name or path.endswith(f"/{name}") for name in names)


def _composed(name: str) -> str:
    return unicodedata.normalize("NFC", name.strip().strip("/"))


def variants(like: SearchRequest, others: Sequence[str]) -> dict[str, SearchRequest]:
    """The request itself, and one for each of `others` such as "mode=bm25" or "mode=auto,fusion=
    rrf", by name. Raises InvalidArgument."""
    out = {_name(like): like}
    for text in others:
        changed = like
        for part in text.split(","):
            key, _, value = part.strip().partition("=")
            changed = _changed(changed, key, value)
        out[text] = changed
    return out


def _name(request: SearchRequest) -> str:
    return f"mode={request.mode}" + (f",fusion={request.fusion}" if request.fusion else "")


def _changed(request: SearchRequest, key: str, value: str) -> SearchRequest:
    if key == "mode" and value in MODES:
        return replace(request, mode=value)
    if key == "fusion" and value in FUSIONS:
        return replace(request, fusion=value)
    if key == "rerank" and value in ("on", "off"):
        return replace(request, rerank=value == "on")
    if key == "threshold":
        try:
            return replace(request, threshold=float(value))
        except ValueError as error:
            raise InvalidArgument(f"threshold {value!r} is no number") from error
    raise InvalidArgument(
        f"{key}={value} is nothing to compare with",
        f"Allowed: mode={'|'.join(MODES)}, fusion={'|'.join(FUSIONS)}, threshold=NUMBER,"
        " rerank=on|off.",
    )


def kind_of(text: str) -> str:
    """What a query is, for tables: identifier, short or question, with its language."""
    query = analyse(text)
    kind = "question" if text.rstrip(" .").endswith(_QUESTION) else "phrase"
    if query.identifiers:
        kind = "identifier"
    elif query.short:
        kind = "short"
    return f"{kind} {query.language}"


def means(scores: Scores) -> dict[str, float]:
    """The mean of each measure over the questions that have it."""
    names = dict.fromkeys(name for one in scores.values() for name in one)
    return {
        name: float(np.mean([one[name] for one in scores.values() if name in one]))
        for name in names
    }


def by_kind(scores: Scores, kinds: Mapping[str, str]) -> dict[str, dict[str, float]]:
    """Means for each kind of question, with their number as `questions`."""
    out = {}
    for kind in sorted({kinds[each] for each in scores}):
        some = {each: scores[each] for each in scores if kinds[each] == kind}
        out[kind] = {"questions": float(len(some)), **means(some)}
    return out


def difference(a: Scores, b: Scores, measure: str) -> Difference:
    """Paired bootstrap over questions (Efron and Tibshirani 1993, chapter 16), RESAMPLES times; the
    same scores give the same numbers."""
    pairs = [
        b[each][measure] - one[measure]
        for each, one in a.items()
        if measure in one and measure in b.get(each, {})
    ]
    if not pairs:
        return Difference(0.0, 0.0, 0.0, 1.0)
    values = np.asarray(pairs)
    chance = np.random.default_rng(len(values))
    drawn = np.array(
        [values[chance.integers(len(values), size=len(values))].mean() for _ in range(RESAMPLES)]
    )
    low, high = np.quantile(drawn, (0.025, 0.975))
    other = min(1.0, 2 * float(min((drawn <= 0).mean(), (drawn >= 0).mean())))
    return Difference(float(values.mean()), float(low), float(high), other)
