"""Which parts of a mail are its text: all of them, but one form of each."""

from __future__ import annotations

import base64
import re
from collections.abc import Callable
from email.mime.application import MIMEApplication
from email.mime.base import MIMEBase
from email.mime.multipart import MIMEMultipart
from email.mime.text import MIMEText
from typing import Any

import pytest

from seoga.errors import ExtractionFailed, Reason
from seoga.models import SectionKind

Reading = Callable[..., Any]
LONG = "<p>The report says much more than the text of the author, and says it again.</p>"


def mail(*parts: MIMEBase, kind: str = "mixed") -> bytes:
    out = MIMEMultipart(kind)
    out["From"] = "kim@example.org"
    out["To"] = "all@example.org"
    for part in parts:
        out.attach(part)
    return out.as_bytes()


def html(text: str, name: str = "") -> MIMEText:
    part = MIMEText(text, "html")
    if name:
        part.add_header("Content-Disposition", "inline", filename=name)
    return part


def group(kind: str, *parts: MIMEBase) -> MIMEMultipart:
    out = MIMEMultipart(kind)
    for part in parts:
        out.attach(part)
    return out


def said(got: Any) -> list[str]:
    """The passages below the headers."""
    return [one.text for one in got.sections if not one.text.startswith("From: ")]


def test_a_page_with_a_name_beside_the_text_is_attached(read: Reading) -> None:
    got = read("a.eml", mail(MIMEText("The text of the author."), html(LONG, "report.html")))
    assert said(got)[:2] == ["The text of the author.", "## Attachment: report.html"]
    assert "The report says" in said(got)[2]


def test_parts_one_after_the_other_are_all_read(read: Reading) -> None:
    picture = MIMEApplication(b"\x89PNG", "octet-stream")
    got = read(
        "a.eml", mail(MIMEText("One."), picture, MIMEText("Two."), html("<p>Three: footer.</p>"))
    )
    assert said(got)[:3] == ["One.", "Two.", "Three: footer."]


def test_of_two_forms_one_is_read_and_what_hangs_on_either(read: Reading) -> None:
    note = MIMEText("What was attached.")
    note.add_header("Content-Disposition", "attachment", filename="note.txt")
    rich = group("mixed", html("<h1>Opening</h1>"), note, html("<p>Closing.</p>"))
    got = read("a.eml", mail(group("alternative", MIMEText("Opening Closing"), rich)))
    assert said(got) == [
        "# Opening",
        "Closing.",
        "## Attachment: note.txt",
        "What was attached.",
    ]


def test_the_only_text_is_the_body_whatever_it_is_called(read: Reading) -> None:
    one = MIMEText("Words.")
    one["From"], one["To"] = "kim@example.org", "all@example.org"
    one.set_param("name", "body.txt")
    assert said(read("a.eml", one.as_bytes())) == ["Words."]


@pytest.mark.parametrize(
    ("flow", "body", "expected"),
    [
        ("flowed", "A line that \r\ngoes on.\r\nAnother.", "A line that goes on.\nAnother."),
        ("flowed; delsp=yes", "한국 \r\n어 문장 \r\n입니다.", "한국어 문장입니다."),
        ("flowed", "> quoted \r\n> on\r\nmine", "> quoted on\nmine"),
        ("flowed", "x\r\n-- \r\nKim", "x\n--\nKim"),
        ("fixed", "A line \r\nstays.", "A line \nstays."),
    ],
)
def test_lines_that_flow_are_joined(read: Reading, flow: str, body: str, expected: str) -> None:
    head = f"From: a@b.c\r\nTo: d@e.f\r\nContent-Type: text/plain; charset=utf-8; format={flow}"
    data = f"{head}\r\nContent-Transfer-Encoding: 8bit\r\n\r\n{body}\r\n".encode()
    assert [line.rstrip() for line in "\n".join(said(read("a.eml", data))).split("\n")] == [
        line.rstrip() for line in expected.split("\n")
    ]


def test_korean_mail_of_seven_bits_is_read(read: Reading) -> None:
    text = "회의록을 보냅니다."
    head = b"From: a@b.c\r\nTo: d@e.f\r\nContent-Type: text/plain; charset=ISO-2022-KR\r\n\r\n"
    assert said(read("a.eml", head + text.encode("iso2022_kr"))) == [text]


def test_a_byte_order_mark_before_the_headers_is_none_of_them(read: Reading) -> None:
    data = b"\xef\xbb\xbf" + mail(MIMEText("Words."))
    assert said(read("a.eml", data)) == ["Words."]


