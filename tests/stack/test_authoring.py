"""The advice of AUTHORING.md, measured: both versions of each document among other papers."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from seoga.kb import Kb, create_kb
from seoga.search.engine import SearchRequest, search
from seoga.wiring import Stack

GUIDE = Path(__file__).parents[2] / "AUTHORING.md"
PAPERS = Path(__file__).parent / "search_cases" / "documents.md"
POORER, BETTER = 0, 1
TOLD = re.compile(r"^→ (\S+): (not found|place (\d+))$", re.MULTILINE)


@dataclass(frozen=True)
class Version:
    """Documents by path, and the place (0: not found) that the guide tells of one of them."""

    documents: dict[str, str]
    path: str
    place: int


@dataclass(frozen=True)
class Advice:
    """A question and both versions of what should answer it."""

    question: str
    versions: tuple[Version, ...]


def advice() -> list[Advice]:
    """Of the guide."""
    asked = re.split(r"^Asked: `([^`]+)`$", GUIDE.read_text(encoding="utf-8"), flags=re.MULTILINE)
    pairs = zip(asked[1::2], asked[2::2], strict=True)
    return [Advice(question, tuple(versions(rest))) for question, rest in pairs]


def versions(text: str) -> Iterator[Version]:
    at = 0
    for told in TOLD.finditer(text):
        fences = re.findall(
            r"^```markdown (\S+)\n(.*?)^```$", text[at : told.start()], re.MULTILINE | re.DOTALL
        )
        yield Version(dict(fences), told[1], int(told[3] or 0))
        at = told.end()


def library(stack: Stack, folder: Path, which: int) -> Kb:
    """The papers with one version of each advice among them."""
    parts = PAPERS.read_text(encoding="utf-8").split("=== ")[1:]
    documents = dict(part.split("\n", 1) for part in parts)
    for one in advice():
        documents |= one.versions[which].documents
    for name, text in documents.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text, encoding="utf-8")
    kb = create_kb(stack.settings.base_path, folder, folder.name)
    assert stack.indexing.run_kb(kb).indexed == len(documents)
    return kb


@pytest.mark.timeout(600)
def test_each_advice_reaches_the_place_that_the_guide_tells(stack: Stack, tmp_path: Path) -> None:
    every = advice()
    told: dict[tuple[str, int], int] = {}
    reached: dict[tuple[str, int], int] = {}
    for which in (POORER, BETTER):
        kb = library(stack, tmp_path / f"library{which}", which)
        for one in every:
            answer = search([kb], SearchRequest(one.question, top_k=10), stack.embedding)
            paths = list(dict.fromkeys(hit.path for hit in answer.hits))
            version = one.versions[which]
            told[one.question, which] = version.place
            found = version.path in paths
            reached[one.question, which] = paths.index(version.path) + 1 if found else 0
    assert len(every) >= 8
    assert reached == told
    assert all(told[one.question, POORER] != told[one.question, BETTER] for one in every)
