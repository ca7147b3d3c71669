"""Text, its charsets, source code and tables."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from seoga.errors import ExtractionFailed, Reason
from seoga.models import Place, SectionKind
from seoga_extraction.charset import decode, is_text

Reading = Callable[..., object]

KOREAN = "보고서는 3월 31일까지 제출합니다.\n담당자: 김철수\n\n문의는 총무과로 하십시오.\n" * 3
ENGLISH = "The report is due on 31 March.\n\nAsk the office.\n"


@pytest.mark.parametrize("text", [KOREAN, ENGLISH, KOREAN + ENGLISH])
@pytest.mark.parametrize(
    "charset",
    ["utf-8", "utf-8-sig", "utf-16", "utf-16-le", "utf-16-be", "utf-32", "utf-32-le", "utf-32-be"],
)
def test_unicode_is_read_with_and_without_a_byte_order_mark(text: str, charset: str) -> None:
    data = text.encode(charset)
    assert is_text(data)
    assert decode(data)[0] == text


@pytest.mark.parametrize("charset", ["cp949", "euc-kr"])
@pytest.mark.parametrize("text", [KOREAN, "김철수", "서울특별시 종로구 세종대로 209 (세종로)"])
def test_legacy_korean_is_not_read_as_anything_else(text: str, charset: str) -> None:
    data = text.encode(charset)
    assert decode(data) == (text, "cp949")


def test_syllables_outside_ks_x_1001_are_read() -> None:
    text = "똠방각하와 펲시맨이 봤다고 말했다. 그것은 사실이 아니었다.\n"
    assert decode(text.encode("cp949"))[0] == text


def test_western_accents_are_not_taken_for_korean() -> None:
    text = "Les élèves étaient déjà là, à côté de la fenêtre; où est le théâtre ?\n" * 4
    assert decode(text.encode("cp1252"))[0].startswith("Les élèves étaient déjà")


def test_japanese_and_chinese_are_not_taken_for_korean() -> None:
    japanese = "会議の議事録を作成してください。明日までにお願いします。\n" * 4
    assert decode(japanese.encode("euc-jp"))[0] == japanese
    chinese = "這是一個測試文件，請在明天之前完成報告並提交給辦公室。\n" * 4
    assert decode(chinese.encode("big5"))[0] == chinese


def test_surrogates_written_as_utf_8_are_the_signs_that_they_mean() -> None:
    assert decode("a \ud83d\ude00 b".encode("utf-8", "surrogatepass")) == (
        "a \U0001f600 b",
        "utf-8",
    )
    assert decode(b"abc \xed\xa0\x80 def") == ("abc \ufffd def", "utf-8")


def test_one_broken_byte_does_not_cost_the_text() -> None:
    data = KOREAN.encode() + b"\xff" + KOREAN.encode()
    text, charset = decode(data)
    assert charset == "utf-8"
    assert text.count("\ufffd") == 1


@pytest.mark.parametrize("cut", [b"\xff", b"\x80", "글".encode("cp949")[:1], b" \x96 "])
@pytest.mark.parametrize("at", ["first", "middle", "last"])
def test_a_broken_byte_makes_no_other_language_of_legacy_korean(cut: bytes, at: str) -> None:
    lines = [f"제{number}조 종합검진을 지원한다.".encode("cp949") for number in range(60)]
    lines[{"first": 0, "middle": 30, "last": 59}[at]] += cut
    text, charset = decode(b"\n".join(lines))
    assert charset == "cp949"
    assert text.count("종합검진") == 60
    assert text.count("\ufffd") == 1


@pytest.mark.parametrize("text", [KOREAN, "김철수\n", "표 A 참조", "젋은 이가 졌다. 뷁\n" + KOREAN])
@pytest.mark.parametrize("blank", [b"\xa0", b"\xa0\xa0", b" \xa0"])
def test_a_no_break_space_of_another_charset_costs_no_letter_of_korean(
    read: Reading, text: str, blank: bytes
) -> None:
    data = blank + text.encode("cp949").replace(b" ", blank) + blank
    said = text.replace(" ", " " * len(blank))
    assert decode(data)[0].strip() == said.strip()
    got = read("a.txt", data)
    count = data.count(b"\xa0")
    # The letters of two bytes that it begins or ends are none.
    count -= text.encode("cp949").count(b"\xa0")
    there = f"{count} no-break spaces (A0) are" if count > 1 else "1 no-break space (A0) is"
    note = f"{there} not cp949, the first in line 1: each reads as a blank."
    assert got.info.meta == {"charset": "cp949", "note": note}


def test_a_no_break_space_is_told_with_its_line_beside_other_bytes(read: Reading) -> None:
    data = "\n".join(["가나다라 마바사입니다."] * 6).encode("cp949")
    got = read("a.txt", data + b"\n\xa0\xb0\xa1\xb3\xaa\n\xff\n")
    assert got.info.meta["note"] == (
        "1 no-break space (A0) is not cp949, the first in line 7: each reads as a blank. "
        "1 byte is not cp949, the first in line 8: each such place reads as \ufffd."
    )
    assert "\n 가나\n\ufffd" in got.text


@pytest.mark.parametrize("between", ["", "\n", " "])
def test_a_list_of_all_syllables_is_read_whole(between: str) -> None:
    text = between.join(map(chr, range(0xAC00, 0xD7A4)))
    assert decode(text.encode("cp949")) == (text, "cp949")


@pytest.mark.parametrize("charset", ["euc-kr", "ks_c_5601-1987", "cp949", "utf-8", "shift_jis"])
def test_a_broken_byte_in_a_short_text_leaves_its_declared_charset(charset: str) -> None:
    text = "議事録です" if charset == "shift_jis" else "안녕하세요"
    codec = "cp949" if charset == "ks_c_5601-1987" else charset
    assert decode(text.encode(codec) + b"\xff", charset) == (text + "\ufffd", charset)


def test_a_broken_byte_in_a_short_korean_text_makes_no_other_language_of_it() -> None:
    assert decode("안녕하세요".encode("cp949") + b"\xff") == ("안녕하세요\ufffd", "cp949")


@pytest.mark.parametrize("declared", ["iso-8859-1", "windows-1252", "us-ascii"])
def test_korean_that_is_declared_as_western_is_korean(declared: str) -> None:
    assert decode(KOREAN.encode("cp949"), declared) == (KOREAN, "cp949")
    western = "Les élèves étaient déjà là, à côté de la fenêtre; où est « le » théâtre ? 30°C\n"
    assert decode(western.encode("cp1252"), "iso-8859-1") == (western, "iso-8859-1")


def test_a_log_of_two_programs_is_read_in_the_charset_of_each_line(read: Reading) -> None:
    lines = ["첫 번째 작업을 마쳤습니다.", "Plain words.", "두 번째 작업을 마쳤습니다."] * 3
    charsets = ["cp949", "utf-8", "utf-8", "utf-8", "cp949", "utf-8", "cp949", "utf-8", "utf-8"]
    lines[1] += " \ufffd"
    data = b"\r\n".join(map(str.encode, lines, charsets))
    got = read("a.log", data)
    assert got.text == "\n".join(lines)
    assert got.info.meta == {"charset": "utf-8 and cp949"}


# The first guess loads the library of charsets.
@settings(deadline=None)
@given(st.binary(max_size=400))
def test_any_bytes_decode_to_something(data: bytes) -> None:
    assert isinstance(decode(data)[0], str)


@pytest.mark.parametrize("name", ["a.txt", "a.md", "a.csv", "a.py", "a.rst", "a.html"])
def test_bytes_that_cannot_be_decoded_are_told_with_their_number_and_line(
    read: Reading, name: str
) -> None:
    head = "<html>\n" if name == "a.html" else "첫 줄\r\n"
    text = (head + "가나다라 문장입니다.\r\n" * 60).encode()
    broken = read(name, text + b"\xc1\xa4\xbb\xf3 LAST\r\nEND \xff\r\n")
    note = "5 bytes are not utf-8, the first in line 62: each such place reads as \ufffd."
    assert broken.info.meta["note"] == note
    assert "LAST" in broken.text
    assert "END" in broken.text
    # A sign that the file itself holds is none of these.
    assert "note" not in read(name, text + "정상 \ufffd 글".encode()).info.meta


def test_paragraphs_name_their_lines_whatever_the_line_ends(read: Reading) -> None:
    got = read("a.txt", b"one\r\ntwo\r\n\r\n\r\nthree\rfour")
    assert [(one.text, one.place) for one in got.sections] == [
        ("one\ntwo", Place(line_start=1, line_end=2)),
        ("three\nfour", Place(line_start=5, line_end=6)),
    ]


def test_a_log_without_blank_lines_is_cut_into_pieces_that_can_be_cited(read: Reading) -> None:
    got = read("a.log", "".join(f"line {number}\n" for number in range(1, 121)))
    assert [one.place.line_start for one in got.sections] == [1, 51, 101]
    assert got.sections[-1].place.line_end == 120


def test_white_space_alone_is_an_empty_document_not_an_error(read: Reading) -> None:
    assert read("a.txt", " \n\n\t").sections == []


def test_code_is_fenced_with_its_lines_and_its_symbol(read: Reading) -> None:
    code = "import os\n\n\n@cache\ndef first():\n    return 1\n\n\nclass Second:\n    x = 2\n"
    got = read("pkg/a.py", code)
    assert got.info.meta == {"language": "python"}
    assert [(one.heading_path, one.place.line_start) for one in got.sections] == [
        ((), 1),
        (("first",), 4),
        (("Second",), 9),
    ]
    assert got.sections[1].text == "```python\n@cache\ndef first():\n    return 1\n```"


def test_code_is_known_by_its_shebang(read: Reading) -> None:
    assert read("bin/tool", "#!/usr/bin/env python3\nprint(1)\n").info.format == "code"


def test_a_long_function_is_cut_at_blank_lines(read: Reading) -> None:
    code = "def f():\n" + "".join(f"    a{n} = {n}\n" + "\n" * (n % 10 == 0) for n in range(300))
    got = read("a.py", code)
    assert len(got.sections) > 3
    assert all(one.heading_path == ("f",) for one in got.sections)


def test_csv_is_a_table_with_its_header_again_in_every_part(read: Reading) -> None:
    rows = "".join(f'{n};"a|b\nc"\n' for n in range(250))
    got = read("a.csv", "번호;이름\n" + rows)
    assert [one.kind for one in got.sections] == [SectionKind.TABLE] * 2
    assert all(one.text.startswith("| 번호 | 이름 |\n| --- | --- |\n") for one in got.sections)
    assert "| 0 | a\\|b c |" in got.sections[0].text
    assert got.sections[0].place == Place(line_start=1, line_end=401)
    assert got.sections[1].place.line_start == 402


@pytest.mark.parametrize(
    ("data", "row"),
    [
        ("sep=;\na;b\n1,5;2\n", "| 1,5 | 2 |"),
        ('a,b\n"say \\"hi\\", now",2\n', '| say "hi", now | 2 |'),
        ('a,b\n"C:\\dir\\",2\n', "| C:\\dir\\ | 2 |"),
        ('a,b\n"say ""hi"", \\""x",2\n', '| say "hi", \\"x | 2 |'),
        ('"a;b;c;d",e\n"1;2",3\n', "| 1;2 | 3 |"),
        ("a|b\n1, 2, 3|4\n", "| 1, 2, 3 | 4 |"),
    ],
)
def test_dialects_of_csv_are_found(read: Reading, data: str, row: str) -> None:
    got = read("a.csv", data)
    assert got.sections[0].text.endswith(row)


def test_rows_after_a_quote_that_never_ends_are_read(read: Reading) -> None:
    rows = "".join(f"{n},v{n}\n" for n in range(300))
    got = read("a.csv", 'k,v\n1,"open\n' + rows)
    assert "| 299 | v299 |" in got.text
    assert all(one.text.startswith("| k | v |") for one in got.sections)
    assert got.sections[-1].place.line_end == 303


@pytest.mark.parametrize(
    ("data", "rows"),
    [
        ('a,b\n1,"never closed\n2,LAST\n', ['| 1 | "never closed |', "| 2 | LAST |"]),
        (
            'a,b\n1,"5 inch\n2,"x, y"\n3,z\n4,"two\nlines"\n',
            ['| 1 | "5 inch |', "| 2 | x, y |", "| 3 | z |", "| 4 | two lines |"],
        ),
        ('a,b\n1,"open\n2,"open\n3,"open\n4,z\n', ['| 2 | "open |', "| 4 | z |"]),
        ('a,b\n1,5" disk\n2,3" disk\n', ['| 1 | 5" disk |', '| 2 | 3" disk |']),
    ],
)
def test_a_quote_that_never_ends_swallows_no_row(read: Reading, data: str, rows: list[str]) -> None:
    lines = read("a.csv", data).text.splitlines()
    assert [row for row in rows if row not in lines] == []


def test_a_file_of_quotes_that_never_end_is_read_to_its_end(read: Reading) -> None:
    data = "a,b\n" + "".join(f'{row},"open\n' for row in range(301))
    got = read("a.csv", data)
    assert got.text.count("open") == 301
    assert '| 300 | "open |' in got.text


def test_a_quote_that_never_ends_does_not_lose_the_file(read: Reading) -> None:
    assert "tail" in read("a.csv", 'a,b\n"open,' + "x" * 2_000_000 + "\ntail").text


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (b"", Reason.EMPTY),
        (bytes(range(256)) * 40, Reason.BINARY),
        (b"\x00" * 500, Reason.BINARY),
        (b"text at first\n" + b"\x00\x01\x02\x03" * 200, Reason.BINARY),
        (b"SQLite format 3\x00" + b"\x00" * 50, Reason.UNSUPPORTED),
        (b"\x1f\x8b\x08" + b"\x00" * 50, Reason.UNSUPPORTED),
    ],
)
def test_what_is_no_text_is_refused_by_its_content(
    read: Reading, data: bytes, reason: Reason
) -> None:
    with pytest.raises(ExtractionFailed) as failed:
        read("innocent.txt", data)
    assert failed.value.reason is reason


@pytest.mark.parametrize(
    ("name", "charset"),
    [("iso2022_kr", ""), ("utf-7", "utf-7"), ("iso2022_jp_2", ""), ("utf-16-le", "")],
)
def test_charsets_of_seven_bits_and_short_wide_texts_are_read(name: str, charset: str) -> None:
    text = "회의록 가각 문서입니다. 가나 다라 마바\n"
    text = "日本語の文書 会議 \n" if "jp" in name else text
    data = text.encode(name)
    assert is_text(data)
    assert decode(data, charset)[0] == text


def test_korean_mail_may_leave_out_the_escape_that_its_header_names() -> None:
    data = "회의록".encode("iso2022_kr").removeprefix(b"\x1b$)C")
    assert decode(data, "ISO-2022-KR")[0] == "회의록"


@pytest.mark.parametrize("name", ["a.txt", "a.csv", "a.md", "a.html"])
@pytest.mark.parametrize("sign", ["\v", "\b", "\x1e", "\x07"])
def test_a_sign_that_programs_leave_in_text_does_not_make_it_binary(
    read: Reading, name: str, sign: str
) -> None:
    assert "line2" in read(name, f"name,note\nkim,line1{sign}line2\n".encode()).text
