"""Old Office files: converted where LibreOffice is, told where it is not; bounded."""

from __future__ import annotations

import io
import os
import re
import shutil
import signal
import struct
import subprocess
import sys
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import psutil
import pytest

from seoga.errors import ExtractionFailed, Reason
from seoga_extraction import soffice
from seoga_extraction.limits import Limits

from .compound import compound

Reading = Callable[..., Any]
KINDS = {
    "WordDocument": ("Word 97", ".doc", "docx"),
    "Workbook": ("Excel 97", ".xls", "xlsx"),
    "Book": ("Excel 95", ".xls", "xlsx"),
    "PowerPoint Document": ("PowerPoint 97", ".ppt", "pptx"),
}
needs_libreoffice = pytest.mark.skipif(not soffice.program(), reason="LibreOffice is not installed")
ROUND_TRIPS = {
    "doc": "docx/mammoth.js__footnotes.docx",
    "xls": "xlsx/docling__xlsx_01.xlsx",
    "ppt": "pptx/fieldcuredocumentparsers__simple_text.pptx",
}


def refused(read: Reading, name: str, data: bytes) -> ExtractionFailed:
    with pytest.raises(ExtractionFailed) as failed:
        read(name, data)
    return failed.value


def program(folder: Path, script: str) -> Path:
    """A `soffice` of our own on a PATH of its own, with the few programs that scripts need."""
    folder.mkdir()
    path = folder / "soffice"
    path.write_text(f"#!/bin/sh\n{script}\n")
    path.chmod(0o755)
    for name in ("sleep", "mkdir"):
        (folder / name).symlink_to(str(shutil.which(name)))
    return folder


@pytest.fixture
def without(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / "nothing").mkdir()
    monkeypatch.setenv("PATH", str(tmp_path / "nothing"))


@pytest.mark.usefixtures("without")
@pytest.mark.parametrize("name", ["a.doc", "a.hwp", "a.xls", "a.docx", "a.txt", "a"])
@pytest.mark.parametrize("stream", KINDS)
def test_without_libreoffice_the_file_says_what_it_is_and_the_way_out(
    read: Reading, stream: str, name: str
) -> None:
    called, ending, target = KINDS[stream]
    error = refused(read, name, compound({stream: b"\x00"}))
    assert error.reason is Reason.UNSUPPORTED
    assert called in error.message
    assert ending in error.message
    hint = rf"Install libreoffice-\w+-nogui, or save the file as \.{target}\."
    assert re.fullmatch(hint, error.hint)


@pytest.mark.parametrize("name", ["a.doc", "a.hwp", "a.xls", "a.ppt", "a.msg", "a.txt"])
def test_other_compound_files_are_known_by_their_content(read: Reading, name: str) -> None:
    told = {
        "__properties_version1.0": "Outlook message",
        "VisioDocument": "Visio drawing",
        "Something": "OLE compound file",
    }
    for stream, called in told.items():
        error = refused(read, name, compound({stream: b"\x00"}))
        assert (error.reason, called in error.message) == (Reason.UNSUPPORTED, True), stream
    # A mail that holds a Word document is a mail.
    mail = compound({"__properties_version1.0": b"", "__attach/WordDocument": b""})
    assert "Outlook" in refused(read, name, mail).message


