"""Small files finished where they are read: as by themselves, and nothing out of the ordinary."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import psutil
import pymupdf
import pytest

from seoga.contracts.extraction import Finishing
from seoga.errors import ServiceUnavailable
from seoga.settings import Settings
from seoga_extraction.engine import ExtractionEngine

SAID, BROKEN = "finishing_tasks:said", "finishing_tasks:broken"


@pytest.fixture
def engine(monkeypatch: pytest.MonkeyPatch) -> Iterator[ExtractionEngine]:
    """One child, which finds the tasks beside this file."""
    monkeypatch.setenv("PYTHONPATH", str(Path(__file__).parent))
    made = ExtractionEngine(Settings(extract_workers=1))
    yield made
    made.close()


def test_what_a_task_is_given_is_what_is_extracted(
    engine: ExtractionEngine, tmp_path: Path
) -> None:
    texts = {
        "a.md": "---\ntags: [x]\n---\n# 제목\n\n본문이다.\n\n| a | b |\n|---|---|\n| 1 | 2 |\n",
        "b.txt": "한 줄\n\n또 한 줄",
        "c.py": "def f():\n    return 1\n",
        "d.csv": "name,size\nx,1\n",
    }
    files = []
    for name, text in texts.items():
        (tmp_path / name).write_text(text, encoding="utf-8")
        files.append((tmp_path / name, name, [name, 1]))
    assert isinstance(engine, Finishing)
    made = engine.finish(files, SAID)
    for (path, name, told), one in zip(files, made, strict=True):
        info, *sections = engine.extract(path, name)
        assert one is not None
        assert one.value == [told, info.to_json(), [section.to_json() for section in sections]]
        assert one.texts == [section.text for section in sections]
        assert one.blobs == [section.text.encode() for section in sections]


def test_what_is_out_of_the_ordinary_is_left_to_extract(
    engine: ExtractionEngine, tmp_path: Path
) -> None:
    good = tmp_path / "good.md"
    good.write_text("text")
    (tmp_path / "empty.md").touch()
    (tmp_path / "binary.md").write_bytes(bytes(range(256)) * 9)
    os.mkfifo(tmp_path / "pipe.md")
    document = pymupdf.open()
    document.new_page().insert_text((72, 72), "words of a page")
    document.save(tmp_path / "pdf.md")
    names = ["empty.md", "good.md", "binary.md", "pipe.md", "pdf.md", "gone.md"]
    made = engine.finish([(tmp_path / name, name, name) for name in names], SAID)
    assert [one and one.value[0] for one in made] == [None, "good.md", None, None, None, None]


def test_a_task_that_fails_on_a_file_costs_that_file(
    engine: ExtractionEngine, tmp_path: Path
) -> None:
    (tmp_path / "a.md").write_text("text")
    told = ["first", "raise", "half", "zero", "last"]
    made = engine.finish([(tmp_path / "a.md", "a.md", what) for what in told], BROKEN)
    assert made == [("first", [], []), None, None, None, ("last", [], [])]


def test_a_task_that_ends_its_process_leaves_all_files_of_the_request(
    engine: ExtractionEngine, tmp_path: Path
) -> None:
    (tmp_path / "a.md").write_text("text")
    files = [(tmp_path / "a.md", "a.md", what) for what in ("first", "end", "last")]
    assert engine.finish(files, BROKEN) == [None, None, None]
    assert engine.finish(files[:1], BROKEN) == [("first", [], [])]
    assert len(psutil.Process().children()) == 1


def test_a_closed_engine_says_so(engine: ExtractionEngine, tmp_path: Path) -> None:
    engine.close()
    with pytest.raises(ServiceUnavailable):
        engine.finish([(tmp_path / "a.md", "a.md", None)], SAID)
