"""What `exec --estimate` says beforehand, against what the run then takes of the fake provider."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from seoga.cli.main import invoke
from seoga.contracts.indexing import RunEstimate
from seoga.kb import Kb, load_kb
from seoga.settings import settings
from seoga.wiring import Stack
from seoga_extraction.ocr import tesseract
from seoga_indexer.estimate import sampling

MODEL = {"provider": "openai", "model": "text-embedding-3-small"}
LLM = {"provider": "anthropic", "model": "claude-haiku-4-5"}


@pytest.fixture
def fake(fake_provider: str, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    for name in ("OPENAI", "ANTHROPIC"):
        monkeypatch.setenv(f"{name}_API_KEY", "any")
    httpx.delete(f"{fake_provider}/fake").raise_for_status()
    yield fake_provider
    httpx.delete(f"{fake_provider}/fake").raise_for_status()


@pytest.fixture
def make(fake: str, base_path: Path, tmp_path: Path) -> Callable[..., Kb]:
    def new(**keys: Any) -> Kb:
        folder = base_path / "kb"
        folder.mkdir(exist_ok=True)
        config = {
            "id": "kb",
            "sourcePaths": [str(tmp_path / "docs")],
            "embedding": MODEL | {"baseUrl": fake},
            "contextualizer": LLM | {"baseUrl": fake},
        }
        (folder / "config.json").write_text(json.dumps(config | keys))
        return load_kb(folder)

    (tmp_path / "docs").mkdir()
    return new


@pytest.fixture
def stack(base_path: Path) -> Iterator[Stack]:
    opened = Stack(settings())
    yield opened
    opened.close()


def estimate(stack: Stack, kb: Kb, **options: Any) -> RunEstimate:
    engine: Any = stack.indexing
    found: RunEstimate = engine.estimate_kb(kb, **options)
    return found


def run(stack: Stack, kb: Kb, **options: Any) -> Any:
    engine: Any = stack.indexing
    return engine.run_kb(kb, **options)


def calls(fake: str, path: str = "") -> list[dict[str, Any]]:
    found = httpx.get(f"{fake}/fake/calls").json()
    return [call for call in found if path in call["path"]]


def read_by_llm(fake: str) -> int:
    from seoga_embedding.fake.protocols import ANTHROPIC
    from seoga_embedding.packing import tokens_of

    return sum(tokens_of(ANTHROPIC.prompt(call["body"])) for call in calls(fake, "/messages"))


def embedded(fake: str) -> int:
    from seoga_embedding.packing import tokens_of

    return sum(
        tokens_of(text) for call in calls(fake, "/embeddings") for text in call["body"]["input"]
    )


def within(estimated: float, real: float, share: float) -> bool:
    return abs(estimated - real) <= share * max(real, 1)


# As long as LLMs answer.
ANSWER = (
    "CONTEXT: The passage belongs to the part on leave of the staff rules of 2024, and says how"
    " many days an employee of the first year has, and from which day on they count."
    "\nKEYWORDS: 연차휴가, annual leave, 취업규칙, staff rules, 입사 첫해, first year, 휴가 일수"
)


def copy_corpus(handed: Path, docs: Path) -> None:
    taken = [
        path
        for folder in ("docx", "html", "hwpx", "md")
        for path in sorted((handed / folder).rglob("*"))
        if path.is_file() and path.stat().st_size < 60_000
    ]
    for number, path in enumerate(taken[::4][:40]):
        shutil.copy(path, docs / f"{number:03}{path.suffix}")


def test_an_estimate_of_real_files_is_near_what_the_run_takes(
    fake: str, make: Callable[..., Kb], stack: Stack, handed: Path, tmp_path: Path
) -> None:
    copy_corpus(handed, tmp_path / "docs")
    httpx.put(f"{fake}/fake/rules", json={"answer": ANSWER})
    kb = make()
    before = estimate(stack, kb)
    assert calls(fake) == []
    assert not kb.db_path.exists()
    assert not (settings().base_path / "embedding.db").exists()
    result = run(stack, kb)
    assert result.warnings == ()
    assert before.embedding is not None
    assert before.contexts is not None
    assert before.files == len(list((tmp_path / "docs").iterdir()))
    # Small files are read whole; of many of a kind a dozen stands for the others.
    assert within(before.chunks, result.chunks, 0.2)
    assert within(before.contexts.calls, len(calls(fake, "/messages")), 0.2)
    assert within(before.contexts.tokens, read_by_llm(fake), 0.3)
    assert within(before.embedding.tokens, embedded(fake), 0.3)
    assert within(before.embedding.calls, len(calls(fake, "/embeddings")), 0.6)
    assert before.cost is not None
    assert before.cost > 0


SCANS = {
    "pdf/markitdown__MEDRPT-2024-PAT-3847_medical_report_scan.pdf": 3,
    "pdf/fieldcuredocumentparsers__scanned_english.pdf": 1,
    "pdf/fieldcuredocumentparsers__scanned_korean.pdf": 1,
    "pdf/ocrmypdf__linn.pdf": 1,
}


@pytest.fixture
def scans(make: Callable[..., Kb], handed: Path, tmp_path: Path) -> int:
    """Scans among the documents; their pages."""
    for name in SCANS:
        shutil.copy(handed / name, tmp_path / "docs")
    return sum(SCANS.values())


@pytest.mark.skipif(not tesseract.installed("Hangul"), reason="tesseract is not installed")
def test_scans_are_estimated_by_their_first_page(
    fake: str,
    make: Callable[..., Kb],
    stack: Stack,
    scans: int,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    # What counts here is what is made of the pages, however long this machine takes for them.
    monkeypatch.setattr(sampling, "_ALL_S", 300.0)
    monkeypatch.setattr(sampling, "_ONE_S", 300.0)
    kb = make(contextualizer={})
    before = estimate(stack, kb)
    assert calls(fake) == []
    assert before.pages == scans
    assert before.minutes > 0
    assert not before.exact
    assert ".pdf: 4 of 4 files read, 1 of them in part" in before.basis
    result = run(stack, kb)
    assert before.embedding is not None
    assert within(before.chunks, result.chunks, 0.4)
    assert within(before.embedding.tokens, embedded(fake), 0.4)


def test_scans_that_take_too_long_are_guessed_by_their_pages(
    make: Callable[..., Kb], stack: Stack, scans: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sampling, "_ONE_S", -1.0)
    before = estimate(stack, make(contextualizer={}))
    assert before.pages == scans
    assert not before.exact
    assert before.embedding is not None
    # As much as pages usually hold.
    assert 200 * before.pages < before.embedding.tokens < 1800 * before.pages


def test_images_are_guessed_as_pages_and_said_to_be_guessed(
    fake: str, make: Callable[..., Kb], stack: Stack, handed: Path, tmp_path: Path
) -> None:
    docs = tmp_path / "docs"
    for path in (handed / "image").iterdir():
        if path.suffix in (".png", ".tif"):
            shutil.copy(path, docs)
    before = estimate(stack, make(contextualizer={}))
    assert before.pages == len(list(docs.iterdir())) == 3
    assert not before.exact
    assert ".png: usual sizes of such files" in before.basis
    assert before.embedding is not None
    assert before.embedding.tokens > 0


def test_what_is_unchanged_or_answered_costs_nothing(
    fake: str, make: Callable[..., Kb], stack: Stack, tmp_path: Path
) -> None:
    for number in range(5):
        (tmp_path / "docs" / f"{number}.md").write_text(f"# Title {number}\n\nWords {number}.\n")
    kb = make()
    run(stack, kb)
    quiet = estimate(stack, kb)
    assert (quiet.files, quiet.unchanged, quiet.calls, quiet.cost) == (0, 5, 0, 0.0)
    # Contexts are kept by chunk, prompt and model; vectors are made anew.
    forced = estimate(stack, kb, force=True)
    assert forced.contexts is not None
    assert forced.embedding is not None
    assert (forced.files, forced.contexts.calls, forced.embedding.asked) == (5, 0, 5)
    httpx.delete(f"{fake}/fake")
    run(stack, kb, force=True)
    assert calls(fake, "/messages") == []
    assert len(calls(fake, "/embeddings")) == forced.embedding.calls


@pytest.mark.parametrize(("partial", "contexts"), [("contextualization", 5), ("embedding", 0)])
def test_partial_runs_are_estimated_as_they_are(
    make: Callable[..., Kb], stack: Stack, tmp_path: Path, partial: str, contexts: int
) -> None:
    fake = str(make().config.embedding.base_url)
    for number in range(5):
        (tmp_path / "docs" / f"{number}.md").write_text(f"# Title {number}\n\nWords {number}.\n")
    kb = make()
    run(stack, kb)
    before = estimate(stack, kb, partial=partial)
    assert before.contexts is not None
    assert before.embedding is not None
    assert (before.contexts.calls, before.embedding.asked) == (contexts, 5)
    httpx.delete(f"{fake}/fake")
    run(stack, kb, partial=partial)
    assert len(calls(fake, "/messages")) == contexts
    # Contexts that come out the same cost no new vectors; an estimate cannot know that.
    made = before.embedding.calls if partial == "embedding" else 0
    assert len(calls(fake, "/embeddings")) == made


def test_moved_files_cost_nothing_and_one_changed_passage_costs_itself(
    fake: str, make: Callable[..., Kb], stack: Stack, tmp_path: Path
) -> None:
    docs = tmp_path / "docs"
    parts = "\n\n".join(f"## Part {n}\n\n" + f"words of part {n} " * 60 for n in range(6))
    (docs / "a.md").write_text(parts)
    (docs / "b.md").write_text("# Other\n\nThings.\n")
    kb = make(contextualizer={})
    run(stack, kb)
    (docs / "b.md").rename(docs / "c.md")
    (docs / "a.md").write_text(parts.replace("words of part 3 ", "sentences of it "))
    os.utime(docs / "a.md", ns=(1, 1))
    before = estimate(stack, kb)
    assert before.contexts is None
    assert before.embedding is not None
    httpx.delete(f"{fake}/fake")
    run(stack, kb)
    sent = [text for call in calls(fake, "/embeddings") for text in call["body"]["input"]]
    assert before.embedding.asked == len(sent) == 1


def test_another_model_is_estimated_for_all_that_is_stored(
    fake: str, make: Callable[..., Kb], stack: Stack, tmp_path: Path
) -> None:
    for number in range(4):
        (tmp_path / "docs" / f"{number}.md").write_text(f"# Title {number}\n\nWords {number}.\n")
    run(stack, make(contextualizer={}))
    other = make(contextualizer={}, embedding={**MODEL, "model": "own-model", "baseUrl": fake})
    before = estimate(stack, other)
    assert before.embedding is not None
    assert (before.files, before.unchanged, before.embedding.asked) == (0, 4, 4)
    assert before.cost is None


def test_the_command_says_what_it_would_take_in_words_and_json(
    make: Callable[..., Kb],
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    fake: str,
) -> None:
    # No key is needed to ask what it would cost.
    for name in ("OPENAI", "ANTHROPIC"):
        monkeypatch.delenv(f"{name}_API_KEY")
    (tmp_path / "docs" / "a.md").write_text("# Title\n\nWords.\n")
    kb = make()
    assert invoke(["exec", "--path", str(kb.folder), "--estimate"]) == 0
    said = capsys.readouterr().out
    assert "Estimate: files=1 unchanged=0 pages=0 chunks=1 " in said
    assert "US dollars" in said
    assert "Nothing was paid or written." in said
    assert invoke(["exec", "--path", str(kb.folder), "--estimate", "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert (told["files"], told["chunks"], told["calls"]) == (1, 1, 2)
    priceless = make(embedding={**MODEL, "model": "own-model", "baseUrl": fake})
    assert invoke(["exec", "--path", str(priceless.folder), "--estimate"]) == 0
    assert "Cost: unknown (set embedding.pricePerMillion)" in capsys.readouterr().out
    assert calls(fake) == []


def test_new_files_that_are_measured_by_those_of_the_index_need_contexts_of_their_own(
    make: Callable[..., Kb], stack: Stack, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for number in range(4):
        (tmp_path / "docs" / f"{number}.md").write_text(f"# Title {number}\n\nWords {number}.\n")
    kb = make()
    run(stack, kb)
    (tmp_path / "docs" / "new.md").write_text("# Title 9\n\nWords 9.\n")
    # Nothing new can be read in no time.
    monkeypatch.setattr(sampling, "_ALL_S", -1.0)
    before = estimate(stack, kb)
    assert before.basis[0] == ".md: 4 such files in the index"
    assert before.contexts is not None
    assert before.embedding is not None
    assert (before.contexts.asked, before.embedding.asked) == (1, 1)