@pytest.mark.parametrize("stream", KINDS)
def test_a_file_that_was_cut_off_is_corrupt(read: Reading, stream: str) -> None:
    data = compound({stream: bytes(40_000)})
    for size in (9, 600, len(data) // 2):
        error = refused(read, "a.doc", data[:size])
        assert error.reason is Reason.CORRUPT, size
        assert "Replace the file" in error.hint


def test_an_old_file_with_a_password_is_encrypted(read: Reading) -> None:
    # The base of a FIB (MS-DOC 2.5.2): fEncrypted and fObfuscated, and the hash of a password.
    fib = struct.pack("<HHHHHHHI", 0xA5EC, 0xC1, 0, 0x412, 0, 0x8100 | 0x200, 0xBF, 0x1234ABCD)
    error = refused(read, "a.doc", compound({"WordDocument": fib, "1Table": bytes(64)}))
    assert error.reason is Reason.ENCRYPTED
    assert error.hint


def test_what_libreoffice_cannot_read_is_corrupt_and_its_folder_is_gone(
    read: Reading, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("PATH", str(program(tmp_path / "bin", "echo no >&2; exit 1")))
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    error = refused(read, "a.doc", compound({"WordDocument": b"x"}))
    assert error.reason is Reason.CORRUPT
    assert ".docx" in error.hint
    assert not list(tmp_path.glob("seoga-office-*"))


def test_each_conversion_has_its_own_profile_and_limits(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    script = f'ulimit -S -d > {tmp_path}/data; echo "$@" > {tmp_path}/given; mkdir out; exit 0'
    monkeypatch.setenv("PATH", str(program(tmp_path / "bin", script)))
    given = tmp_path / "a.doc"
    given.write_bytes(b"")
    assert soffice.converted(given, "docx", tmp_path / "held", Limits(memory_mb=700)) is None
    assert (tmp_path / "data").read_text().strip() == str(700 * 1024)
    words = (tmp_path / "given").read_text().split()
    assert f"-env:UserInstallation=file://{tmp_path}/held/profile" in words
    assert {"--headless", "--convert-to", "docx"} <= set(words)
    settings = tmp_path / "held/profile/user/registrymodifications.xcu"
    assert "DisableMacrosExecution" in settings.read_text(encoding="utf-8")


def hanging(tmp_path: Path) -> tuple[Path, Path]:
    """A program that hangs with a process of its own, and the pipe on which it tells both."""
    pipe = tmp_path / "told"
    os.mkfifo(pipe)
    return program(tmp_path / "bin", f'sleep 600 &\necho "$! $$" > {pipe}\nwait'), pipe


def gone(numbers: list[int]) -> bool:
    living = [psutil.Process(one) for one in numbers if psutil.pid_exists(one)]
    return not psutil.wait_procs(living, timeout=20)[1]


def test_a_conversion_that_hangs_ends_with_all_its_processes(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    folder, pipe = hanging(tmp_path)
    monkeypatch.setenv("PATH", str(folder))
    reader = os.open(pipe, os.O_RDWR)
    given = tmp_path / "a.doc"
    given.write_bytes(b"")
    with pytest.raises(TimeoutError):
        soffice.converted(given, "docx", tmp_path / "held", Limits(time_s=3))
    numbers = [int(one) for one in os.read(reader, 100).split()]
    os.close(reader)
    assert len(numbers) == 2
    assert gone(numbers)


def test_a_parser_that_is_killed_leaves_no_conversion_behind(tmp_path: Path) -> None:
    folder, pipe = hanging(tmp_path)
    given = tmp_path / "a.doc"
    given.write_bytes(b"")
    code = (
        "import sys; from pathlib import Path; from seoga_extraction import soffice; "
        "from seoga_extraction.limits import Limits; "
        "soffice.converted(Path(sys.argv[1]), 'docx', Path(sys.argv[2]), Limits())"
    )
    parser = subprocess.Popen(
        [sys.executable, "-c", code, str(given), str(tmp_path / "held")],
        env={**os.environ, "PATH": str(folder)},
    )
    with pipe.open() as reader:
        numbers = [int(one) for one in reader.readline().split()]
    parser.send_signal(signal.SIGKILL)
    parser.wait(20)
    assert len(numbers) == 2
    assert gone(numbers)


@needs_libreoffice
@pytest.mark.parametrize("ending", ROUND_TRIPS)
def test_old_files_are_read_as_the_new_ones_that_they_become(
    read: Reading, handed: Path, tmp_path: Path, ending: str
) -> None:
    new = handed / ROUND_TRIPS[ending]
    (tmp_path / "make").mkdir()
    old = soffice.converted(new, ending, tmp_path / "make" / "held", Limits())
    assert old is not None
    # Under a wrong name: content decides.
    got = read("a.bin", old.read_bytes())
    assert got.info.meta["converted_from"] == ending
    before = set(re.findall(r"\w{2,}", read("a", new.read_bytes()).text))
    kept = before & set(re.findall(r"\w{2,}", got.text))
    # Excel 97 has no place for some words of newer charts.
    assert len(kept) >= 0.85 * len(before), before - kept


@needs_libreoffice
def test_altered_old_files_are_text_or_corrupt(attempt: Any, handed: Path, tmp_path: Path) -> None:
    (tmp_path / "make").mkdir()
    work = tmp_path / "make" / "held"
    old = soffice.converted(handed / ROUND_TRIPS["doc"], "doc", work, Limits())
    assert old is not None
    data = old.read_bytes()
    path = tmp_path / "altered"
    for start in (600, 3000):
        path.write_bytes(data[:start] + bytes(range(256)) * 8 + data[start + 2048 :])
        got = attempt("a.doc", path)
        assert got.reason in (None, Reason.CORRUPT, Reason.ENCRYPTED), got.message
        assert got.seconds < 60


SHEET = """<?xml version="1.0"?><?mso-application progid="Excel.Sheet"?>
<Workbook xmlns="urn:schemas-microsoft-com:office:spreadsheet"
 xmlns:ss="urn:schemas-microsoft-com:office:spreadsheet"><Worksheet ss:Name="재고"><Table>
<Row><Cell><Data ss:Type="String">이름</Data></Cell>
<Cell><Data ss:Type="String">값</Data></Cell></Row>
<Row><Cell><Data ss:Type="String">나사</Data></Cell>
<Cell><Data ss:Type="Number">3</Data></Cell></Row>
</Table></Worksheet></Workbook>"""
WORD = """<?xml version="1.0"?><w:wordDocument
 xmlns:w="http://schemas.microsoft.com/office/word/2003/wordml"><w:body><w:p><w:r><w:t>본문 글</w:t>
</w:r></w:p></w:body></w:wordDocument>"""
OPEN = """<office:document xmlns:office="urn:oasis:names:tc:opendocument:xmlns:office:1.0"
 xmlns:text="urn:oasis:names:tc:opendocument:xmlns:text:1.0" office:version="1.3"
 office:mimetype="application/vnd.oasis.opendocument.text"><office:body><office:text>
<text:p>본문 글</text:p></office:text></office:body></office:document>"""


@needs_libreoffice
@pytest.mark.parametrize(
    ("name", "xml", "becomes", "said"),
    [
        ("a.xls", SHEET, "xlsx", "| 나사 | 3 |"),
        ("a.xml", SHEET, "xlsx", "| 나사 | 3 |"),
        ("a.doc", WORD, "docx", "본문 글"),
        ("a.fodt", OPEN, "odt", "본문 글"),
    ],
)
def test_an_office_file_that_is_one_xml_file_is_read_as_what_it_shows(
    read: Reading, name: str, xml: str, becomes: str, said: str
) -> None:
    got = read(name, xml)
    assert got.info.format == becomes
    assert said in got.text
    assert "urn:" not in got.text


@pytest.mark.usefixtures("without")
@pytest.mark.parametrize("xml", [SHEET, WORD, OPEN])
def test_without_libreoffice_an_office_file_in_xml_says_what_it_is(read: Reading, xml: str) -> None:
    error = refused(read, "a.xls", xml.encode())
    assert (error.reason, " XML" in error.message) == (Reason.UNSUPPORTED, True)


def test_a_package_in_one_xml_file_is_refused_by_name(read: Reading) -> None:
    package = "http://schemas.microsoft.com/office/2006/xmlPackage"
    error = refused(
        read, "a.xml", f'<?xml version="1.0"?><p:package xmlns:p="{package}"/>'.encode()
    )
    assert (error.reason, error.hint) == (Reason.UNSUPPORTED, "Save it as .docx or .pptx.")


@pytest.mark.parametrize(("kind", "ending"), [("spreadsheet", ".xlsx"), ("presentation", ".pptx")])
def test_other_open_documents_are_named_with_the_way_out(
    read: Reading, kind: str, ending: str
) -> None:
    held = io.BytesIO()
    with zipfile.ZipFile(held, "w") as package:
        package.writestr("mimetype", f"application/vnd.oasis.opendocument.{kind}")
        package.writestr("content.xml", "<a/>")
    error = refused(read, "a.ods", held.getvalue())
    assert kind in error.message
    assert ending in error.hint


@pytest.mark.usefixtures("without")
def test_other_xml_and_pages_that_speak_of_office_are_none(read: Reading) -> None:
    for xml in (f"<notes>{SHEET[120:160]}</notes>", "<Workbook><a>b</a></Workbook>"):
        assert read("a.xml", xml).info.format == "code"
    page = '<html xmlns:x="urn:schemas-microsoft-com:office:excel"><body><p>글</p></body></html>'
    assert read("a.xls", page).text == "글"
