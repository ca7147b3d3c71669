"""E-mail: headers, the better body, attachments by content, and hostile messages."""

from __future__ import annotations

from collections.abc import Callable
from email.message import EmailMessage
from pathlib import Path
from typing import Any

import pytest

from seoga.errors import ExtractionFailed, Reason
from seoga.models import SectionKind

Reading = Callable[..., Any]

WRITTEN = Path(__file__).parent / "written"


def message(
    subject: str = "회의록 — 3분기", body: str = "안녕하세요.\n\n회의록을 보냅니다.\n"
) -> EmailMessage:
    out = EmailMessage()
    out["From"] = "김철수 <kim@example.com>"
    out["To"] = "all@example.com"
    out["Date"] = "Mon, 02 Sep 2024 10:00:00 +0900"
    out["Subject"] = subject
    out.set_content(body)
    return out


def test_headers_and_the_body_come_in_order(read: Reading) -> None:
    got = read("a.eml", bytes(message()))
    assert (got.info.format, got.info.title) == ("eml", "회의록 — 3분기")
    assert [one.text for one in got.sections] == [
        "# 회의록 — 3분기",
        "From: 김철수 <kim@example.com>\nTo: all@example.com\n"
        "Date: Mon, 02 Sep 2024 10:00:00 +0900",
        "안녕하세요.",
        "회의록을 보냅니다.",
    ]


def test_html_is_read_where_it_has_structure(read: Reading) -> None:
    mail = message()
    table = "<table><tr><th>a</th><th>b</th></tr><tr><td>1</td><td>2</td></tr></table>"
    mail.add_alternative(f"<p>안녕</p>{table}", subtype="html")
    got = read("a.eml", bytes(mail))
    assert [one.text for one in got.of(SectionKind.TABLE)] == [
        "| a | b |\n| --- | --- |\n| 1 | 2 |"
    ]
    plain = message()
    plain.add_alternative("<p>안녕하세요. 회의록을 보냅니다.</p>", subtype="html")
    assert read("a.eml", bytes(plain)).sections[-1].text == "회의록을 보냅니다."


def test_attachments_are_read_by_the_format_of_their_content(read: Reading) -> None:
    mail = message()
    data = (WRITTEN / "guide.docx").read_bytes()
    mail.add_attachment(
        data, maintype="application", subtype="octet-stream", filename="안내서.docx"
    )
    mail.add_attachment(b"\x1f\x8b\x08" + bytes(2000), maintype="application", subtype="gzip",
                        filename="a.gz")  # fmt: skip
    got = read("a.eml", bytes(mail))
    (table,) = got.of(SectionKind.TABLE)
    assert table.heading_path == ("회의록 — 3분기", "Attachment: 안내서.docx", "시작하기", "준비물")
    (heading,) = [one for one in got.sections if one.text.endswith("# 준비물")]
    assert (heading.text, heading.level) == ("#### 준비물", 4)
    assert got.sections[-1].text == (
        "a.gz (application/gzip, 1 KiB) is attached and not read: "
        "This is a gzip archive, which is not read."
    )


def test_pictures_of_the_page_itself_are_no_attachments(read: Reading) -> None:
    mail = message()
    mail.add_related(
        b"\x89PNG\r\n", "image", "png", cid="<logo>", filename="image001.png", disposition="inline"
    )
    assert "image001" not in read("a.eml", bytes(mail)).text


def test_raw_korean_headers_and_names_are_read(read: Reading) -> None:
    raw = (
        "From: 홍길동 <h@x.kr>\r\nSubject: 안녕하세요 한글 제목\r\nMIME-Version: 1.0\r\n"
        'Content-Type: multipart/mixed; boundary="b"\r\n\r\n--b\r\n'
        "Content-Type: text/plain; charset=ks_c_5601-1987\r\n\r\n본문은 똠방각하입니다.\r\n--b\r\n"
        'Content-Type: text/plain; name="첨부.txt"\r\n'
        'Content-Disposition: attachment; filename="첨부.txt"\r\n\r\n붙임 내용입니다\r\n--b--\r\n'
    ).encode("cp949")
    got = read("a.txt", raw)
    assert got.info.title == "안녕하세요 한글 제목"
    assert got.info.meta["from"] == "홍길동 <h@x.kr>"
    assert "본문은 똠방각하입니다." in got.text
    assert got.sections[-1].heading_path[-1] == "Attachment: 첨부.txt"
    assert got.sections[-1].text == "붙임 내용입니다"


def test_messages_in_messages_are_read_to_a_bounded_depth(read: Reading) -> None:
    mail = message("level 0", "text 0")
    for level in range(1, 8):
        outer = message(f"level {level}", f"text {level}")
        outer.add_attachment(mail)
        mail = outer
    got = read("a.eml", bytes(mail))
    assert "text 7" in got.text
    assert "text 4" in got.text
    assert "text 2" not in got.text
    assert "nested deeper" in got.text


def test_a_saved_page_is_read(read: Reading) -> None:
    page = (
        'MIME-Version: 1.0\r\nContent-Type: multipart/related; boundary="x"\r\n\r\n--x\r\n'
        "Content-Type: text/html; charset=utf-8\r\n"
        "Content-Transfer-Encoding: quoted-printable\r\n\r\n"
        "<html><body><h1>Exported</h1><p>=EA=B0=80</p></body></html>\r\n--x--\r\n"
    )
    got = read("a.doc", page)
    assert [one.text for one in got.sections] == ["# Exported", "가"]


def test_text_that_only_looks_a_little_like_a_mail_is_text(read: Reading) -> None:
    assert read("a.txt", "Note: remember\nTo: do\n\nbody").info.format == "text"
    assert read("a.yaml", "from: a\nto: b\nsubject: c\n").info.format != "eml"


@pytest.mark.parametrize(
    "data",
    [
        b"From: a\nTo: b\nContent-Type: multipart/mixed; boundary=x\n\n" + b"--x\n" * 50_000,
        b"From: a\nTo: b\nSubject: " + b"=?utf-8?b?" * 20_000,
        b"From: a\nTo: b\n" + b"X: y\n" * 100_000,
    ],
)
def test_hostile_messages_end(events: Callable[..., Any], data: bytes) -> None:
    text, error = events("a.eml", data)
    assert text.split()[0] in ("From:", "#")
    assert error is None or error.reason is Reason.CORRUPT


def test_deep_multiparts_are_refused(read: Reading) -> None:
    parts = [b"From: a\nTo: b"]
    parts += [b"Content-Type: multipart/mixed; boundary=b%d\n\n--b%d" % (n, n) for n in range(3000)]
    with pytest.raises(ExtractionFailed) as failed:
        read("a.eml", b"\n".join(parts) + b"\n\nx")
    assert failed.value.reason is Reason.TOO_LARGE
