"""Office files of 97 to 2003 (.doc, .xls, .ppt), and those that are one XML file: converted by
LibreOffice, then read."""

from __future__ import annotations

import re
import shutil
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import IO, Any

from seoga.errors import ExtractionFailed, Reason
from seoga.models import DocumentInfo
from seoga_extraction import soffice
from seoga_extraction.format import Format, Input, Parsed, corrupt


@dataclass(frozen=True, slots=True)
class _Kind:
    """One of the old formats: its main stream, what a person calls it, what it becomes."""

    stream: str
    called: str
    ending: str
    target: str
    package: str
    # The filter of LibreOffice, where it would take the file for plain text.
    reading: str = ""


_LIBRE = "libreoffice"
_KINDS = (
    _Kind("WordDocument", "a Word 97 document", ".doc", "docx", f"{_LIBRE}-writer-nogui"),
    _Kind("PowerPoint Document", "a PowerPoint 97 file", ".ppt", "pptx", f"{_LIBRE}-impress-nogui"),
    _Kind("Workbook", "an Excel 97 file", ".xls", "xlsx", f"{_LIBRE}-calc-nogui"),
    _Kind("Book", "an Excel 95 file", ".xls", "xlsx", f"{_LIBRE}-calc-nogui"),
)
# One file of XML, by what its first element says: as Excel and Word save it, and many programs that
# export for them under the names .xls and .doc.
_ROOT = re.compile(
    rb"(?:\xef\xbb\xbf)?\s*(?>(?:<\?.*?\?>|<!--.*?-->)\s*)*+(<(?:\w+:)?(\w+)\s[^>]*>)", re.DOTALL
)
_OPEN = b"application/vnd.oasis.opendocument."
_FLAT = {
    (b"Workbook", b"urn:schemas-microsoft-com:office:spreadsheet"): replace(
        _KINDS[2],
        called="an Excel 2003 workbook in XML",
        ending=".xml",
        reading="MS Excel 2003 XML",
    ),
    (b"wordDocument", b"http://schemas.microsoft.com/office/word/2003/wordml"): replace(
        _KINDS[0], called="a Word 2003 document in XML", ending=".xml", reading="MS Word 2003 XML"
    ),
    (b"document", _OPEN + b"text"): replace(
        _KINDS[0],
        called="an OpenDocument text in one XML file",
        ending=".fodt",
        target="odt",
        reading="OpenDocument Text Flat XML",
    ),
    (b"document", _OPEN + b"spreadsheet"): replace(
        _KINDS[2],
        called="an OpenDocument spreadsheet in one XML file",
        ending=".fods",
        reading="OpenDocument Spreadsheet Flat XML",
    ),
    (b"document", _OPEN + b"presentation"): replace(
        _KINDS[1],
        called="an OpenDocument presentation in one XML file",
        ending=".fodp",
        reading="OpenDocument Presentation Flat XML",
    ),
}
# Excel encrypts with it what may be read by everybody but not changed, and asks for nothing.
_EXCELS_OWN = "VelvetSweatshop"


def parse(source: Input) -> Parsed:
    """The events of the converted file; `converted_from` in its metadata.

    Raises ExtractionFailed: unsupported without LibreOffice, encrypted, corrupt, timeout.
    """
    kind = _kind(source)
    if kind is None or (source.is_compound and not source.compound):
        raise corrupt("The Office file is damaged or cut off.")
    if not soffice.program():
        raise ExtractionFailed(
            f"This is {kind.called} ({kind.ending}), which takes LibreOffice to read; "
            "it is not installed.",
            f"Install {kind.package}, or save the file as .{kind.target}.",
            Reason.UNSUPPORTED,
        )
    with tempfile.TemporaryDirectory(prefix="seoga-office-") as held:
        folder = Path(held)
        given = folder / f"given{kind.ending}"
        with given.open("wb") as out:
            _copy(source, kind, out)
        made = _converted(source, kind, given, folder / "work")
        with made.open("rb") as stream:
            events = source.inner(f"a.{kind.target}", lambda out: shutil.copyfileobj(stream, out))
            for event in events:
                if isinstance(event, DocumentInfo):
                    meta = {**event.meta, "converted_from": kind.ending[1:]}
                    yield replace(event, meta=meta)
                else:
                    yield event


