"""Hostile and broken files: each gives its reason soon, in little memory; the next is served."""

from __future__ import annotations

import csv
import io
import os
import random
import struct
import threading
import time
import zipfile
import zlib
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

import psutil
import pytest

from seoga.errors import ExtractionFailed, Reason
from seoga.models import DocumentInfo, Section
from seoga.settings import Settings
from seoga_extraction.detect import formats
from seoga_extraction.engine import FORMATS, ExtractionEngine
from seoga_extraction.format import MAX_INNER

MOST_SECONDS = 30
MOST_MIB = 1024
PASSWORD = "123456"
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
# Broken on purpose, but what is left of it can be read.
PARTIAL = {
    "poi__clusterfuzz-testcase-minimized-POIXWPFFuzzer-6733884933668864.docx",
    "unstructured__fake-power-point-malformed.pptx",
}


class Watch(threading.Thread):
    """The most MiB that a child of this process held while it was watched."""

    def __init__(self) -> None:
        super().__init__(daemon=True)
        self.most = 0
        self._end = threading.Event()

    def run(self) -> None:
        while not self._end.wait(0.02):
            for child in psutil.Process().children():
                with suppress(psutil.Error):
                    self.most = max(self.most, child.memory_info().rss >> 20)

    def stop(self) -> None:
        self._end.set()
        self.join()


@dataclass(frozen=True)
class Outcome:
    """How one file ended."""

    reason: Reason | None
    message: str
    format: str
    text: str
    seconds: float


Try = Callable[[str, Path], Outcome]


@pytest.fixture(scope="module")
def attacked(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ExtractionEngine]:
    """An engine of one child: what it is left with serves the next file."""
    given = tmp_path_factory.mktemp("given") / "passwords"
    given.write_text(f"{PASSWORD}\n")
    settings = Settings(
        extract_workers=1, extract_timeout_s=240, ocr_page_s=20, passwords_file=str(given)
    )
    engine = ExtractionEngine(settings)
    yield engine
    engine.close()


@pytest.fixture
def attempt(attacked: ExtractionEngine, tmp_path: Path) -> Iterator[Try]:
    """Extracts a file, then an innocent one; the whole test stays within the memory allowed."""
    innocent = tmp_path / "innocent"
    innocent.write_text("# Next\n\nserved")
    watch = Watch()
    watch.start()

    def read(name: str, path: Path) -> Outcome:
        kind, texts, reason, message = "", [], None, ""
        started = time.monotonic()
        try:
            for event in attacked.extract(path, name):
                if isinstance(event, DocumentInfo):
                    kind = event.format
                else:
                    texts.append(event.text)
        except ExtractionFailed as error:
            reason, message = error.reason, error.message
        seconds = time.monotonic() - started
        after = [one.text for one in attacked.extract(innocent, "a.md") if isinstance(one, Section)]
        assert after == ["# Next", "served"]
        return Outcome(reason, message, kind, "\n".join(texts), seconds)

    yield read
    watch.stop()
    assert watch.most < MOST_MIB


def rows(handed: Path) -> list[dict[str, str]]:
    with (handed / "MANIFEST.tsv").open(encoding="utf-8", newline="") as stream:
        return list(csv.DictReader(stream, delimiter="\t", quoting=csv.QUOTE_NONE))


def test_the_hostile_and_broken_files_of_the_corpus(attempt: Try, handed: Path) -> None:
    wrong, tried = [], 0
    for row in rows(handed):
        truth = row["ground_truth"]
        if row["kind"].startswith(("md", "audio")) or "error" not in truth or "no error" in truth:
            continue
        path = handed / row["path"]
        got = attempt(path.name, path)
        tried += 1
        refused = got.reason in (Reason.CORRUPT, Reason.ENCRYPTED, Reason.UNSUPPORTED)
        if got.seconds > MOST_SECONDS or not (refused or path.name in PARTIAL):
            wrong.append((path.name, got.reason, got.seconds))
    assert tried >= 15
    assert not wrong


def zipped(members: dict[str, bytes], packing: int = zipfile.ZIP_DEFLATED) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", packing) as archive:
        for name, data in members.items():
            archive.writestr(name, data)
    return out.getvalue()


