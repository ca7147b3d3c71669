"""Questions about real files of all formats: index, hybrid search, the file and the answer in it.

Measured: 33 of 34 questions and 29 of 30 answers. The one that is missed is an
English question about a Korean file, a hundredth below the threshold of the builtin model.
Left out here for the time of a test: scans and recordings that an accepted file beside them says in
other bytes, and large files among those that nobody asks for.
"""

from __future__ import annotations

import json
import re
import shutil
from dataclasses import dataclass
from pathlib import Path

import pytest

from seoga.kb import Kb, create_kb
from seoga.search.engine import SearchRequest, search
from seoga.wiring import Stack

TOP3, ANSWERED = 0.90, 0.85
# Of several recordings and scans of one text, the ones that are read here.
READ = {
    "audio/whisper__jfk.flac",
    "audio/fieldcuredocumentparsers__kennedy.mp3",
    "audio/leopard__test_ko.wav",
    "pdf_derived_scans/ko_card_tables_scan200.pdf",
}
SLOW = ("audio", "audio_derived", "pdf_derived_scans")
# What nobody asks for, to be told apart from what is asked for.
OTHERS = ("docx", "xlsx", "pptx", "hwp", "hwpx", "html", "html_confluence", "txt")
OTHERS_BYTES = 40_000


@dataclass(frozen=True)
class Question:
    """`files` answer it; all of `answer` stands in one of the first five passages."""

    id: str
    query: str
    files: frozenset[str]
    answer: tuple[str, ...]


@pytest.fixture(scope="module")
def questions(handed: Path) -> list[Question]:
    lines = (handed / "ground_truth" / "file_qa.jsonl").read_text(encoding="utf-8").splitlines()
    rows = [json.loads(line) for line in lines]
    return [
        Question(row["id"], row["query"], frozenset(row["files"]), tuple(row["answer_contains"]))
        for row in rows
    ]


@pytest.fixture(scope="module")
def docs(handed: Path, questions: list[Question], tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The files of the questions among about a hundred others."""
    folder = tmp_path_factory.mktemp("files")
    wanted = {name for one in questions for name in one.files}
    taken = {name for name in wanted if name in READ or not name.startswith(SLOW)}
    for kind in OTHERS:
        small = (one for one in (handed / kind).iterdir() if one.stat().st_size < OTHERS_BYTES)
        taken |= {f"{kind}/{one.name}" for one in small}
    for name in taken:
        (folder / name).parent.mkdir(exist_ok=True)
        shutil.copy(handed / name, folder / name)
    return folder


@pytest.fixture(scope="module")
def kb(docs: Path, stack: Stack) -> Kb:
    """Indexed with vectors."""
    made = create_kb(stack.settings.base_path, docs, "files")
    result = stack.indexing.run_kb(made)
    assert result.warnings == ()
    assert result.indexed > 100
    return made


def bare(text: str) -> str:
    """Without white space and case."""
    return re.sub(r"\s", "", text).casefold()


@pytest.mark.timeout(900)
def test_the_right_file_comes_first_and_its_passages_hold_the_answer(
    kb: Kb, stack: Stack, questions: list[Question]
) -> None:
    missed: list[tuple[str, str]] = []
    unanswered: list[tuple[str, str]] = []
    for one in questions:
        answer = search([kb], SearchRequest(query=one.query, top_k=5), stack.embedding)
        assert answer.mode == "hybrid"
        if not any(hit.path in one.files for hit in answer.hits[:3]):
            missed.append((one.id, answer.message or str([hit.path for hit in answer.hits])))
        texts = [bare(hit.text) for hit in answer.hits]
        if not all(any(bare(part) in text for text in texts) for part in one.answer):
            unanswered.append((one.id, str(one.answer)))
    asked = sum(bool(one.answer) for one in questions)
    assert len(questions) >= 34
    assert 1 - len(missed) / len(questions) >= TOP3, missed
    assert 1 - len(unanswered) / asked >= ANSWERED, unanswered


# Mode, fusion and the shares refused: at least of nonsense and of what is off topic, at most of
# what can be answered (by words alone those that cross languages cannot). The rule was fitted to
# other questions.
REFUSED = [
    ("auto", "convex", (0.95, 0.9, 0.03)),
    ("bm25", "convex", (0.95, 0.9, 0.27)),
    ("auto", "gated", (0.95, 0.75, 0.03)),
]
NOISE = Path(__file__).parent / "search_cases" / "noise.tsv"


@pytest.mark.timeout(900)
@pytest.mark.parametrize("bars", REFUSED)
def test_nonsense_and_what_is_off_topic_is_refused_and_what_can_be_answered_is_not(
    kb: Kb, stack: Stack, questions: list[Question], bars: tuple[str, str, tuple[float, ...]]
) -> None:
    mode, fusion, (nonsense, off_topic, answerable) = bars
    lines = NOISE.read_text(encoding="utf-8").splitlines()[1:]
    asked: dict[str, list[str]] = {"answerable": [one.query for one in questions]}
    for line in lines:
        kind, query = line.split("\t")
        asked.setdefault(kind, []).append(query)

    def refuses(query: str) -> bool:
        request = SearchRequest(query, mode=mode, fusion=fusion)
        return not search([kb], request, stack.embedding).hits

    refused = {kind: list(filter(refuses, queries)) for kind, queries in asked.items()}
    share = {kind: len(refused[kind]) / len(asked[kind]) for kind in asked}
    assert len(lines) >= 60
    assert share["nonsense"] >= nonsense, (share, set(asked["nonsense"]) - set(refused["nonsense"]))
    assert share["off-topic"] >= off_topic, set(asked["off-topic"]) - set(refused["off-topic"])
    assert share["answerable"] <= answerable, refused["answerable"]
