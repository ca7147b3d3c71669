"""While everything is indexed again, searches go on: no error, and nothing is missing."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections import Counter
from pathlib import Path
from typing import Final

import pytest

from seoga.kb import Kb, find_kb
from seoga.search.engine import search
from seoga.search.request import SearchRequest
from seoga.settings import Settings
from seoga.wiring import build_stack

FILES: Final = 120
WORDS: Final = ("사과", "engine", "보고서", "pear", "v2.3.1", "회의록")


@pytest.fixture
def kb(tmp_path: Path) -> Kb:
    """Texts of which each word is said by a sixth, with vectors of the hashing model."""
    docs, folder = tmp_path / "docs", tmp_path / "base" / "kb"
    docs.mkdir()
    folder.mkdir(parents=True)
    for number in range(FILES):
        word = WORDS[number % len(WORDS)]
        (docs / f"note-{number:03}.md").write_text(f"# {number}\n\n" + f"{word} 문서 text\n\n" * 60)
    config = {"id": "kb", "sourcePaths": [str(docs)], "embedding": {"provider": "hashing"}}
    (folder / "config.json").write_text(json.dumps(config))
    return find_kb(tmp_path / "base", "kb")


def started(kb: Kb, *more: str) -> subprocess.Popen[bytes]:
    command = [sys.executable, "-m", "seoga.cli.main", "exec", "--path", str(kb.folder), *more]
    environment = {**os.environ, "SEOGA_BASE_PATH": str(kb.folder.parent)}
    return subprocess.Popen(
        command, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )


def test_searches_during_a_full_reindex_have_no_error_and_find_what_they_found(kb: Kb) -> None:
    assert started(kb).wait(300) == 0
    stack = build_stack(Settings(base_path=kb.folder.parent))
    expected = FILES // len(WORDS)
    asked: Counter[str] = Counter()
    run = started(kb, "--force")
    try:
        for turn in range(20_000):
            if run.poll() is not None:
                break
            word, mode = WORDS[turn % len(WORDS)], ("bm25", "auto")[turn // len(WORDS) % 2]
            request = SearchRequest(word, top_k=50, mode=mode, fold=False, per_document=1)
            answer = search([kb], request, stack.embedding)
            found = {hit.path for hit in answer.hits if word in hit.text}
            assert len(found) == expected, (turn, word, mode, answer.warnings)
            asked[mode] += 1
        assert run.wait(300) == 0
    finally:
        run.kill()
        run.wait()
        stack.close()
    assert min(asked["bm25"], asked["auto"]) >= len(WORDS)
