"""What a file is: content first, the extension as a hint among texts; what is refused by name."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache, partial
from pathlib import PurePosixPath

from seoga.errors import ExtractionFailed, Reason, SeogaError
from seoga.registry import discover
from seoga_extraction.charset import is_text
from seoga_extraction.format import Format, Input, Parsed, corrupt

# Signatures of what no format module reads (yet): offset, bytes, what a person calls it.
_SIGNATURES: tuple[tuple[int, bytes, str], ...] = (
    (0, b"\x89PNG\r\n\x1a\n", "a PNG image"),
    (0, b"\xff\xd8\xff", "a JPEG image"),
    (0, b"GIF8", "a GIF image"),
    (0, b"II*\x00", "a TIFF image"),
    (0, b"MM\x00*", "a TIFF image"),
    (8, b"WEBP", "a WebP image"),
    (8, b"WAVE", "WAV audio"),
    (8, b"AVI ", "AVI video"),
    (0, b"ID3", "MP3 audio"),
    (0, b"\xff\xfb", "MP3 audio"),
    (0, b"\xff\xf3", "MP3 audio"),
    (0, b"fLaC", "FLAC audio"),
    (0, b"OggS", "Ogg audio"),
    *(
        (4, b"ftyp" + kind, "a HEIC image")
        for kind in (b"heic", b"heix", b"hevc", b"heim", b"heis")
    ),
    *((4, b"ftyp" + kind, "a HEIF image") for kind in (b"mif1", b"msf1")),
    *((4, b"ftyp" + kind, "an AVIF image") for kind in (b"avif", b"avis")),
    (4, b"ftyp", "MP4 audio or video"),
    (0, b"\x00\x00\x00\x0cJXL \r\n\x87\n", "a JPEG XL image"),
    (0, b"8BPS\x00\x01", "a Photoshop image"),
    (0, b"\x00\x00\x01\x00", "a Windows icon (.ico)"),
    (0, b"\x1aE\xdf\xa3", "WebM or Matroska"),
    (0, b"\x78\x9f\x3e\x22", "an Outlook attachment (winmail.dat)"),
    (0, b"HWP Document File V3", "an HWP 3 document"),
    (0, b"%!PS", "PostScript"),
    (0, b"SQLite format 3\x00", "an SQLite database"),
    (0, b"\x1f\x8b", "a gzip archive"),
    (0, b"BZh", "a bzip2 archive"),
    (0, b"\xfd7zXZ\x00", "an xz archive"),
    (0, b"(\xb5/\xfd", "a Zstandard archive"),
    (0, b"7z\xbc\xaf'\x1c", "a 7-Zip archive"),
    (0, b"Rar!", "a RAR archive"),
    (257, b"ustar", "a tar archive"),
    (0, b"\x7fELF", "a program"),
    (0, b"\xca\xfe\xba\xbe", "a program"),
    (0, b"\xcf\xfa\xed\xfe", "a program"),
)
_OLE_STREAMS = (
    ("__properties_version1.0", "an Outlook message (.msg)"),
    ("VisioDocument", "a Visio drawing (.vsd)"),
)
_ZIP_MEMBERS = (
    ("xl/workbook.bin", "a binary Excel workbook (xlsb)"),
    ("content.xml", "an OpenDocument file"),
    ("AndroidManifest.xml", "an Android package"),
    ("META-INF/MANIFEST.MF", "a Java archive"),
)
_FLAT_OPC = b"http://schemas.microsoft.com/office/2006/xmlPackage"
_OPEN_DOCUMENTS = {
    b"spreadsheet": "an OpenDocument spreadsheet (.ods)",
    b"presentation": "an OpenDocument presentation (.odp)",
    b"graphics": "an OpenDocument drawing (.odg)",
}
# What a person can do with some of them.
_WAYS_OUT = {
    "an OpenDocument spreadsheet (.ods)": "Save it as .xlsx.",
    "an OpenDocument presentation (.odp)": "Save it as .pptx or PDF.",
    "an OpenDocument drawing (.odg)": "Save it as PDF.",
    "an Outlook attachment (winmail.dat)": "Send the message as HTML or plain text.",
    "an Office document in one XML file": "Save it as .docx or .pptx.",
    "an HWP 3 document": "Save it as HWPX in Hancom Office.",
    "a zip archive": "Unpack it into the source.",
    "a tar archive": "Unpack it into the source.",
    "a binary Excel workbook (xlsb)": "Save it as .xlsx.",
    "an Outlook message (.msg)": "Save it as .eml.",
    "a Visio drawing (.vsd)": "Save it as PDF.",
    "PostScript": "Save it as PDF.",
    **dict.fromkeys(
        ("a HEIC image", "a HEIF image", "an AVIF image", "a JPEG XL image", "a Photoshop image"),
        "Save it as JPEG or PNG.",
    ),
    "a Windows icon (.ico)": "Exclude icons from the source.",
}
# Text by its bytes, but nothing to read as text.
_TEXT_EXTENSIONS = {
    ".svg": "an SVG image",
}


class OtherLane(Exception):
    """A file inside needs the process of another lane: the whole file must be read there."""

    def __init__(self, lane: str) -> None:
        super().__init__(lane)
        self.lane = lane


@cache
def formats(package: str) -> tuple[Format, ...]:
    """The formats that the modules of `package` declare; the binary ones first."""
    found = [module.FORMAT for module in discover(package)]
    return tuple(sorted(found, key=lambda one: one.text))


def choose(source: Input, known: Sequence[Format]) -> Format:
    """The format that reads this file.

    Raises ExtractionFailed: empty, encrypted, corrupt, binary, or unsupported naming what it is.
    """
    source.reader = partial(opened, known=known)
    if source.size == 0:
        raise ExtractionFailed(
            "The file is empty (zero bytes).", "Fill it or remove it.", Reason.EMPTY
        )
    for one in known:
        if not one.text and one.sniff is not None and one.sniff(source):
            return one
    _refuse_known(source, known)
    if not is_text(source.head):
        raise _unreadable(source, known)
    return _text_format(source, [one for one in known if one.text])


def opened(source: Input, known: Sequence[Format]) -> Parsed:
    """The events of a file inside another one. Raises ExtractionFailed, and only that (or
    MemoryError, or OtherLane), so that the file around it goes on."""
    chosen = choose(source, known)
    if chosen.lane and source.lane is not None and chosen.lane != source.lane:
        raise OtherLane(chosen.lane)
    if chosen.lane and source.lane is None:
        raise ExtractionFailed(
            f"{chosen.name} is read only as a file of its own.",
            "Add it to the source by itself.",
            Reason.UNSUPPORTED,
        )
    if missing := chosen.missing:
        raise ExtractionFailed(
            f"{chosen.name} needs {missing}, which is not installed.",
            f"pip install {missing}",
            Reason.MISSING_DEPENDENCY,
        )
    try:
        yield from chosen.parse(source)
    except (SeogaError, MemoryError, OtherLane):
        raise
    except Exception as error:
        raise corrupt(f"The {chosen.name} file inside is damaged or cut off.") from error


def _text_format(source: Input, known: Sequence[Format]) -> Format:
    if what := _TEXT_EXTENSIONS.get(source.extension):
        raise _unsupported(what)
    for one in known:
        if one.sniff is not None and one.sniff(source):
            return one
    base = PurePosixPath(source.name.lower()).name
    for one in known:
        if source.extension in one.extensions or base in one.names:
            return one
    plain = next((one for one in known if one.name == "text"), None)
    if plain is None:
        raise _unsupported("plain text")
    return plain


def _refuse_known(source: Input, known: Sequence[Format]) -> None:
    head = source.head
    if source.is_compound:
        _refuse_ole(source)
    if source.is_zip:
        names = source.archive.names
        kind = source.archive.read("mimetype").partition(b"opendocument.")[2].partition(b"-")[0]
        if named := _OPEN_DOCUMENTS.get(kind.strip()):
            raise _unsupported(named)
        for start, what in _ZIP_MEMBERS:
            if any(name.startswith(start) for name in names):
                raise _unsupported(what)
        if misnamed := _misnamed(source, known):
            raise misnamed
        raise _unsupported("a zip archive")
    if head.lstrip(b"\xef\xbb\xbf").startswith(b"<?xml") and _FLAT_OPC in head[:4096]:
        raise _unsupported("an Office document in one XML file")
    for offset, mark, what in _SIGNATURES:
        if head[offset : offset + len(mark)] == mark:
            raise _unsupported(what)


def _refuse_ole(source: Input) -> None:
    """By the names in its root; a cut file has lost their list, but maybe not the names."""
    for name, what in _OLE_STREAMS:
        found = name.lower() in source.compound
        if found or (not source.compound and source.holds(name.encode("utf-16-le"))):
            raise _unsupported(what)
    if not source.compound:
        raise corrupt("This compound file is damaged or cut off.")
    raise _unsupported("an OLE compound file")


def _unsupported(what: str) -> ExtractionFailed:
    return ExtractionFailed(
        f"This is {what}, which is not read.",
        _WAYS_OUT.get(what, "Convert it, or exclude it from the source."),
        Reason.UNSUPPORTED,
    )


def _unreadable(source: Input, known: Sequence[Format]) -> ExtractionFailed:
    return _misnamed(source, known) or ExtractionFailed(
        "The file is binary data of an unknown kind.",
        "Exclude it from the source.",
        Reason.BINARY,
    )


def _misnamed(source: Input, known: Sequence[Format]) -> ExtractionFailed | None:
    """The error of a file whose name promises a format that its content is not of."""
    for one in known:
        if not one.text and source.extension in one.extensions:
            return ExtractionFailed(
                f"The file is named {source.extension}, but its content is no {one.name} file.",
                "Replace the file by a whole copy.",
                Reason.CORRUPT,
            )
    return None
