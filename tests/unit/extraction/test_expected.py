"""Reference outputs of other readers: the words they find, we find; misses stand with a reason."""

from __future__ import annotations

import html
import json
import re
from pathlib import Path

from seoga.errors import ExtractionFailed
from seoga.models import Section
from seoga_extraction.engine import ExtractionEngine

RECALL = 0.95
NEEDED = 36
# Marks, addresses and mathematics are written in more than one way: no words of either side.
_AWAY = re.compile(
    r"<!--.*?-->|\$\$.*?\$\$|\$[^$\n]+\$|\[math: .*?\]|!?\[[^\]]*\]\((?:data:|#)[^)]*\)|"
    r"\]\([^)\s]*\)|https?://\S+|www\.\S+|\S+@\S+\.\w+",
    re.DOTALL,
)
_WORD = re.compile(r"[^\W_]+")
OTHERS = {"hwp2md_expected.md": "hwpx/hwp2md__한글_테스트.hwpx"}
# Why a reference is not reached.
MISSES = {
    "formatting.html.md": "there H<sub>2</sub>O is three words, here it stays one (0.93)",
    "right_to_left_01.pdf.md": "the text layer has lam-alef ligatures the wrong way round (0.89)",
}
ANSWERED = (".docx", ".html", ".md", ".txt", ".pptx", ".xlsx", ".hwp", ".hwpx")


def words(text: str) -> set[str]:
    """The distinct words of a text, in lower case."""
    text = _AWAY.sub(" ", html.unescape(text))
    return set(_WORD.findall(text.replace("\\", "").lower()))


def original(handed: Path, reference: Path) -> Path:
    """The document that a reference output was made from."""
    if other := OTHERS.get(reference.name):
        return handed / other
    name = f"docling__{reference.name.removesuffix('.md')}"
    folder = name.rpartition(".")[2].replace("xlsm", "xlsx")
    return handed / folder / name


def recall(engine: ExtractionEngine, path: Path, reference: Path) -> tuple[float, list[str]]:
    """The share of the reference's words that our text has, and the words that it lacks."""
    wanted = words(reference.read_text(encoding="utf-8"))
    events = engine.extract(path, path.name)
    try:
        got = words("\n\n".join(one.text for one in events if isinstance(one, Section)))
    except ExtractionFailed as error:
        return 0.0, [error.reason.value]
    missing = sorted(wanted - got)
    return 1 - len(missing) / max(len(wanted), 1), missing


def references(handed: Path) -> list[Path]:
    """All reference outputs."""
    return sorted((handed / "expected").rglob("*.md"))


def test_the_words_of_reference_outputs_are_found(engine: ExtractionEngine, handed: Path) -> None:
    found = {one.name: recall(engine, original(handed, one), one) for one in references(handed)}
    missed = {name: pair for name, pair in found.items() if pair[0] < RECALL}
    table = "\n".join(f"{share:.3f} {name} {lacks[:20]}" for name, (share, lacks) in missed.items())
    assert len(found) - len(missed) >= NEEDED, table
    assert set(missed) <= set(MISSES), table


def bare(text: str) -> str:
    """Without white space and case."""
    return re.sub(r"\s", "", text).casefold()


def test_the_answers_of_the_questions_stand_in_the_text(
    engine: ExtractionEngine, handed: Path
) -> None:
    questions = handed / "ground_truth" / "file_qa.jsonl"
    lacking, asked = [], 0
    for line in questions.read_text(encoding="utf-8").splitlines():
        question = json.loads(line)
        for name in question["files"]:
            if not name.endswith(ANSWERED):
                continue
            asked += 1
            events = engine.extract(handed / name, name)
            text = bare("".join(one.text for one in events if isinstance(one, Section)))
            lacking += [
                (question["id"], name, answer)
                for answer in question["answer_contains"]
                if bare(answer) not in text
            ]
    assert asked
    assert not lacking
