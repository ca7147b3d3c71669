"""The nouns every service speaks: source, item, document, section, place, chunk, hit, job. All
frozen."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from enum import StrEnum
from typing import Any, Literal, NamedTuple

from seoga.cells import joined


class FileState(StrEnum):
    """What the index holds of a file (the table in the README of the indexer says when each is
    retried)."""

    READY = "Ready"
    DEGRADED = "Degraded"
    PARTIALLY_DEFERRED = "PartiallyDeferred"
    FAILED = "Failed"
    NEEDS_ACTION = "NeedsAction"


class ChunkState(StrEnum):
    """Where a chunk stands: findable by keyword from PENDING on, by meaning once INDEXED."""

    PENDING = "PendingEmbedding"
    INDEXED = "Indexed"
    FAILED = "Failed"


class Stage(StrEnum):
    """The step of the pipeline that a state or an error speaks of."""

    SCAN = "scan"
    EXTRACT = "extract"
    CHUNK = "chunk"
    CONTEXT = "contextualize"
    EMBED = "embed"
    DONE = "done"


class SectionKind(StrEnum):
    """What a section of a document is."""

    HEADING = "heading"
    PARAGRAPH = "paragraph"
    LIST = "list"
    TABLE = "table"
    CODE = "code"
    NOTE = "note"
    COMMENT = "comment"
    PAGE = "page"
    TRANSCRIPT = "transcript"


@dataclass(frozen=True, slots=True)
class Place:
    """Where in the original a passage stands; unused parts are None. Pages, slides and lines
    count from 1; seconds are floats."""

    page: int | None = None
    page_end: int | None = None
    slide: int | None = None
    sheet: str | None = None
    cells: str | None = None
    line_start: int | None = None
    line_end: int | None = None
    start_s: float | None = None
    end_s: float | None = None

    def to_json(self) -> dict[str, Any]:
        """Only the parts that are set."""
        # Not asdict: this runs for every section of every file, and asdict copies deeply.
        names = Place.__dataclass_fields__
        return {name: value for name in names if (value := getattr(self, name)) is not None}

    @staticmethod
    def from_json(data: Mapping[str, Any]) -> Place:
        """Inverse of `to_json`; unknown keys are ignored."""
        known = Place.__dataclass_fields__
        return Place(**{key: value for key, value in data.items() if key in known})

    def until(self, other: Place) -> Place:
        """The span from this place to a later one of the same document."""
        first = self.page if self.page is not None else other.page
        last = other.page_end or other.page or self.page_end or self.page
        return Place(
            page=first,
            page_end=last if last != first else None,
            slide=self.slide if self.slide is not None else other.slide,
            sheet=self.sheet or other.sheet,
            cells=joined(self.cells, other.cells),
            line_start=self.line_start if self.line_start is not None else other.line_start,
            line_end=other.line_end if other.line_end is not None else self.line_end,
            start_s=self.start_s if self.start_s is not None else other.start_s,
            end_s=other.end_s if other.end_s is not None else self.end_s,
        )


@dataclass(frozen=True, slots=True)
class Section:
    """One piece of extracted text in reading order.

    `text` is Markdown: a heading carries its `#` marks, a table its pipes, a code section its
    fence. `heading_path`
    is the headings above it, outermost first, itself included for a heading. `level` is 1..6 for
    a heading, else 0.
    """

    text: str
    kind: SectionKind = SectionKind.PARAGRAPH
    heading_path: tuple[str, ...] = ()
    level: int = 0
    place: Place = Place()
    meta: Mapping[str, Any] = field(default_factory=dict)

    def to_json(self) -> dict[str, Any]:
        """A JSON object; defaults left out."""
        out: dict[str, Any] = {"text": self.text, "kind": self.kind.value}
        if self.heading_path:
            out["heading_path"] = list(self.heading_path)
        if self.level:
            out["level"] = self.level
        if place := self.place.to_json():
            out["place"] = place
        if self.meta:
            out["meta"] = dict(self.meta)
        return out

    @staticmethod
    def from_json(data: Mapping[str, Any]) -> Section:
        """Inverse of `to_json`."""
        return Section(
            text=data["text"],
            kind=SectionKind(data.get("kind", "paragraph")),
            heading_path=tuple(data.get("heading_path", ())),
            level=int(data.get("level", 0)),
            place=Place.from_json(data.get("place", {})),
            meta=data.get("meta", {}),
        )


# The key of `DocumentInfo.meta` for lines of it that could not be read: a list of sentences.
FAULTS = "seoga.faults"
# The one for what its author wrote at its head for other authors (comments): a list of lines.
REMARKS = "seoga.remarks"


@dataclass(frozen=True, slots=True)
class DocumentInfo:
    """What is known of a document as a whole: first event of every extraction stream."""

    format: str
    title: str = ""
    meta: Mapping[str, Any] = field(default_factory=dict)

    def to_json(self) -> dict[str, Any]:
        """A JSON object."""
        return {"format": self.format, "title": self.title, "meta": dict(self.meta)}

    @staticmethod
    def from_json(data: Mapping[str, Any]) -> DocumentInfo:
        """Inverse of `to_json`."""
        return DocumentInfo(data["format"], data.get("title", ""), data.get("meta", {}))


@dataclass(frozen=True, slots=True)
class Source:
    """One place that documents come from. `label` is unique in its KB and part of every
    document's identity."""

    type: str
    label: str
    path: str = ""
    include: tuple[str, ...] = ()
    exclude: tuple[str, ...] = ()
    options: Mapping[str, Any] = field(default_factory=dict)


