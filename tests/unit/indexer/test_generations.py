"""A new model is built beside the old one, which serves until then; stopped work goes on."""

from __future__ import annotations

import os
import threading
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest

from seoga.contracts.embedding import Passage
from seoga.models import EmbeddingSpec, ModelCard
from seoga.search.engine import search
from seoga.search.request import SearchRequest
from seoga.settings import Settings
from seoga.wiring import Stack

OLD = 1_600_000_000
FILES = 300


class Counted:
    """The embedding engine of the product; counts passages by provider, and stops where told."""

    def __init__(self, inner: Any) -> None:
        self._inner = inner
        self.passages: Counter[str] = Counter()
        self.before: Callable[[EmbeddingSpec], None] = lambda spec: None

    def card(self, spec: EmbeddingSpec) -> ModelCard:
        card: ModelCard = self._inner.card(spec)
        return card

    def embed_passages(self, passages: Sequence[Passage], spec: EmbeddingSpec) -> Any:
        self.before(spec)
        answers = self._inner.embed_passages(passages, spec)
        self.passages[spec.provider] += len(passages)
        return answers

    def embed_query(self, text: str, spec: EmbeddingSpec) -> Any:
        return self._inner.embed_query(text, spec)

    def embed_queries(self, texts: Sequence[str], spec: EmbeddingSpec) -> Any:
        return self._inner.embed_queries(texts, spec)

    def close(self) -> None:
        self._inner.close()


@pytest.fixture
def counted(place: Any) -> Iterator[Counted]:
    """The place with real models and files enough for several batches."""
    stack = Stack(Settings(base_path=place.base, embed_processes=1))
    embedding = Counted(stack.embedding)
    place.stack.embedding = embedding
    for number in range(FILES):
        path = place.write(f"f{number:03}.md", f"Document {number} speaks of budget plans.")
        os.utime(path, (OLD, OLD))
    place.configure("hashing")
    place.run()
    yield embedding
    embedding.close()


def generations(place: Any) -> list[tuple[str, str]]:
    rows = place.query("SELECT json_extract(card, '$.provider'), status FROM generations")
    return sorted(rows)


def asked(place: Any, embedding: Counted) -> tuple[int, str]:
    """How many hits a search by meaning has now, and which model serves."""
    answer = search([place.kb], SearchRequest("budget plans", mode="vector"), embedding)
    serving = [provider for provider, status in generations(place) if status == "live"]
    return len(answer.hits), serving[0]


def test_searches_use_the_old_model_until_the_new_one_is_complete(
    place: Any, counted: Counted
) -> None:
    seen: list[tuple[int, str]] = []
    counted.before = lambda spec: seen.append(asked(place, counted))
    place.configure("builtin")
    place.run()
    assert seen
    assert all(hits and model == "hashing" for hits, model in seen)
    hits, model = asked(place, counted)
    assert (hits > 0, model) == (True, "builtin")
    assert generations(place) == [("builtin", "live")]
    assert place.query("SELECT count(*) FROM vectors") == [(FILES,)]
    assert counted.passages == {"hashing": FILES, "builtin": FILES}
    place.check_whole()


def test_a_stopped_rebuild_goes_on_and_makes_no_vector_twice(
    place: Any, counted: Counted, cancel: threading.Event
) -> None:
    def stop_in_the_second(spec: EmbeddingSpec) -> None:
        if counted.passages["builtin"]:
            cancel.set()

    counted.before = stop_in_the_second
    place.configure("builtin")
    assert place.run(cancel=cancel).status == "cancelled"
    assert ("hashing", "live") in generations(place)
    done = place.query(
        "SELECT count(*) FROM vectors v JOIN generations g ON g.id = v.generation"
        " WHERE g.status = 'building'"
    )[0][0]
    assert 0 < done < FILES
    counted.before = lambda spec: None
    counted.passages.clear()
    place.run()
    assert counted.passages == {"builtin": FILES - done}
    assert generations(place) == [("builtin", "live")]


def test_a_changed_mind_costs_nothing(
    place: Any, counted: Counted, cancel: threading.Event
) -> None:
    counted.before = lambda spec: cancel.set()
    place.configure("builtin")
    place.run(cancel=cancel)
    counted.before = lambda spec: None
    counted.passages.clear()
    place.configure("hashing")
    place.run()
    assert not counted.passages
    assert generations(place) == [("hashing", "live")]
    assert asked(place, counted)[1] == "hashing"


def test_edits_during_a_rebuild_are_made_for_the_new_model_only(
    place: Any, counted: Counted, cancel: threading.Event
) -> None:
    counted.before = lambda spec: counted.passages["builtin"] and cancel.set()
    place.configure("builtin")
    place.run(cancel=cancel)
    counted.before = lambda spec: None
    place.write("f000.md", "A new budget text.")
    (place.docs / "f001.md").unlink()
    place.run()
    assert counted.passages["hashing"] == FILES
    assert generations(place) == [("builtin", "live")]
    place.check_whole()


def test_partial_embedding_that_was_stopped_goes_on(
    place: Any, counted: Counted, cancel: threading.Event
) -> None:
    counted.passages.clear()
    counted.before = lambda spec: counted.passages["hashing"] and cancel.set()
    place.run(partial="embedding", cancel=cancel)
    done = FILES - place.query("SELECT count(*) FROM chunks WHERE state = 'PendingEmbedding'")[0][0]
    assert 0 < done < FILES
    counted.before = lambda spec: None
    counted.passages.clear()
    place.run(partial="embedding")
    assert counted.passages["hashing"] == FILES - done
    counted.passages.clear()
    place.run(partial="embedding")
    assert counted.passages["hashing"] == FILES


def test_force_that_was_stopped_goes_on_and_the_next_begins_anew(
    place: Any, counted: Counted, cancel: threading.Event
) -> None:
    # Rows tell their age by the second: these must be older than the run.
    from seoga.storage.database import connect

    conn = connect(place.kb.db_path)
    conn.execute("UPDATE files SET indexed_at = '2020-01-01T00:00:00+00:00'")
    conn.close()

    def stop_in_the_middle(_: Path, name: str) -> None:
        if name == "f150.md":
            cancel.set()

    place.extraction.before = stop_in_the_middle
    place.run(force=True, cancel=cancel)
    done = len(place.query("SELECT 1 FROM files WHERE indexed_at > '2021'"))
    assert 100 < done < FILES
    conn = connect(place.kb.db_path)
    conn.execute("UPDATE meta SET value = json_set(value, '$.since', '2021') WHERE key = 'redo'")
    conn.close()
    place.extraction.before = lambda path, name: None
    place.run(force=True)
    assert len(place.extraction.reads) == FILES - done
    place.run(force=True)
    assert len(place.extraction.reads) == FILES