W = 'xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main"'


def docx(body: str, head: str = "", **more: bytes) -> bytes:
    document = f"{head}<w:document {W}><w:body>{body}</w:body></w:document>"
    return zipped({"word/document.xml": document.encode(), **more})


def many_entries() -> bytes:
    return zipped({"word/document.xml": b"<x/>", **{f"f/{n}": b"" for n in range(20_001)}})


def same_bytes_many_times() -> bytes:
    """A thousand members that are one piece of the file (a bomb without nesting)."""
    packed = zlib.compressobj(9, zlib.DEFLATED, -15)
    plain = bytes(4 << 20)
    body = packed.compress(plain) + packed.flush()
    fixed = struct.pack("<HHHHH", 20, 0, 8, 0, 0)
    sizes = struct.pack("<III", zlib.crc32(plain), len(body), len(plain))
    name = b"word/document.xml"
    local = b"PK\x03\x04" + fixed + sizes + struct.pack("<HH", len(name), 0) + name + body
    one = b"PK\x01\x02" + struct.pack("<H", 20) + fixed + sizes
    directory = b""
    for number in range(1000):
        label = name if not number else b"%04d" % number
        directory += one + struct.pack("<HHHHHII", len(label), 0, 0, 0, 0, 0, 0) + label
    end = struct.pack("<HHHHIIH", 0, 0, 1000, 1000, len(directory), len(local), 0)
    return local + directory + b"PK\x05\x06" + end


def nested_zips() -> bytes:
    """A document in a document in a document …, deeper than files are followed."""
    data = docx("<w:p><w:r><w:t>innermost</w:t></w:r></w:p>")
    rel = (
        b'<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships">'
        b'<Relationship Id="r1" Type="http://x/aFChunk" Target="inner.docx"/></Relationships>'
    )
    r = 'xmlns:r="http://schemas.openxmlformats.org/officeDocument/2006/relationships"'
    for level in range(MAX_INNER + 3):
        data = docx(
            f'<w:p><w:r><w:t>level {level}</w:t></w:r></w:p><w:altChunk {r} r:id="r1"/>',
            **{"word/_rels/document.xml.rels": rel, "word/inner.docx": data},
        )
    return data


def lying(size: int) -> bytes:
    """The directory claims `size` bytes where the member has another number."""
    data = docx("<w:p><w:r><w:t>x</w:t></w:r></w:p>" * 50_000)
    true = len(zipfile.ZipFile(io.BytesIO(data)).read("word/document.xml"))
    return data.replace(struct.pack("<I", true), struct.pack("<I", size))


LAUGHS = "".join(f'<!ENTITY l{n} "{f"&l{n - 1};" * 10}">' for n in range(1, 12))
XML_BOMB = f'<!DOCTYPE x [<!ENTITY l0 "lol">{LAUGHS}]>'
BOMBED = f"{XML_BOMB}<x>&l11;</x>".encode()
NESTED_TABLE = "<w:tbl><w:tr><w:tc>"
END_TABLE = "</w:tc></w:tr></w:tbl>"
GROUP, END_GROUP = "<p:grpSp>", "</p:grpSp>"
PPTX = (
    '<p:sld xmlns:p="p" xmlns:a="a"><p:cSld><p:spTree>'
    f"{GROUP * 20_000}{END_GROUP * 20_000}</p:spTree></p:cSld></p:sld>"
)
EPUB = (
    b'<package><manifest><item id="a" href="a.xhtml" media-type="application/xhtml+xml"/>'
    b'</manifest><spine><itemref idref="a"/></spine></package>'
)
CONTAINER = b'<container><rootfiles><rootfile full-path="c.opf"/></rootfiles></container>'


def mails(depth: int) -> bytes:
    head = "".join(
        f'Content-Type: multipart/mixed; boundary="b{n}"\n\n--b{n}\n' for n in range(depth)
    )
    return f"From: a@b.c\nTo: d@e.f\nMIME-Version: 1.0\n{head}\nbody\n".encode()