class Item(NamedTuple):
    """One thing a source lists. `path` is NFC, `/`-separated and relative to the source; `size`
    in bytes, `mtime_ns` in
    nanoseconds; `version` replaces both where the source has one. `local` is where its bytes lie
    (folder sources)."""

    label: str
    path: str
    size: int
    mtime_ns: int
    version: str = ""
    url: str = ""
    local: str = ""


@dataclass(frozen=True, slots=True)
class Chunk:
    """A passage: `text == document_text[start:end]`, exactly (offsets in code points).

    `heading_path` and `header_row` (of a table part) travel beside the slice: shown, embedded
    and keyword-indexed.
    """

    ordinal: int
    text: str
    start: int
    end: int
    heading_path: tuple[str, ...] = ()
    header_row: str = ""
    place: Place = Place()
    kind: SectionKind = SectionKind.PARAGRAPH
    meta: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Hit:
    """One answer of `search()`.

    `path` is relative to its source, `document` is `label/path`; `text` the chunk exactly;
    `snippet` a part of it with `**marks**`; `label` the
    provenance such as `[both 0.688]`; `score` the cosine where there is one, else the keyword
    share, in 0..1; `rank_score`
    only orders. `status` is what the document states or became, `superseded_by` what lives in its
    place, `supersedes` the retired documents that it is shown for. `cosine` and `keyword` are the
    raw scores (None: that track did not find it),
    ranks count from 1. `why`: the numbers behind it, where they were asked for.
    """

    kb_id: str
    kb_name: str
    document_id: int
    chunk_id: int
    path: str
    url: str
    title: str
    heading_path: tuple[str, ...]
    place: Place
    text: str
    header_row: str
    snippet: str
    label: str
    score: float
    rank_score: float
    cosine: float | None = None
    keyword: float | None = None
    cosine_rank: int | None = None
    keyword_rank: int | None = None
    source_label: str = ""
    modified: str = ""
    status: str = ""
    superseded_by: tuple[str, ...] = ()
    supersedes: tuple[str, ...] = ()
    neighbours: tuple[int, ...] = ()
    why: Mapping[str, Any] = field(default_factory=dict)

    @property
    def document(self) -> str:
        """The document's name in its KB: `label/path`."""
        return f"{self.source_label}/{self.path}"

    def to_json(self) -> dict[str, Any]:
        """The form of `search --json` and of the tools."""
        out: dict[str, Any] = {
            "kb_id": self.kb_id,
            "kb": self.kb_name,
            "path": self.path,
            "document": self.document,
            "url": self.url,
            "title": self.title,
            "heading": " > ".join(self.heading_path),
            "place": self.place.to_json(),
            "text": self.text,
            "snippet": self.snippet,
            "label": self.label,
            "score": round(self.score, 4),
            "rank_score": round(self.rank_score, 4),
            "scores": {
                "cosine": None if self.cosine is None else round(self.cosine, 4),
                "keyword": None if self.keyword is None else round(self.keyword, 4),
                "cosine_rank": self.cosine_rank,
                "keyword_rank": self.keyword_rank,
            },
            "source": self.source_label,
            "modified": self.modified,
            "status": self.status,
            "superseded_by": list(self.superseded_by),
            "supersedes": list(self.supersedes),
            "document_id": self.document_id,
            "chunk_id": self.chunk_id,
            "neighbours": list(self.neighbours),
        }
        if self.header_row:
            out["header_row"] = self.header_row
        if self.why:
            out["why"] = dict(self.why)
        return out


