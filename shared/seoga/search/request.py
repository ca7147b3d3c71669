"""What a search asks and what it answers, and the checks of what is asked."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta
from typing import Any, Final

from seoga.errors import InvalidArgument, shown
from seoga.kbconfig import MOST_GLOB
from seoga.models import Hit

MODES: Final = ("auto", "bm25", "vector")
FUSIONS: Final = ("convex", "rrf", "gated")
LANGUAGES: Final = ("", "ko", "en", "other")
MAX_TOP_K: Final = 50
_MOST_VALUES: Final = 100


@dataclass(frozen=True, slots=True)
class SearchRequest:
    """One search. Empty values filter nothing.

    `threshold` (a cosine) and `fusion` replace those of the KB. `labels` are source labels,
    `exclude` whole path segments added to the KB's own, which `include_excluded` lifts, as
    `include_superseded` shows retired documents; `search_all` does both. `as_of`: what was retired
    on that ISO day. `path_glob` is
    relative to the source (`docs/**/*.md`; without a slash it matches the file's name). Dates are
    ISO, of the last change; `modified_before` given as a day includes that day. `max_chars` bounds
    the text of all hits together; 0: no bound. `explain` adds the numbers behind each hit.
    Without `rerank` the KB's reranker is not asked.
    For measuring: without `abstain` nothing is
    dropped, without `fold` near duplicates stay, with `per_document` 0 a document may fill the
    answer.
    """

    query: str
    top_k: int = 5
    mode: str = "auto"
    threshold: float | None = None
    labels: tuple[str, ...] = ()
    exclude: tuple[str, ...] = ()
    search_all: bool = False
    include_superseded: bool = False
    include_excluded: bool = False
    as_of: str = ""
    path_glob: str = ""
    file_types: tuple[str, ...] = ()
    modified_after: str = ""
    modified_before: str = ""
    lang: str = ""
    per_document: int = 3
    abstain: bool = True
    fold: bool = True
    fusion: str = ""
    max_chars: int = 40_000
    explain: bool = False
    rerank: bool = True


@dataclass(frozen=True, slots=True)
class Retired:
    """A document that would have been among the results, by its name `label/path`; `successors`
    are what lives in its place, `shown` whether the answer holds a passage of them."""

    document: str
    status: str
    since: str
    successors: tuple[str, ...]
    shown: bool

    def to_json(self) -> dict[str, Any]:
        """A JSON object."""
        return {
            "document": self.document,
            "status": self.status,
            "since": self.since,
            "successors": list(self.successors),
        }


@dataclass(frozen=True, slots=True)
class SearchAnswer:
    """Hits, best first, and what happened to the rest.

    `best_score` is the best cosine seen (keyword mode: the best keyword share), admitted or not,
    None when nothing was found; `threshold` what it was measured against. `hidden` counts
    documents that would have been admitted but are in excluded folders or retired, `dropped`
    passages that were found and not admitted, `folded` near duplicates, `left_out` hits beyond
    `max_chars`.
    `retired` are the hidden documents that something replaced, or that are out of force.
    `pending` counts chunks without vectors yet, also of the model that serves. `mode` is what was
    really done: hybrid, bm25 or vector. `why`: how each KB was searched, where that was asked for.
    """

    hits: tuple[Hit, ...]
    message: str = ""
    best_score: float | None = None
    threshold: float | None = None
    hidden: int = 0
    retired: tuple[Retired, ...] = ()
    dropped: int = 0
    folded: int = 0
    left_out: int = 0
    warnings: tuple[str, ...] = ()
    pending: int = 0
    mode: str = "bm25"
    why: tuple[Mapping[str, Any], ...] = ()

    def to_json(self) -> dict[str, Any]:
        """The form of `search --json` and of the tools."""
        out: dict[str, Any] = {
            "results": [hit.to_json() for hit in self.hits],
            "message": self.message,
            "best_score": None if self.best_score is None else round(self.best_score, 4),
            "threshold": self.threshold,
            "hidden": self.hidden,
            "retired": [each.to_json() for each in self.retired],
            "dropped": self.dropped,
            "folded": self.folded,
            "left_out": self.left_out,
            "warnings": list(self.warnings),
            "pending": self.pending,
            "mode": self.mode,
        }
        return out | ({"why": list(map(dict, self.why))} if self.why else {})


def check(request: SearchRequest) -> None:
    """Raises InvalidArgument for a value that is out of range, naming it and what is allowed."""
    if isinstance(request.top_k, bool) or not 1 <= request.top_k <= MAX_TOP_K:
        raise InvalidArgument(f"top_k is {request.top_k}; allowed are 1 to {MAX_TOP_K}")
    allowed: Mapping[str, tuple[str, tuple[str, ...]]] = {
        "search_mode": (request.mode, MODES),
        "fusion": (request.fusion, ("", *FUSIONS)),
        "lang": (request.lang, LANGUAGES),
    }
    for name, (value, values) in allowed.items():
        if value not in values:
            known = ", ".join(filter(None, values))
            raise InvalidArgument(f"{name} is {shown(value)}; allowed are {known}")
    # Written so that NaN is refused too.
    if request.threshold is not None and not -1 <= request.threshold <= 1:
        raise InvalidArgument(f"threshold is {request.threshold}; it is a cosine, -1 to 1")
    if request.per_document < 0:
        raise InvalidArgument(f"per_document is {request.per_document}; allowed are 0 and above")
    if len(request.path_glob) > MOST_GLOB:
        raise InvalidArgument(
            f"path_glob has {len(request.path_glob)} characters; allowed are {MOST_GLOB}"
        )
    if request.as_of and not _is_day(request.as_of):
        raise InvalidArgument(f"as_of is {request.as_of[:40]!r}; give a day such as 2026-03-01")
    for name in ("labels", "exclude", "file_types"):
        _check_list(name, getattr(request, name))
    instant(request.modified_after, "modified_after")
    instant(request.modified_before, "modified_before")


def _check_list(name: str, values: tuple[str, ...]) -> None:
    if len(values) > _MOST_VALUES:
        raise InvalidArgument(f"{name} has {len(values)} values; allowed are {_MOST_VALUES}")
    longest = max(map(len, values), default=0)
    if longest > MOST_GLOB:
        raise InvalidArgument(
            f"a value of {name} has {longest} characters; allowed are {MOST_GLOB}"
        )


def _is_day(text: str) -> bool:
    try:
        return date.fromisoformat(text).isoformat() == text
    except ValueError:
        return False


def instant(text: str, name: str, *, end_of_day: bool = False) -> int | None:
    """Nanoseconds since 1970 of an ISO date or time (UTC unless it says otherwise); None for "".

    Raises InvalidArgument.
    """
    if not text:
        return None
    try:
        if len(text) == len("2026-01-01"):
            day = date.fromisoformat(text) + timedelta(days=1 if end_of_day else 0)
            moment = datetime.combine(day, time.min, UTC)
        else:
            moment = datetime.fromisoformat(text)
        if moment.tzinfo is None:
            moment = moment.replace(tzinfo=UTC)
        return int(moment.timestamp()) * 1_000_000_000
    except (ValueError, OverflowError) as error:
        raise InvalidArgument(
            f"{name} is {text[:40]!r}; give an ISO date such as 2026-03-01"
        ) from error