def test_a_message_signed_or_encrypted_as_a_whole_says_so(read: Reading) -> None:
    sealed = MIMEApplication(b"0\x80\x06\x09", "pkcs7-mime", name="smime.p7m")
    sealed["From"], sealed["To"] = "kim@example.org", "all@example.org"
    with pytest.raises(ExtractionFailed, match="S/MIME") as failed:
        read("a.eml", sealed.as_bytes())
    assert failed.value.reason is Reason.ENCRYPTED


RAW = (
    b"From: a@b.c\r\nTo: d@e.f\r\nSubject: %s\r\nMIME-Version: 1.0\r\n"
    b'Content-Type: multipart/mixed; boundary="b"\r\n\r\n--b\r\n'
    b"Content-Type: text/%s; charset=%s\r\n\r\n%s\r\n--b\r\n"
    b'Content-Type: text/plain; name="a.txt"\r\n'
    b'Content-Disposition: attachment; filename="a.txt"\r\n\r\n%s\r\n--b--\r\n'
)
KOREAN = "회의록을 보냅니다. 참석자는 다음과 같습니다."


@pytest.mark.parametrize("kind", ["plain", "html"])
@pytest.mark.parametrize("charset", ["utf-8", "euc-kr"])
def test_bytes_of_no_charset_are_told_of_the_body_the_subject_and_attachments(
    read: Reading, kind: str, charset: str
) -> None:
    words = KOREAN.encode(charset)
    broken = words + b"\r\n\r\n" + words + b"\xff END"
    parts = (words + b"\xff", kind.encode(), charset.encode(), broken, broken)
    got = read("a.eml", RAW % parts)
    assert got.info.meta["note"].split("In ")[1:] == [
        f"the header Subject: 1 byte is not {'cp949' if charset == 'euc-kr' else 'utf-8'}, the "
        "first in line 1: each such place reads as \ufffd. ",
        f"the body: 1 byte is not {charset}, the first in line 3: each such place reads as \ufffd.",
    ]
    assert got.info.title == KOREAN + "\ufffd"
    assert got.text.count("END") == 2
    notes = [one.text for one in got.sections if one.kind is SectionKind.NOTE]
    assert [note.partition(" is not")[0] for note in notes] == ["a.txt: 1 byte"]
    whole = read("a.eml", RAW % (words, kind.encode(), charset.encode(), words, words))
    assert "note" not in whole.info.meta
    assert not [one for one in whole.sections if one.kind is SectionKind.NOTE]


def test_bytes_of_no_charset_in_encoded_words_are_told(read: Reading) -> None:
    word = base64.b64encode(KOREAN.encode() + b"\xff").decode()
    got = read("a.eml", f"From: a@b.c\nTo: d@e.f\nSubject: =?utf-8?B?{word}?=\n\ntext\n")
    assert got.info.title == KOREAN + "\ufffd"
    assert got.info.meta["note"].startswith("In the header Subject: 1 byte is not utf-8")


def sent() -> bytes:
    body = MIMEText(f"{KOREAN} " * 60, "plain", "utf-8")
    notes = MIMEText(f"{KOREAN} " * 60, "plain", "utf-8")
    notes.add_header("Content-Disposition", "attachment", filename="notes.txt")
    return mail(body, notes)


@pytest.mark.parametrize("part", [0.2, 0.3, 0.5, 0.6, 0.8, 0.97])
def test_a_message_that_is_cut_off_gives_what_is_there_and_says_so(
    events: Callable[..., Any], part: float
) -> None:
    whole = sent()
    text, error = events("a.eml", whole[: int(len(whole) * part)])
    assert KOREAN in text
    assert not re.search(r"[A-Za-z0-9+/]{60}", text), "encoded text is no text"
    assert (error.reason, "cut off" in error.message) == (Reason.CORRUPT, True)
    text, error = events("a.eml", whole)
    assert error is None
    assert text.count(KOREAN) == 120


def test_what_a_mailing_list_writes_below_base64_is_no_cut(events: Callable[..., Any]) -> None:
    words = base64.b64encode(b"Words that matter.!").decode()
    head = "From: a@b.c\nTo: d@e.f\nContent-Transfer-Encoding: base64\n\n"
    text, error = events("a.eml", f"{head}{words}\n_____\nlist footer\n".encode())
    assert "Words that matter.!" in text
    assert error is None


def test_an_attachment_that_is_read_in_part_says_so(events: Callable[..., Any]) -> None:
    inner = sent()
    part = MIMEApplication(inner[: len(inner) // 3], name="inner.eml")
    part.add_header("Content-Disposition", "attachment", filename="inner.eml")
    text, error = events("a.eml", mail(MIMEText("Outer words."), part))
    assert KOREAN in text
    assert "is attached and not read whole: The message is cut off" in text
    assert error is None