Partial = Literal["contextualization", "embedding"]


@dataclass(frozen=True, slots=True)
class Job:
    """One entry of the queue. Times are UTC ISO strings; `scope` is "full" or a Partial."""

    id: int
    kb_id: str
    scope: str
    force: bool
    deferred: bool
    status: str
    created_at: str
    started_at: str = ""
    ended_at: str = ""
    last_error: str = ""


@dataclass(frozen=True, slots=True)
class EmbeddingSpec:
    """Which model a KB asks for (the `embedding` keys of its config)."""

    provider: str = "builtin"
    model: str = ""
    base_url: str = ""
    api_key_preset: str = ""
    dimension: int = 0
    batch_size: int = 0
    keep_alive: str = "5m"
    num_ctx: int = 8192


@dataclass(frozen=True, slots=True)
class ContextSpec:
    """Which LLM a KB asks for (the `contextualizer` keys of its config); `prompt` is its
    `systemPrompt` ("": the built-in one), `fresh` asks again for what was answered before,
    `forced` for what was given up, `batch` through the provider's batch API. Off without a provider
    or a model."""

    provider: str = ""
    model: str = ""
    base_url: str = ""
    api_key_preset: str = ""
    keep_alive: str = "5m"
    num_ctx: int = 8192
    prompt: str = ""
    fresh: bool = False
    batch: bool = False
    forced: bool = False


@dataclass(frozen=True, slots=True)
class RerankSpec:
    """Which model puts the first hits of a KB in order (the `reranker` keys of its config):
    `candidates` of them, within `timeout_s` seconds. Off without a provider."""

    provider: str = ""
    model: str = ""
    base_url: str = ""
    api_key_preset: str = ""
    keep_alive: str = "5m"
    num_ctx: int = 16384
    candidates: int = 30
    timeout_s: float = 10.0


@dataclass(frozen=True, slots=True)
class ModelCard:
    """What produced (or will produce) the vectors of an index; stored with them.

    Two cards with the same `key` give comparable vectors. `threshold` is the registry's cosine
    threshold for
    answers (not part of the key), `verified` is False for a model the registry does not know,
    `price` is US dollars a million tokens (0: free or unknown), `lanes` how many requests for
    passages it works on at once, `batch` how many texts go in one call (0: no call is made).
    """

    provider: str
    model: str
    digest: str
    dimension: int
    prefix: str
    pooling: str
    threshold: float
    verified: bool = True
    price: float = 0.0
    lanes: int = 1
    batch: int = 0

    @property
    def key(self) -> str:
        """The identity as one string."""
        return "|".join(
            (self.provider, self.model, self.digest, str(self.dimension), self.prefix, self.pooling)
        )

    def to_json(self) -> dict[str, Any]:
        """A JSON object."""
        return asdict(self)
