"""RTF: code pages, styles, tables, what hangs on the text, and hostile input."""

from __future__ import annotations

import random
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from seoga.errors import ExtractionFailed, Reason
from seoga.models import SectionKind

Reading = Callable[..., Any]

WRITTEN = Path(__file__).parent / "written"


def hexed(text: str, charset: str = "cp949") -> bytes:
    return "".join(f"\\'{byte:02x}" for byte in text.encode(charset)).encode()


HEAD = (
    b"{\\rtf1\\ansi\\ansicpg949\\deff0{\\fonttbl{\\f0\\fnil\\fcharset129 "
    + hexed("굴림")
    + b";}{\\f1\\fcharset0 Arial;}{\\f2\\fcharset2 Symbol;}{\\f3\\fcharset204 Cyr;}}"
    b"{\\colortbl;\\red0\\green0\\blue0;}{\\stylesheet{\\s0 Normal;}{\\s1\\outlinelevel0 big;}"
    b"{\\s2\\ilvl3 " + hexed("제목 2") + b";}}{\\*\\generator Made by x;}"
)


def rtf(body: bytes) -> bytes:
    return HEAD + body + b"}"


def test_text_is_read_by_the_charset_of_its_font(read: Reading) -> None:
    body = hexed("똠방각하") + b" \\f1 caf\\'e9 \\f3 " + hexed("Привет", "cp1251") + b"\\f2 a\\f0"
    body += b" \\uc1\\u44032?\\uc2\\u45208\\'b3\\'aa\\u55357\\'3f\\'3f\\u56832\\'3f\\'3f end\\par"
    assert read("a.rtf", rtf(body)).text == "똠방각하 café Приветα가나😀 end"


def test_headings_are_known_by_style_name_and_outline_level(read: Reading) -> None:
    body = b"\\pard\\s1 One\\par\\pard\\s2 Two\\par\\pard\\outlinelevel2 Three\\par\\pard text\\par"
    got = read("a.rtf", rtf(body))
    assert [(one.text, one.level) for one in got.of(SectionKind.HEADING)] == [
        ("# One", 1), ("## Two", 2), ("### Three", 3),
    ]  # fmt: skip
    assert got.sections[-1].heading_path == ("One", "Two", "Three")


def test_lists_have_the_marks_that_the_file_shows(read: Reading) -> None:
    body = (
        b"{\\listtext 1.\\tab}first\\par{\\listtext\\f2\\'b7\\tab}\\ilvl1 deep\\par"
        b"\\pard{\\pntext 2.\\tab}second\\par\\pard plain\\par"
    )
    assert read("a.rtf", rtf(body)).text == "1. first\n  - deep\n2. second\n\nplain"


def test_tables_repeat_what_is_merged_and_keep_inner_tables_in_their_cell(read: Reading) -> None:
    row = b"\\trowd%s\\cellx1\\cellx2\\pard\\intbl %s\\cell %s\\cell\\row"
    inner = (
        b"before\\par\\pard\\intbl\\itap2 x\\nestcell y\\nestcell"
        b"{\\*\\nesttableprops\\trowd\\cellx1\\nestrow}{\\nonesttables\\par}\\pard\\intbl"
    )
    body = row % (b"", b"k", b"v") + row % (b"", b"a\\par b", b"1") + row % (b"\\clvmrg", b"", b"2")
    got = read("a.rtf", rtf(body + row % (b"", inner, b"z") + b"\\pard after\\par"))
    assert got.sections[0].text == (
        "| k | v |\n| --- | --- |\n| a b | 1 |\n| a b | 2 |\n| before x, y | z |"
    )
    assert got.sections[1].text == "after"


def test_notes_comments_boxes_and_headers_come_once_after_their_paragraph(read: Reading) -> None:
    body = (
        b"{\\header\\pard Secret\\par}{\\footer\\pard 3\\par}body{\\footnote\\pard foot}"
        b"{\\footnote\\ftnalt end}{\\*\\atnid K}{\\*\\atnauthor Kim}{\\*\\annotation\\pard check}"
        b"{\\shp{\\*\\shpinst{\\sp{\\sn n}{\\sv v}}{\\shptxt\\pard box\\par}}{\\shprslt{\\pict 0}}}"
        b" goes on\\par"
    )
    got = read("a.rtf", rtf(body))
    assert [(one.kind.value, one.text) for one in got.sections] == [
        ("paragraph", "body[^1][^e1] goes on"),
        ("note", "[^1]: foot"),
        ("note", "[^e1]: end"),
        ("comment", "Comment by Kim: check"),
        ("paragraph", "box"),
        ("note", "Secret"),
    ]


def test_hidden_deleted_and_coded_text_does_not_leak(read: Reading) -> None:
    body = (
        b"a{\\v HIDDEN}{\\deleted GONE}{\\field{\\*\\fldinst HYPERLINK CODE}{\\fldrslt link}}"
        b"{\\*\\unknown THING}{\\pict\\bin9 }}}}{{{{\\}{\\xe INDEX}"
        b"{\\upr{OLD}{\\*\\ud{\\u45208?}}}\\par"
    )
    assert read("a.rtf", rtf(body)).text == "alink나"


def test_title_and_author_are_metadata(read: Reading) -> None:
    got = read("a.rtf", rtf(b"{\\info{\\title " + hexed("보고서") + b"}{\\author Kim}}text\\par"))
    assert (got.info.title, got.info.meta, got.text) == ("보고서", {"author": "Kim"}, "text")


def test_rtf_is_known_by_its_content(read: Reading) -> None:
    assert read("a.doc", rtf(b"x\\par")).info.format == "rtf"


def test_deep_groups_are_refused_and_open_ones_end(
    read: Reading, events: Callable[..., Any]
) -> None:
    with pytest.raises(ExtractionFailed) as failed:
        read("a.rtf", b"{\\rtf1" + b"{" * 100_000)
    assert failed.value.reason is Reason.TOO_LARGE
    text, error = events("a.rtf", b"{\\rtf1 x{\\footnote y{\\b z")
    assert text == "x[^1]\n\n[^1]: yz"
    assert (error.reason, "cut off" in error.message) == (Reason.CORRUPT, True)


def test_broken_files_end_soon_without_another_error(read: Reading) -> None:
    chance = random.Random(7)
    whole = (WRITTEN / "guide.rtf").read_bytes()
    started = time.monotonic()
    for _ in range(60):
        data = bytearray(whole)
        for _ in range(chance.randint(1, 20)):
            place = chance.randrange(10, len(data))
            data[place : place + chance.randint(0, 9)] = chance.choice([b"{", b"}", b"\\", b"\\u9"])
        with suppress(ExtractionFailed):
            read("a.rtf", bytes(data))
    assert time.monotonic() - started < 20


def test_a_broken_byte_costs_no_other_letter_and_is_told(read: Reading) -> None:
    data = "".join(f"\\'{byte:02x}" for byte in "회의록을 보냅니다".encode("cp949"))
    got = read("a.rtf", f"{{\\rtf1\\ansi\\ansicpg949 {data}\\'ff\\par {data}\\par}}")
    assert got.text == "회의록을 보냅니다\ufffd\n\n회의록을 보냅니다"
    assert got.info.meta["note"] == "1 place holds bytes that are not cp949: each reads as \ufffd."
