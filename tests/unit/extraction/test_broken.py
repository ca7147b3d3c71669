"""One file of each format, cut and altered: text or a reason, soon, and the next is served."""

from __future__ import annotations

import io
import random
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from seoga.errors import Reason

Try = Callable[[str, Path], Any]
MOST_SECONDS = 30
# What a file may be refused for; crashes and faults of our own are none of it.
FAIR = {
    None,
    Reason.BINARY,
    Reason.CORRUPT,
    Reason.EMPTY,
    Reason.ENCRYPTED,
    Reason.NO_TEXT,
    Reason.TOO_LARGE,
    Reason.UNSUPPORTED,
}


def zipped(members: dict[str, bytes]) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as archive:
        for name, data in members.items():
            archive.writestr(name, data)
    return out.getvalue()


SAMPLES = {
    "docx": "docx/mammoth.js__footnotes.docx",
    "xlsx": "xlsx/docling__xlsx_01.xlsx",
    "pptx": "pptx/fieldcuredocumentparsers__simple_text.pptx",
    "hwp": "hwp/hwplib__각주미주.hwp",
    "hwpx": "hwpx/hwp2hwpx__footnote_endnote.hwpx",
    "pdf": "pdf/pdfminer.six__simple1.pdf",
    "html": "html/docling__formatting.html",
}


@pytest.mark.parametrize("kind", SAMPLES)
def test_content_decides_whatever_the_name_says(attempt: Try, handed: Path, kind: str) -> None:
    for ending in (".bin", ".docx", ".pdf", ".hwp", ".txt", ""):
        got = attempt(f"a{ending}", handed / SAMPLES[kind])
        assert (got.format, got.reason) == (kind, None)


def written() -> dict[str, tuple[str, bytes]]:
    """One small file of each format that the corpus lacks."""
    table = b"=== ===\n a   b\n=== ===\n 1   2\n=== ===\n\n"
    rst = b"Title\n=====\n\n.. note:: x\n\n" + table + b":ref:`x`\n\n"
    rtf = rb"{\rtf1\ansi\ansicpg949{\fonttbl{\f0\fcharset129 A;}}\pard \u44032?\'b0\'a1 {\b x}\par}"
    mail = (
        b"From: a@b.c\nTo: d@e.f\nSubject: =?utf-8?b?7ZWc6riA?=\nMIME-Version: 1.0\n"
        b'Content-Type: multipart/mixed; boundary="x"\n\n--x\nContent-Type: text/html; '
        b"charset=euc-kr\n\n<p>\xb0\xa1</p><table><tr><td>1</table>\n--x--\n"
    )
    book = {
        "mimetype": b"application/epub+zip",
        "META-INF/container.xml": b"<container><rootfiles>"
        b'<rootfile full-path="c.opf"/></rootfiles></container>',
        "c.opf": b'<package><manifest><item id="a" href="a.xhtml" '
        b'media-type="application/xhtml+xml"/></manifest><spine><itemref idref="a"/></spine>'
        b"</package>",
        "a.xhtml": b"<html><body><h1>A</h1><p>text</p></body></html>",
    }
    content = (
        b'<office:document-content xmlns:office="o" xmlns:text="t"><office:body><office:text>'
        b"<text:h>A</text:h><text:p>text</text:p></office:text></office:body>"
        b"</office:document-content>"
    )
    kind = b"application/vnd.oasis.opendocument.text"
    return {
        "md": ("a.md", b"---\nt: x\n---\n# T\n\n| a |\n|---|\n| 1 |\n\n```py\nx\n```\n- a\n" * 9),
        "rst": ("a.rst", rst * 5),
        "rtf": ("a.rtf", rtf),
        "csv": ("a.csv", b'a,b,"c, d"\n1,2,"x\ny"\n' * 50),
        "py": ("a.py", b"def f(x):\n    return x\n\nclass A:\n    pass\n" * 20),
        "eml": ("a.eml", mail),
        "epub": ("a.epub", zipped(book)),
        "odt": ("a.odt", zipped({"mimetype": kind, "content.xml": content})),
    }


FUZZED = {
    **SAMPLES,
    "encrypted hwpx": "hwpx/kordoc__HWP5-password-123456.hwpx",
    "encrypted xlsx": "xlsx/poi__protected_passtika.xlsx",
    "distribution hwp": "hwp/hwplib__distribution.hwp",
    "cp949": "txt/charsetnormalizer__sample-korean.txt",
    "utf-16": "txt/unstructured__fake-text-utf-16-le.txt",
    **dict.fromkeys(written(), ""),
}


def broken(data: bytes, dice: random.Random) -> Iterator[bytes]:
    """Cut at each tenth; bytes altered; pieces lost and doubled."""
    for tenth in range(1, 10):
        yield data[: len(data) * tenth // 10]
    for flips in (1, 1, 3, 3, 10, 10, 40, 40):
        altered = bytearray(data)
        for _ in range(flips):
            altered[dice.randrange(len(data))] = dice.randrange(256)
        yield bytes(altered)
    for _ in range(3):
        start = dice.randrange(len(data))
        end = min(len(data), start + dice.randrange(1, 2000))
        yield data[:start] + data[end:]
        yield data[:end] + data[start:]


@pytest.mark.parametrize("kind", FUZZED)
def test_cut_and_altered_files_of_each_format_end_with_text_or_a_reason(
    attempt: Try, handed: Path, tmp_path: Path, kind: str
) -> None:
    name, data = written().get(kind) or (FUZZED[kind], (handed / FUZZED[kind]).read_bytes())
    path = tmp_path / "broken"
    for version in broken(data, random.Random(kind)):
        path.write_bytes(version)
        got = attempt(name, path)
        assert got.reason in FAIR, got.message
        assert got.seconds < MOST_SECONDS
