"""Files inside a PDF are read by the format of their content, wherever they hang."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pymupdf
import pytest

from seoga.errors import ExtractionFailed, Reason
from seoga.models import Place, SectionKind

Reading = Callable[..., Any]
NAME = "회의록 1.txt"


def written(*texts: str) -> Any:
    document = pymupdf.open()
    for text in texts or ("A page with some words.",):
        document.new_page().insert_text((72, 72), text)
    return document


def headings(document: Any) -> list[str]:
    return [one.text for one in document.sections if one.text.startswith("# Attachment")]


def test_an_attached_file_follows_the_pages_under_its_name(read: Reading) -> None:
    document = written()
    document.embfile_add(NAME, "결정: 서버를 옮긴다.\n".encode(), filename=NAME, ufilename=NAME)
    inside = written("Words of the inner page.").tobytes()
    document.embfile_add("inner.pdf", inside, filename="inner.pdf")
    out = read("a.pdf", document.tobytes())
    assert headings(out) == [f"# Attachment: {NAME}", "# Attachment: inner.pdf"]
    said = {one.text: (one.place, one.heading_path) for one in out.sections}
    path = (f"Attachment: {NAME}",)
    assert said["결정: 서버를 옮긴다."] == (Place(line_start=1, line_end=1), path)
    assert said["Words of the inner page."] == (Place(page=1), ("Attachment: inner.pdf",))


def test_names_are_read_in_the_encoding_of_the_format(read: Reading) -> None:
    document = written()
    document.embfile_add("k", b"Some words.", filename="x.txt")
    data = document.tobytes(pretty=False)
    assert b"/UF(x.txt)" in data
    encoded = f"/UF<FEFF{NAME.encode('utf-16-be').hex()}>".encode()
    out = read("a.pdf", data.replace(b"/UF(x.txt)", encoded))
    assert headings(out) == [f"# Attachment: {NAME}"]


def test_a_file_pinned_to_a_page_is_read_once_though_it_is_listed_too(read: Reading) -> None:
    document = written("First page.", "Second page.")
    document[1].add_file_annot((300, 300), b"Pinned words.", "pin.txt", desc="pin")
    assert headings(read("a.pdf", document.tobytes())) == ["# Attachment: pin.txt"]
    document.embfile_add("pin.txt", b"Pinned words.", filename="pin.txt")
    assert headings(read("a.pdf", document.tobytes())) == ["# Attachment: pin.txt"]


def test_what_is_not_read_is_told_and_the_rest_stands(read: Reading) -> None:
    document = written()
    document.embfile_add("a.gz", b"\x1f\x8b\x08" + bytes(2000), filename="a.gz")
    document.embfile_add("b.txt", b"Readable words.", filename="b.txt")
    out = read("a.pdf", document.tobytes())
    note = next(one for one in out.sections if one.kind is SectionKind.NOTE)
    assert note.text.startswith("a.gz (inside the PDF, 1 KiB) is attached and not read: ")
    assert "Readable words." in [one.text for one in out.sections]


def test_pages_without_text_are_no_fault_where_a_file_inside_has_some(read: Reading) -> None:
    document = pymupdf.open()
    document.new_page()
    document.embfile_add("b.txt", b"Readable words.", filename="b.txt")
    data = document.tobytes()
    assert "Readable words." in [one.text for one in read("a.pdf", data).sections]


def test_documents_inside_one_another_end_somewhere(read: Reading) -> None:
    data = written("The innermost words.").tobytes()
    for level in range(6):
        outer = written(f"Level {level}.")
        outer.embfile_add("next.pdf", data, filename="next.pdf")
        data = outer.tobytes()
    out = read("a.pdf", data)
    texts = [one.text for one in out.sections]
    assert "Level 5." in texts
    assert "The innermost words." not in texts
    assert any("nested deeper" in text for text in texts)


def test_a_damaged_list_of_files_costs_no_page(read: Reading) -> None:
    document = written()
    document.embfile_add("b.txt", b"Readable words.", filename="b.txt")
    data = document.tobytes()
    broken = data.replace(b"/EmbeddedFiles", b"/EmbeddedFiles 7 0 R /X")
    assert "A page with some words." in [one.text for one in read("a.pdf", broken).sections]


def test_a_file_behind_a_password_is_told_at_the_end(read: Reading) -> None:
    locked = written("Secret.").tobytes(
        encryption=pymupdf.PDF_ENCRYPT_AES_256, owner_pw="o", user_pw="u"
    )
    document = written()
    document.embfile_add("locked.pdf", locked, filename="locked.pdf")
    with pytest.raises(ExtractionFailed) as failed:
        read("a.pdf", document.tobytes())
    assert failed.value.reason is Reason.ENCRYPTED


def test_a_real_portfolio_gives_the_text_of_its_parts(read: Reading, handed: Path) -> None:
    data = (handed / "pdf" / "tika__testPDFPackage.pdf").read_bytes()
    texts = [one.text for one in read("a.pdf", data).sections]
    assert {"PDF1", "PDF2"} <= set(texts)
