"""HWP 5: records, controls, locked and distribution documents, and the corpus in all its forms."""

from __future__ import annotations

import json
import re
import struct
import zlib
from collections import Counter, defaultdict, deque
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes
from hypothesis import given
from hypothesis import strategies as st

from seoga.errors import ExtractionFailed, Reason
from seoga.models import SectionKind
from seoga.text.normal import nfc
from seoga_extraction.formats._hancom.model import Styles
from seoga_extraction.formats._hancom.story import Story
from seoga_extraction.formats.hwp.body import Body
from seoga_extraction.formats.hwp.password import key_of
from seoga_extraction.formats.hwp.records import MAX_RECORDS, Tag, records

from .compound import compound

Reading = Callable[..., Any]

SIGNATURE = b"HWP Document File".ljust(32, b"\x00")


def record(tag: int, level: int, data: bytes = b"") -> bytes:
    if len(data) < 0xFFF:
        return struct.pack("<I", len(data) << 20 | level << 10 | tag) + data
    return struct.pack("<II", 0xFFF << 20 | level << 10 | tag, len(data)) + data


def string(text: str) -> bytes:
    data = text.encode("utf-16-le")
    return struct.pack("<H", len(data) // 2) + data


def paragraph(text: str, *controls: bytes, level: int = 0, shape: int = 0) -> bytes:
    """`{}` in the text stands for a control (eight units); the control records follow."""
    units = text.replace("{}", "\x0b" + "\x00" * 6 + "\x0b") + "\r"
    head = struct.pack("<IIHB", len(units), 0, shape, 0).ljust(22, b"\x00")
    out = record(Tag.PARA_HEADER, level, head)
    return out + record(Tag.PARA_TEXT, level + 1, units.encode("utf-16-le")) + b"".join(controls)


def control(name: str, level: int, data: bytes = b"") -> bytes:
    return record(Tag.CTRL_HEADER, level, name.encode()[::-1] + data)


def listed(level: int, *paragraphs: str, more: bytes = b"") -> bytes:
    head = struct.pack("<II", len(paragraphs), 0) + more
    body = (paragraph(one, level=level) for one in paragraphs)
    return record(Tag.LIST_HEADER, level, head) + b"".join(body)


def table(*cells: tuple[int, int, int, int, str]) -> bytes:
    """Cells are row, column, row span, column span, text."""
    out = control("tbl ", 1) + listed(2, "표 제목") + record(Tag.TABLE, 2, bytes(18))
    for row, column, rows, columns, text in cells:
        out += listed(2, text, more=struct.pack("<HHHH", column, row, columns, rows))
    return out


def document(
    section: bytes,
    flags: int = 1,
    info: bytes = b"",
    storage: str = "BodyText",
    cipher: Callable[[bytes], bytes] = bytes,
) -> bytes:
    def packed(data: bytes) -> bytes:
        deflate = zlib.compressobj(9, zlib.DEFLATED, -15)
        return cipher(deflate.compress(data) + deflate.flush() if flags & 1 else data)

    return compound(
        {
            "FileHeader": SIGNATURE + struct.pack("<IIII", 0x05010000, flags, 0, 4),
            "DocInfo": packed(info),
            f"{storage}/Section0": packed(section),
        }
    )


def test_text_comes_with_its_signs_and_without_its_controls(read: Reading) -> None:
    section = paragraph("가\t\0\0\0\0\0\0\t나\n다\x1e라 😀", control("cold", 1))
    got = read("a.hwp", document(section + paragraph("둘째")))
    assert [one.text for one in got.sections] == ["가\t나\n다 라 😀", "둘째"]


def test_tables_stand_on_their_grid_with_their_caption(read: Reading) -> None:
    cells = ((0, 0, 2, 1, "A"), (0, 1, 1, 1, "1"), (1, 1, 1, 1, "x|y"))
    got = read("a.hwp", document(paragraph("앞{}", table(*cells))))
    assert [one.text for one in got.sections] == [
        "앞",
        "표 제목",
        "| A | 1 |\n| --- | --- |\n| A | x\\|y |",
    ]


def test_notes_memos_margins_and_equations_are_told_apart(read: Reading) -> None:
    script = record(Tag.EQEDIT, 2, bytes(4) + string("a over b"))
    controls = (
        control("eqed", 1) + script,
        control("fn  ", 1) + listed(2, "각주"),
        control("head", 1) + listed(2, "머리말"),
        control("tcmt", 1) + listed(2, "숨김"),
        control("tdut", 1, string("본") + string("덧")),
        record(Tag.MEMO_LIST, 1, bytes(4)) + listed(1, "메모"),
    )
    master = record(Tag.LIST_HEADER, 0) + paragraph("바탕쪽")
    got = read("a.hwp", document(paragraph("식 {}{}{}{}{} 끝", *controls) + master))
    assert [(one.kind, one.text) for one in got.sections] == [
        (SectionKind.PARAGRAPH, "식 [math: \\frac{a}{b}][^1]본(덧) 끝"),
        (SectionKind.NOTE, "[^1]: 각주"),
        (SectionKind.COMMENT, "숨김"),
        (SectionKind.COMMENT, "메모"),
        (SectionKind.NOTE, "머리말"),
    ]
    assert got.sections[0].meta["math"] == ["a over b"]


def test_outlines_and_numbers_come_from_the_document_info(read: Reading) -> None:
    levels = b"".join(
        struct.pack("<IHHI", code << 5, 0, 0, 0) + string(text)
        for code, text in ((0, "제^1장"), (8, "^2."), *((0, f"^{n}") for n in range(3, 8)))
    )
    info = record(Tag.NUMBERING, 1, levels + struct.pack("<H", 0))
    for kind, level in ((0, 0), (1, 0), (1, 1), (2, 1)):
        bits = struct.pack("<I", kind << 23 | level << 25)
        info += record(Tag.PARA_SHAPE, 1, bits.ljust(30, b"\x00") + struct.pack("<H", 1))
    section = control("secd", 1, bytes(14) + struct.pack("<H", 1))
    body = paragraph("{}총칙", section, shape=1) + paragraph("목적", shape=2)
    got = read("a.hwp", document(body + paragraph("항목", shape=3) + paragraph("글"), info=info))
    assert [one.text for one in got.sections] == ["# 제1장 총칙", "## 가. 목적", "  가. 항목", "글"]
    assert got.info.title == "제1장 총칙"


@pytest.mark.parametrize("bit", [1, 4, 8, 10])
def test_locked_documents_say_so(read: Reading, bit: int) -> None:
    with pytest.raises(ExtractionFailed, match="protected") as failed:
        read("a.hwp", document(paragraph("x"), flags=1 | 1 << bit))
    assert failed.value.reason is Reason.ENCRYPTED


def enciphered(password: bytes, data: bytes) -> bytes:
    """Bit by bit, as the format of Hangul does it."""
    encryptor = Cipher(algorithms.AES(key_of(password)), modes.ECB()).encryptor()
    register, out = 0, 0
    for at in range(8 * len(data)):
        mask = encryptor.update(register.to_bytes(16, "big"))[0] >> 7
        bit = data[at // 8] >> (7 - at % 8) & 1 ^ mask
        register = (register << 1 | bit) & ((1 << 128) - 1)
        out = out << 1 | bit
    return out.to_bytes(len(data), "big")


@pytest.mark.parametrize("spelling", ["utf-8", "cp949"])
def test_a_document_with_a_password_opens_with_it_and_no_other(
    read: Reading, tmp_path: Path, spelling: str
) -> None:
    cipher = partial(enciphered, "비밀번호1".encode(spelling))
    info = record(Tag.DOCUMENT_PROPERTIES, 0, bytes(26))
    locked = document(paragraph("감춘 글"), flags=3, info=info, cipher=cipher)
    file = tmp_path / "passwords"
    options = {"passwords_file": str(file)}
    file.write_text("x\n비밀번호1\n", encoding="utf-8")
    assert read("a.hwp", locked, options).text == "감춘 글"
    file.write_text("x\ny\n", encoding="utf-8")
    with pytest.raises(ExtractionFailed, match="any of the 2 passwords") as failed:
        read("a.hwp", locked, options)
    assert failed.value.reason is Reason.ENCRYPTED


def test_an_older_encryption_says_that_it_is_not_known(read: Reading) -> None:
    data = document(paragraph("x"), flags=3)
    old = data.replace(
        struct.pack("<IIII", 0x05010000, 3, 0, 4), struct.pack("<IIII", 0x05010000, 3, 0, 2)
    )
    with pytest.raises(ExtractionFailed, match="encryption version 2"):
        read("a.hwp", old)


def test_a_distribution_document_is_read_and_its_notice_is_not(read: Reading, handed: Path) -> None:
    got = read("a.hwp", (handed / "hwp" / "hwplib__distribution.hwp").read_bytes())
    assert "2025년 강남세움센터 시설관리원 용역업체 선정" in got.text
    assert "배포용 문서" not in got.text
    assert got.info.meta["distribution"] == "true"


@pytest.mark.parametrize("storage", ["ViewText", "BodyText"])
def test_a_distribution_document_without_its_key_gives_no_text(read: Reading, storage: str) -> None:
    notice = paragraph("이 문서는 상위 버전의 배포용 문서입니다.")
    with pytest.raises(ExtractionFailed) as failed:
        read("a.hwp", document(notice, flags=5, storage=storage))
    assert failed.value.reason in (Reason.ENCRYPTED, Reason.CORRUPT)


def test_hwp_3_is_refused_by_name(read: Reading, handed: Path) -> None:
    with pytest.raises(ExtractionFailed, match="HWP 3") as failed:
        read("a.hwp", (handed / "hwp" / "tika__testHWP_3.0.hwp").read_bytes())
    assert failed.value.reason is Reason.UNSUPPORTED
    assert "HWPX" in failed.value.hint


@pytest.mark.parametrize("share", [0.05, 0.3, 0.6, 0.9])
def test_a_cut_file_is_corrupt(read: Reading, share: float) -> None:
    data = document(b"".join(paragraph(f"{n * 7919 % 10007} 줄") for n in range(5000)))
    with pytest.raises(ExtractionFailed) as failed:
        read("a.hwp", data[: int(len(data) * share)])
    assert failed.value.reason is Reason.CORRUPT


def test_bombs_are_refused(read: Reading) -> None:
    with pytest.raises(ExtractionFailed) as inflated:
        read("a.hwp", document(bytes(64 << 20)))
    assert inflated.value.reason is Reason.TOO_LARGE
    with pytest.raises(ExtractionFailed) as many:
        deque(records(bytes(4 * MAX_RECORDS + 4)), maxlen=0)
    assert many.value.reason is Reason.TOO_LARGE


def test_deep_nesting_ends_with_an_error_or_text() -> None:
    deep = b""
    for level in range(0, 1020, 3):
        deep += paragraph("{}", control("gso ", level + 1), level=level)
        deep += record(Tag.SHAPE_COMPONENT, level + 2) + record(Tag.LIST_HEADER, level + 3)
    with pytest.raises(RecursionError):
        list(Story(Styles()).sections(Body(Styles(), lambda _: None).paragraphs(deep)))


TAGS = st.sampled_from([*Tag, 68, 999])
LEAVES = st.tuples(TAGS, st.integers(0, 6), st.binary(max_size=60))


@given(st.lists(LEAVES, max_size=40), st.binary(max_size=3))
def test_any_records_give_sections_or_an_extraction_error(
    parts: list[tuple[int, int, bytes]], rest: bytes
) -> None:
    data = b"".join(record(*part) for part in parts) + rest
    # Anything else than an error of this kind fails the test.
    with suppress(ExtractionFailed):
        list(Story(Styles()).sections(Body(Styles(), lambda _: None).paragraphs(data)))


def words(text: str) -> Counter[str]:
    """The words outside equations and page marks."""
    text = re.sub(r"\[math: .*?\]|^## Page \d+$", " ", text, flags=re.MULTILINE)
    return Counter(re.findall(r"[^\W_]+", nfc(text)))


def agreement(one: Counter[str], other: Counter[str]) -> float:
    total = sum(one.values()) + sum(other.values())
    return 2 * sum((one & other).values()) / total if total else 1.0


def text_of(read: Reading, path: Path) -> str:
    return str(read(path.name, path.read_bytes()).text)


def test_hwp_and_hwpx_of_one_document_agree(read: Reading, handed: Path) -> None:
    pairs = [
        (path, twin)
        for path in sorted((handed / "hwp").glob("*.hwp"))
        if (twin := handed / "hwpx" / f"{path.stem}.hwpx").exists()
    ]
    assert len(pairs) >= 10
    for path, twin in pairs:
        assert agreement(words(text_of(read, path)), words(text_of(read, twin))) >= 0.95, path.name


def test_hwp_hwpx_and_pdf_of_one_document_agree(read: Reading, handed: Path) -> None:
    names = ("hwp/hwp2md__hangul5test.hwp", "hwpx/hwp2md__한글_테스트.hwpx")
    pdf = words(text_of(read, handed / "pdf" / "hwp2md__pdf_테스트.pdf"))
    both = [words(text_of(read, handed / name)) for name in names]
    assert agreement(*both) >= 0.99
    for one in both:
        assert agreement(one, pdf) >= 0.95


def test_every_equation_of_the_corpus_is_found_with_its_script(read: Reading, handed: Path) -> None:
    wanted: dict[str, list[str]] = defaultdict(list)
    truth = handed / "ground_truth" / "hwp_equations.jsonl"
    for line in truth.read_text(encoding="utf-8").splitlines():
        row = json.loads(line)
        wanted[row["file"]].append(re.sub(r"\s", "", row["script"]))
    for name, scripts in wanted.items():
        got = read(name, (handed / name).read_bytes())
        found = [script for one in got.sections for script in one.meta.get("math", ())]
        assert Counter(re.sub(r"\s", "", one) for one in found) == Counter(scripts), name
        assert got.text.count("[math: ") == len(scripts)


def test_the_answers_of_the_questions_are_in_the_text(read: Reading, handed: Path) -> None:
    def squeezed(text: str) -> str:
        return re.sub(r"\s", "", nfc(text)).casefold()

    questions = handed / "ground_truth" / "file_qa.jsonl"
    for line in questions.read_text(encoding="utf-8").splitlines():
        question = json.loads(line)
        for name in question["files"]:
            if name.startswith(("hwp/", "hwpx/")):
                text = squeezed(text_of(read, handed / name))
                assert all(squeezed(one) in text for one in question["answer_contains"]), name