ATTACKS: dict[str, tuple[str, Callable[[], bytes], set[Reason | None]]] = {
    "zip bomb": (
        "a.docx",
        lambda: zipped({"word/document.xml": bytes(300 << 20)}),
        {Reason.TOO_LARGE},
    ),
    "zip of many entries": ("a.docx", many_entries, {Reason.TOO_LARGE}),
    "zip of overlapping members": (
        "a.docx",
        same_bytes_many_times,
        {Reason.TOO_LARGE, Reason.CORRUPT},
    ),
    "nested zips": ("a.docx", nested_zips, {None, Reason.TOO_LARGE}),
    "zip in a zip": ("a.zip", lambda: zipped({"a.zip": zipped({"b": b""})}), {Reason.UNSUPPORTED}),
    "size told too small": ("a.docx", lambda: lying(100), {Reason.CORRUPT}),
    "size told too large": ("a.docx", lambda: lying(3 << 30), {Reason.TOO_LARGE}),
    "XML bomb in Word": ("a.docx", lambda: docx("&l11;", XML_BOMB), {None, Reason.CORRUPT}),
    "XML bomb in Excel": (
        "a.xlsx",
        lambda: zipped({"xl/workbook.xml": BOMBED, "xl/worksheets/sheet1.xml": BOMBED}),
        {Reason.CORRUPT},
    ),
    "XML bomb in HWPX": (
        "a.hwpx",
        lambda: zipped({"Contents/section0.xml": BOMBED}),
        {None, Reason.CORRUPT},
    ),
    "XML bomb in HTML": ("a.html", lambda: BOMBED, {None}),
    "tables nested in Word": (
        "a.docx",
        lambda: docx(NESTED_TABLE * 20_000 + END_TABLE * 20_000),
        {Reason.CORRUPT},
    ),
    "groups nested in PowerPoint": (
        "a.pptx",
        lambda: zipped({"ppt/slides/slide1.xml": PPTX.encode(), "ppt/presentation.xml": BOMBED}),
        {None, Reason.CORRUPT},
    ),
    "elements nested in HTML": ("a.html", lambda: b"<div>" * 200_000, {None, Reason.CORRUPT}),
    "tables nested in HTML": (
        "a.html",
        lambda: b"<table><tr><td>" * 20_000,
        {None, Reason.CORRUPT},
    ),
    "lists nested in Markdown": (
        "a.md",
        lambda: "\n".join(f"{' ' * (2 * n)}- x" for n in range(2000)).encode(),
        {None},
    ),
    "quotes nested in Markdown": ("a.md", lambda: b"> " * 100_000 + b"deep", {None}),
    "brackets in Markdown": ("a.md", lambda: b"[" * 200_000 + b"(" * 200_000, {None}),
    "groups nested in RTF": (
        "a.rtf",
        lambda: rb"{\rtf1 " + b"{" * 500_000 + b"deep",
        {None, Reason.CORRUPT},
    ),
    "directives nested in reStructuredText": (
        "a.rst",
        lambda: "\n".join(f"{' ' * (3 * n)}.. note::\n" for n in range(1000)).encode(),
        {None, Reason.CORRUPT},
    ),
    "parts nested in a mail": ("a.eml", lambda: mails(5000), {None, Reason.CORRUPT}),
    "chapter nested in a book": (
        "a.epub",
        lambda: zipped(
            {
                "mimetype": b"application/epub+zip",
                "META-INF/container.xml": CONTAINER,
                "c.opf": EPUB,
                "a.xhtml": b"<html><body>" + b"<div>" * 100_000 + b"deep",
            }
        ),
        {None, Reason.CORRUPT},
    ),
    "a line of 50 MiB": ("a.txt", lambda: b"x" * (50 << 20), {None, Reason.TOO_LARGE}),
    "a CSV of one quote": ("a.csv", lambda: b'a,b\n"' + b"x,y\n" * 1_000_000, {None}),
    "pages that are their own parents": (
        "a.pdf",
        lambda: (
            b"%PDF-1.4\n1 0 obj<</Type/Catalog/Pages 2 0 R>>endobj\n"
            b"2 0 obj<</Type/Pages/Kids[2 0 R 2 0 R]/Count 9999999>>endobj\n"
            b"trailer<</Root 1 0 R>>\n%%EOF"
        ),
        {Reason.CORRUPT, Reason.NO_TEXT},
    ),
}


