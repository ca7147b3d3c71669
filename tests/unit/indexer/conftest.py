"""Knowledge bases over folders of text, with ports that count what is asked of them."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from seoga.contracts.embedding import Context, Excerpt, Passage, PassageVectors, Vector
from seoga.contracts.extraction import Event
from seoga.contracts.indexing import RunResult
from seoga.errors import EmbeddingFailed, ExtractionFailed, ProviderFault, Reason
from seoga.kb import Kb, find_kb
from seoga.models import ContextSpec, DocumentInfo, EmbeddingSpec, ModelCard, Section
from seoga.settings import Settings
from seoga.storage.audit import Fault, audit
from seoga.storage.database import open_reader
from seoga.text.tokens import index_text, query_terms
from seoga.wiring import Stack
from seoga_indexer.engine import IndexingEngine


class TextExtraction:
    """Reads text files, a section a paragraph; other extensions are unsupported. Counts reads."""

    def __init__(self) -> None:
        self.version = "1"
        self.passwords = ""
        self.versions: dict[str, str] = {}
        self.cheap: set[str] = set()
        self.apart: set[str] = set()
        self.extensions = [".md", ".txt"]
        self.title = ""
        self.meta: dict[str, Any] = {}
        self.reads: list[str] = []
        self.before: Callable[[Path, str], None] = lambda path, name: None

    def extract(self, path: Path, name: str) -> Iterator[Event]:
        self.reads.append(name)
        self.before(path, name)
        if Path(name).suffix not in self.extensions:
            raise ExtractionFailed("no reader", reason=Reason.UNSUPPORTED)
        text = path.read_text(encoding="utf-8")
        yield DocumentInfo(path.suffix, self.title, meta=self.meta)
        for paragraph in text.split("\n\n"):
            if paragraph.startswith("!"):
                raise ExtractionFailed(paragraph, reason=Reason(paragraph[1:].strip()))
            yield Section(paragraph)

    def describe(self) -> dict[str, Any]:
        formats = {one: self._format(one) for one in self.extensions}
        return {"version": self.version, "formats": formats, "passwords": self.passwords}

    def _format(self, extension: str) -> dict[str, Any]:
        return {
            "extensions": [extension],
            "available": True,
            "version": self.versions.get(extension, "1"),
            "cheap": extension in self.cheap,
            "lane": "speech" if extension in self.apart else "",
        }

    def close(self) -> None:
        return


def _bytes_of(text: str) -> Vector:
    counts = np.bincount(np.frombuffer(text.encode(), np.uint8) % 8, minlength=8)
    vector = (counts + 1).astype(np.float32)[None, :]
    unit: Vector = vector / np.linalg.norm(vector)
    return unit


class CountingEmbedding:
    """Vectors from the bytes of a text. `faults` are raised by the next calls, one each; a text
    that holds a word of `refused` gets an error of its own."""

    def __init__(self) -> None:
        self.model = "bytes"
        self.prompt = "p1"
        self.prompt_word = ""
        self.calls = 0
        self.texts: list[str] = []
        self.passages: list[Passage] = []
        self.faults: list[Exception] = []
        self.refused: set[str] = set()
        self.unreached: set[str] = set()
        self.excerpts: list[Excerpt] = []
        self.contexts = 0
        self.context_faults: list[Exception] = []
        self.unanswered: set[str] = set()
        self.given_up: set[str] = set()
        self.tokens = 0
        self.price = 0.0
        self.lanes = 1
        self.batch = 0
        self.before: Callable[[], None] = lambda: None

    def card(self, spec: EmbeddingSpec) -> ModelCard:
        known = (spec.provider, self.model, "", 8, "", "mean", 0.5)
        return ModelCard(*known, price=self.price, lanes=self.lanes, batch=self.batch)

    def embed_passages(
        self, passages: Sequence[Passage], spec: EmbeddingSpec
    ) -> list[PassageVectors | EmbeddingFailed]:
        self.calls += 1
        self.before()
        if self.faults:
            raise self.faults.pop(0)
        return [self._one(passage) for passage in passages]

    def _one(self, passage: Passage) -> PassageVectors | EmbeddingFailed:
        self.texts.append(passage.text)
        self.passages.append(passage)
        if any(word in passage.text for word in self.refused):
            return EmbeddingFailed("refused", fault=ProviderFault.REJECTED)
        if any(word in passage.text for word in self.unreached):
            return EmbeddingFailed("went away", fault=ProviderFault.OUTAGE)
        unit = _bytes_of(passage.text)
        return PassageVectors(unit, np.zeros(1, np.float32), self.tokens)

    def embed_query(self, text: str, spec: EmbeddingSpec) -> Vector:
        return _bytes_of(text)[0]

    def embed_queries(self, texts: Sequence[str], spec: EmbeddingSpec) -> list[Vector]:
        return [self.embed_query(text, spec) for text in texts]

    def contextualize(
        self, excerpts: Sequence[Excerpt], spec: ContextSpec
    ) -> list[Context | EmbeddingFailed]:
        if self.context_faults:
            raise self.context_faults.pop(0)
        self.excerpts += excerpts
        return [self._context(excerpt, spec) for excerpt in excerpts]

    def _context(self, excerpt: Excerpt, spec: ContextSpec) -> Context | EmbeddingFailed:
        if any(word in excerpt.text for word in self.unanswered):
            return EmbeddingFailed("no context in the answer", fault=ProviderFault.BAD_OUTPUT)
        if any(word in excerpt.text for word in self.given_up):
            error = EmbeddingFailed("refused three times", fault=ProviderFault.REJECTED)
            error.final = True
            return error
        self.contexts += 1
        said = f"{spec.model} says {self.prompt_word}of {excerpt.title}"
        return Context(said, "열쇠말, keyphrase", 80, 20, 0.001)

    def prompt_id(self, spec: ContextSpec) -> str:
        if self.context_faults:
            raise self.context_faults[0]
        return self.prompt

    def close(self) -> None:
        return


class Place:
    """A KB named `kb` over the folder `docs`, its ports, and ways to look at its index."""

    def __init__(self, tmp_path: Path) -> None:
        self.base = tmp_path / "base"
        self.docs = tmp_path / "docs"
        self.docs.mkdir()
        self.extraction = TextExtraction()
        self.embedding = CountingEmbedding()
        self.stack = Stack(Settings(base_path=self.base, extract_workers=2))
        self.stack.extraction = self.extraction
        self.stack.embedding = self.embedding
        self.engine = IndexingEngine(self.stack)
        self.configure()

    def configure(self, provider: str = "", **keys: Any) -> None:
        folder = self.base / "kb"
        folder.mkdir(parents=True, exist_ok=True)
        config = {"id": "kb", "sourcePaths": [str(self.docs)], "embedding": {"provider": provider}}
        (folder / "config.json").write_text(json.dumps(config | keys))

    @property
    def kb(self) -> Kb:
        return find_kb(self.base, "kb")

    def write(self, path: str, text: str) -> Path:
        target = self.docs / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(text, encoding="utf-8")
        return target

    def run(self, **options: Any) -> RunResult:
        self.extraction.reads.clear()
        return self.engine.run_kb(self.kb, **options)

    def query(self, sql: str) -> list[tuple[Any, ...]]:
        with closing(open_reader(self.kb.db_path)) as conn:
            return conn.execute(sql).fetchall()

    def states(self) -> dict[str, str]:
        rows = self.query("SELECT path, state, reason FROM files ORDER BY path")
        return {path: f"{state} {reason}".strip() for path, state, reason in rows}

    def found(self, word: str) -> list[str]:
        terms = " ".join(f'"{term}"' for term in query_terms(word))
        return [
            row[0]
            for row in self.query(
                "SELECT DISTINCT f.path FROM chunks_fts JOIN chunks c ON c.id = chunks_fts.rowid"
                f" JOIN files f ON f.id = c.file_id WHERE chunks_fts MATCH '{terms}' ORDER BY 1"
            )
        ]

    def content(self) -> list[tuple[Any, ...]]:
        """The index without ids: chunks, keyword rows and vectors of every path."""
        return self.query(
            'SELECT f.label, f.path, f.state, c.ordinal, c.text, c.start, c."end", c.state,'
            " x.title, x.heading, x.body, hex(v.data)"
            " FROM files f LEFT JOIN chunks c ON c.file_id = f.id"
            " LEFT JOIN chunks_fts x ON x.rowid = c.id LEFT JOIN vectors v ON v.chunk_id = c.id"
            " ORDER BY 1, 2, 4"
        )

    def check_whole(self) -> None:
        """No row without its others: chunks, keyword index, terms and vectors agree."""
        chunks = self.query("SELECT id FROM chunks ORDER BY id")
        assert self.query("SELECT rowid FROM chunks_fts ORDER BY rowid") == chunks
        assert not self.query("SELECT 1 FROM vectors WHERE chunk_id NOT IN (SELECT id FROM chunks)")
        assert not self.query(
            "SELECT 1 FROM files f WHERE chunk_count !="
            " (SELECT count(*) FROM chunks c WHERE c.file_id = f.id)"
        )
        assert not self.query(
            "SELECT 1 FROM chunks c WHERE state = 'Indexed'"
            " AND EXISTS (SELECT 1 FROM generations)"
            " AND NOT EXISTS (SELECT 1 FROM vectors v WHERE v.chunk_id = c.id)"
        )
        assert self.faults() == {}

    def faults(self) -> dict[str, list[str]]:
        """What `doctor --deep` finds, by check."""
        found = self.found_by_audit()
        return {name: [str(fault) for fault in faults] for name, faults in found.items() if faults}

    def found_by_audit(self) -> dict[str, list[Fault]]:
        """The same as `repair` takes it."""
        with closing(open_reader(self.kb.db_path)) as conn:
            return audit(conn, index_text)


@pytest.fixture
def place(tmp_path: Path) -> Iterator[Place]:
    made = Place(tmp_path)
    yield made
    made.engine.close()


@pytest.fixture
def cancel() -> threading.Event:
    return threading.Event()