def _converted(source: Input, kind: _Kind, given: Path, folder: Path) -> Path:
    try:
        made = soffice.converted(given, kind.target, folder, source.limits, kind.reading)
    except TimeoutError as error:
        raise ExtractionFailed(
            f"LibreOffice did not convert the {kind.ending} file in time.",
            f"Raise SEOGA_EXTRACT_TIMEOUT_S, or save it as .{kind.target}.",
            Reason.TIMEOUT,
        ) from error
    if made is None:
        raise ExtractionFailed(
            f"LibreOffice cannot read the {kind.ending} file: it is damaged or cut off, "
            f"or {kind.package} is missing.",
            f"Replace the file by a whole copy, or save it as .{kind.target}.",
            Reason.CORRUPT,
        )
    return made


def _copy(source: Input, kind: _Kind, out: IO[bytes]) -> None:
    """The file without its encryption. Raises ExtractionFailed."""
    with source.path.open("rb") as stream:
        office = _encrypted(stream)
        if office is None:
            stream.seek(0)
            shutil.copyfileobj(stream, out)
            return
        what = f"The document is protected by a password ({kind.ending} encryption)"

        def attempt(password: str) -> bool | None:
            return _fits(office, password) or None

        if not _fits(office, _EXCELS_OWN):
            source.unlock(what, attempt)
        try:
            office.decrypt(out)
        except Exception as error:
            # Cut and altered files break in the library's parsing in many ways.
            raise corrupt("The encrypted document is damaged or cut off.") from error


def _encrypted(stream: IO[bytes]) -> Any:
    """The library's view of an encrypted file; None for one that is not, or not known to it."""
    from msoffcrypto import OfficeFile

    try:
        office: Any = OfficeFile(stream)
        return office if office.is_encrypted() else None
    except Exception:
        # It knows fewer versions than LibreOffice, and says so in many ways.
        return None


def _fits(office: Any, password: str) -> bool:
    from msoffcrypto.exceptions import InvalidKeyError

    unknown = ExtractionFailed(
        "The document is encrypted in a way that is not known here.",
        "Save it without a password.",
        Reason.ENCRYPTED,
    )
    try:
        office.load_key(password=password)
    except InvalidKeyError:
        return False
    except Exception as error:
        raise unknown from error
    if not office.key:
        # Word's XOR: any password is taken, and none opens it.
        raise unknown
    return True


def _kind(source: Input) -> _Kind | None:
    """By the streams of its root; where a cut lost their list, by their names anywhere."""
    if not source.is_compound:
        return _flat(source)
    roots = source.compound
    for kind in _KINDS:
        if kind.stream.lower() in roots:
            return kind
    if roots or source.holds("EncryptedPackage".encode("utf-16-le")):
        return None
    return next((one for one in _KINDS[:3] if source.holds(one.stream.encode("utf-16-le"))), None)


def _flat(source: Input) -> _Kind | None:
    """What kind of Office file an XML file is, by its first element."""
    found = _ROOT.match(source.head)
    if found is None:
        return None
    kinds = (kind for (name, says), kind in _FLAT.items() if name == found[2] and says in found[1])
    return next(kinds, None)


def sniff(source: Input) -> bool:
    """A compound file with the main stream of one of the old formats, or an Office file in XML."""
    return _kind(source) is not None


def check(options: Mapping[str, Any]) -> dict[str, Any]:
    """Whether old Office files can be read here."""
    why = soffice.lacks(options)
    return {"legacy_office": f"off: {why}" if why else soffice.program()}


FORMAT = Format(
    "legacy-office",
    parse,
    extensions=(".doc", ".dot", ".xls", ".xlt", ".ppt", ".pps", ".pot"),
    sniff=sniff,
    needs=("msoffcrypto", "olefile"),
    nests=True,
    check=check,
    lacks=soffice.lacks,
    version="2",
)