@pytest.mark.parametrize("attack", ATTACKS)
def test_attacks_are_refused_or_read_soon_and_in_little_memory(
    attempt: Try, tmp_path: Path, attack: str
) -> None:
    name, make, allowed = ATTACKS[attack]
    path = tmp_path / "attack"
    path.write_bytes(make())
    got = attempt(name, path)
    assert got.reason in allowed, got.message
    assert got.seconds < MOST_SECONDS
    assert "lollol" not in got.text


@pytest.mark.parametrize(
    ("name", "head"),
    [
        *((name, b"") for name in ("a.txt", "a.pdf", "a.docx", "a.hwp", "a.png", "a.csv", "a")),
        ("a.pdf", b"%PDF-1.7\n"),
        ("a.docx", b"PK\x03\x04"),
        ("a.hwp", b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"),
        ("a.txt", b"text that goes on with nothing\n"),
        ("a.png", b"\x89PNG\r\n\x1a\n"),
        ("a.html", b"<!doctype html><html>"),
        ("a.rtf", rb"{\rtf1 "),
        ("a.wav", b"RIFF\xff\xff\xff\x7fWAVEfmt "),
    ],
)
def test_a_gigabyte_of_nothing_is_refused_soon(
    attempt: Try, tmp_path: Path, name: str, head: bytes
) -> None:
    path = tmp_path / "sparse"
    path.write_bytes(head)
    os.truncate(path, 1 << 30)
    got = attempt(name, path)
    assert got.reason in FAIR - {None, Reason.EMPTY} | {Reason.MISSING_MODEL}, got.message
    assert got.seconds < MOST_SECONDS


def leaves(count: int) -> bytes:
    """A PDF of so many pages of one line, written by hand: programs take minutes for it."""
    objects = [
        b"<</Type/Catalog/Pages 2 0 R>>",
        b"<</Type/Pages/Count %d/Kids[%s]>>"
        % (count, b" ".join(b"%d 0 R" % (4 + 2 * n) for n in range(count))),
        b"<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>",
    ]
    for number in range(count):
        text = b"BT /F 12 Tf 20 50 Td (leaf %d) Tj ET" % number
        objects.append(
            b"<</Type/Page/Parent 2 0 R/MediaBox[0 0 300 200]/Contents %d 0 R"
            b"/Resources<</Font<</F 3 0 R>>>>>>" % (5 + 2 * number)
        )
        objects.append(b"<</Length %d>>stream\n%s\nendstream" % (len(text), text))
    out, places = bytearray(b"%PDF-1.4\n"), []
    for number, body in enumerate(objects, 1):
        places.append(len(out))
        out += b"%d 0 obj%s\nendobj\n" % (number, body)
    start = len(out)
    out += b"xref\n0 %d\n0000000000 65535 f \n" % (len(objects) + 1)
    out += b"".join(b"%010d 00000 n \n" % place for place in places)
    size = len(objects) + 1
    return bytes(out) + b"trailer<</Root 1 0 R/Size %d>>\nstartxref\n%d\n%%%%EOF" % (size, start)


def test_ten_thousand_pages_are_read_page_by_page(attempt: Try, tmp_path: Path) -> None:
    path = tmp_path / "long.pdf"
    path.write_bytes(leaves(10_000))
    got = attempt("long.pdf", path)
    assert got.reason is None
    assert got.text.count("## Page ") == 10_000
    assert got.text.endswith("leaf 9999")


def test_an_empty_file_is_empty_whatever_its_name(attempt: Try, tmp_path: Path) -> None:
    path = tmp_path / "zero"
    path.write_bytes(b"")
    names = [f"a{ending}" for one in formats(FORMATS) for ending in one.extensions]
    assert len(names) > 60
    assert {attempt(name, path).reason for name in names} == {Reason.EMPTY}


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
        "META-INF/container.xml": CONTAINER,
        "c.opf": EPUB,
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
