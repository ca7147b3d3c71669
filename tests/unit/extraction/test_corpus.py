"""Every real document gives text or the right reason, in bounded time, and the engine lives on."""

from __future__ import annotations

import csv
import time
from pathlib import Path

import pytest

from seoga.errors import ExtractionFailed, Reason
from seoga.models import DocumentInfo, Section, SectionKind
from seoga_extraction.engine import ExtractionEngine

READ = ("md", "txt", "html", "html_confluence", "docx", "xlsx", "pptx", "hwp", "hwpx", "pdf",
        "pdf_derived_scans", "image")  # fmt: skip
# Small files that say a thing again and again: their beginning is kept.
REPEATING = {"poi__poc-shared-strings.xlsx"}
# Its image is cut off, and with it the end of the file; the text before that is read.
CUT = {
    "pdf.js__scan-bad.pdf",
    # One of its two pages is a loop.
    "pdf.js__Pages-tree-refs.pdf",
}
# Nothing but a picture without a word.
PICTURES = {"hwplib__blank.hwp", "hwplib__그림.hwp"}
# Broken on purpose, but what is left of it can be read.
PARTIAL = {
    "poi__clusterfuzz-testcase-minimized-POIXWPFFuzzer-6733884933668864.docx",
    "unstructured__fake-power-point-malformed.pptx",
}


def rows(handed: Path, folders: tuple[str, ...]) -> list[dict[str, str]]:
    with (handed / "MANIFEST.tsv").open(encoding="utf-8", newline="") as stream:
        found = list(csv.DictReader(stream, delimiter="\t", quoting=csv.QUOTE_NONE))
    return [row for row in found if row["path"].split("/")[0] in folders]


def outcome(engine: ExtractionEngine, path: Path) -> tuple[list[Section], Reason | None]:
    events: list[object] = []
    reason = None
    started = time.monotonic()
    try:
        events.extend(engine.extract(path, path.name))
    except ExtractionFailed as error:
        reason = error.reason
    # Recognising scans takes its time; refusing a file must not.
    assert time.monotonic() - started < (30 if reason else 200)
    assert reason or isinstance(events[0], DocumentInfo)
    sections = [one for one in events if isinstance(one, Section)]
    return sections, reason


# Dozens of pages are recognised: on a slow or busy machine that takes minutes.
@pytest.mark.timeout(1200)
@pytest.mark.parametrize("folder", READ)
def test_real_files_give_text_or_the_right_reason(
    engine: ExtractionEngine, handed: Path, folder: str
) -> None:
    wrong = []
    for row in rows(handed, (folder,)):
        path = handed / row["path"]
        sections, reason = outcome(engine, path)
        # Some name another file there: only words count.
        truth = "" if row["ground_truth"].startswith("md/") else row["ground_truth"]
        broken = "error" in truth and "no error" not in truth
        if broken and path.name not in PARTIAL:
            good = reason in (Reason.CORRUPT, Reason.ENCRYPTED, Reason.UNSUPPORTED)
        elif "password: " in truth:
            good = reason is Reason.ENCRYPTED
        elif path.name in REPEATING:
            good = reason is Reason.TOO_LARGE and bool(sections)
        elif path.name in CUT:
            good = reason is Reason.CORRUPT and bool(sections)
        elif path.name in PICTURES:
            good = reason is Reason.NO_TEXT
        elif folder.startswith("pdf"):
            good = reason in (None, Reason.NO_TEXT, Reason.EMPTY)
        else:
            good = reason is None
        if not good:
            wrong.append((row["path"], reason))
        assert all(section.text.strip() for section in sections)
    assert not wrong


@pytest.mark.parametrize(
    ("path", "words"),
    [
        ("docx/langchainkr__sample-word-document.docx", "임베딩"),
        ("docx/markitdown__test.docx", "314b0a30-5b04-470b-b9f7-eed2c2bec74a"),
        ("html/markitdown__test_blog.html", "an example where high cost can easily prevent"),
        ("txt/unstructured__UDHR_first_article_all.txt", "모든 인간은 태어날 때부터 자유로우며"),
        ("pdf/markitdown__test.pdf", "While there is contemporaneous exploration of multi-agent"),
        ("pdf/unstructured__copy-protected.pdf", "LayoutParser: A Unified Toolkit"),
        ("pdf/pypdf__r6-empty-password.pdf", "p"),
    ],
)
def test_known_words_are_found(
    engine: ExtractionEngine, handed: Path, path: str, words: str
) -> None:
    sections, reason = outcome(engine, handed / path)
    assert reason is None
    assert words in "\n".join(one.text for one in sections if one.kind is not SectionKind.PAGE)


def test_strict_and_transitional_word_files_give_the_same(
    engine: ExtractionEngine, handed: Path
) -> None:
    strict, _ = outcome(engine, handed / "docx" / "docling__Strict.docx")
    usual, _ = outcome(engine, handed / "docx" / "docling__Transitional.docx")
    assert [one.text for one in strict] == [one.text for one in usual]


def test_a_small_file_that_repeats_itself_keeps_its_beginning_and_says_so(
    engine: ExtractionEngine, handed: Path
) -> None:
    path = handed / "xlsx" / "poi__poc-shared-strings.xlsx"
    sections, reason = outcome(engine, path)
    assert reason is Reason.TOO_LARGE
    assert 100_000 < sum(len(one.text) for one in sections) < 30 * path.stat().st_size
