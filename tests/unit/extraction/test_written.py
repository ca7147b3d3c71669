"""One document that pandoc wrote in six formats: the same headings, words, list and table.

The files in `written/` were made from guide.md (`pandoc -s guide.md -o guide.odt` and so on).
"""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from seoga.models import SectionKind

Reading = Callable[..., Any]

WRITTEN = Path(__file__).parent / "written"
FORMATS = ("docx", "odt", "epub", "rtf", "rst", "md")
TABLE = "| 항목 | 값 |\n| --- | --- |\n| 포트 | 8080 |\n| 시간 초과 | 30초 |"


def guide(read: Reading, ending: str) -> Any:
    got = read(f"guide.{ending}", (WRITTEN / f"guide.{ending}").read_bytes())
    assert got.info.format == ("markdown" if ending == "md" else ending)
    return got


@pytest.mark.parametrize("ending", FORMATS)
def test_headings_have_their_path(read: Reading, ending: str) -> None:
    paths = [one.heading_path[-2:] for one in guide(read, ending).of(SectionKind.HEADING)]
    assert paths[-2:] == [("시작하기", "준비물"), ("시작하기", "실행")]


@pytest.mark.parametrize("ending", FORMATS)
def test_lists_tables_and_code_are_whole(read: Reading, ending: str) -> None:
    got = guide(read, ending)
    (text,) = [one.text for one in got.of(SectionKind.LIST) if "파이썬" in one.text]
    assert [line.strip() for line in text.split("\n") if line.strip()] == [
        "1. 파이썬 3.11", "2. 메모리 4 GiB", "- 여유 공간", "- swap", "3. 포트 8080",
    ]  # fmt: skip
    if ending != "md":
        assert [one.text for one in got.of(SectionKind.TABLE)] == [TABLE]
    # RTF has no way to say that text is a program.
    kind = SectionKind.PARAGRAPH if ending == "rtf" else SectionKind.CODE
    assert 'def run(port: int) -> None:\n    print("서고", port)' in "".join(
        one.text for one in got.of(kind)
    )


@pytest.mark.parametrize("ending", FORMATS)
def test_no_word_is_lost(read: Reading, ending: str) -> None:
    got = guide(read, ending)
    words = set(re.findall(r"[^\W_]+", got.info.title + got.text))
    source = (WRITTEN / "guide.md").read_text(encoding="utf-8")
    source = re.sub(r"\$\$?[^$]+\$\$?|https?://[\w./]+|^---.*?---", "", source, flags=re.DOTALL)
    wanted = set(re.findall(r"[^\W_]+", source)) - {"python", "1"}
    assert not wanted - words


@pytest.mark.parametrize("ending", ["docx", "odt", "rtf", "rst"])
def test_footnotes_are_notes_with_their_mark(read: Reading, ending: str) -> None:
    (note,) = guide(read, ending).of(SectionKind.NOTE)
    assert note.text == "[^1]: 각주 내용입니다. A footnote."


def test_the_title_of_the_metadata_is_the_title(read: Reading) -> None:
    for ending in ("docx", "odt", "epub"):
        info = guide(read, ending).info
        assert (info.title, info.meta["author"]) == ("설치 안내서", "김서고")
