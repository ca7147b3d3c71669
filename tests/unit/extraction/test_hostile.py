"""Hostile and broken files: each gives its reason soon, in little memory; the next is served."""

from __future__ import annotations

import csv
import io
import os
import struct
import zipfile
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from seoga.errors import ExtractionFailed, Reason
from seoga.settings import Settings
from seoga_extraction.detect import formats
from seoga_extraction.engine import FORMATS, ExtractionEngine
from seoga_extraction.format import MAX_INNER

Try = Callable[[str, Path], Any]
MOST_SECONDS = 30
# Broken on purpose, but what is left of it can be read.
PARTIAL = {
    "poi__clusterfuzz-testcase-minimized-POIXWPFFuzzer-6733884933668864.docx",
    "unstructured__fake-power-point-malformed.pptx",
}
# What a file of nothing may be refused for.
REFUSED = {
    Reason.BINARY,
    Reason.CORRUPT,
    Reason.MISSING_MODEL,
    Reason.NO_TEXT,
    Reason.TOO_LARGE,
    Reason.UNSUPPORTED,
}


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


def one_page(content: bytes) -> bytes:
    packed = zlib.compress(content)
    return (
        b"%%PDF-1.4\n1 0 obj<</Type/Catalog/Pages 2 0 R>>endobj\n"
        b"2 0 obj<</Type/Pages/Kids[3 0 R]/Count 1>>endobj\n"
        b"3 0 obj<</Type/Page/Parent 2 0 R/MediaBox[0 0 300 300]/Contents 4 0 R"
        b"/Resources<</Font<</F1<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>>>>>>>endobj\n"
        b"4 0 obj<</Filter/FlateDecode/Length %d>>stream\n%s\nendstream endobj\n"
        b"trailer<</Root 1 0 R>>\n%%%%EOF" % (len(packed), packed)
    )


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
        {Reason.TOO_LARGE},
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
        {Reason.TOO_LARGE},
    ),
    "directives nested in reStructuredText": (
        "a.rst",
        lambda: "\n".join(f"{' ' * (3 * n)}.. note::\n" for n in range(1000)).encode(),
        {None, Reason.CORRUPT},
    ),
    "parts nested in a mail": ("a.eml", lambda: mails(5000), {None, Reason.TOO_LARGE}),
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
    "a page of instructions that inflate": (
        "a.pdf",
        lambda: one_page(b"BT /F1 12 Tf (bomb) Tj ET " * 3_000_000),
        {Reason.TOO_LARGE},
    ),
    "elements beside each other in Word": (
        "a.docx",
        lambda: docx("<w:p/>" * 6_500_000),
        {Reason.TOO_LARGE},
    ),
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


def test_a_page_that_needs_too_much_memory_is_told_as_too_large(tmp_path: Path) -> None:
    settings = Settings(cache_path=tmp_path, offline=True, extract_workers=1, extract_memory_mb=192)
    path = tmp_path / "a.pdf"
    path.write_bytes(one_page(b"BT /F1 12 Tf 20 20 Td (many letters) Tj ET " * 200_000))
    engine = ExtractionEngine(settings)
    try:
        with pytest.raises(ExtractionFailed, match="Page 1 of the PDF needs more memory") as told:
            list(engine.extract(path, "a.pdf"))
    finally:
        engine.close()
    assert told.value.reason is Reason.TOO_LARGE


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
    assert got.reason in REFUSED, got.message
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
