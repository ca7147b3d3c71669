"""What a format module declares (`FORMAT = Format(...)`) and what it is given to read."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from importlib.util import find_spec
from pathlib import Path, PurePosixPath
from typing import IO, Any, TypeVar

from seoga.errors import ExtractionFailed, Reason
from seoga.models import DocumentInfo, Section
from seoga_extraction.archive import Archive, corrupt, parse_xml
from seoga_extraction.charset import decode, undecoded
from seoga_extraction.limits import MIB, Limits
from seoga_extraction.markup import Outline, fenced, one_line, pipes, under
from seoga_extraction.odf_crypt import unseal
from seoga_extraction.passwords import unlocked

__all__ = [
    "Archive",
    "Format",
    "Input",
    "Outline",
    "Parsed",
    "corrupt",
    "decode",
    "fenced",
    "one_line",
    "parse_xml",
    "pipes",
    "undecoded",
    "under",
]

Parsed = Iterator[DocumentInfo | Section]
_Opened = TypeVar("_Opened")
HEAD_BYTES = 64 * 1024
COMPOUND = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"
# A mail in a mail in a mail: what is deeper is named, not read.
MAX_INNER = 3
SEARCHED_MB = 128
_CUTS_TOLD = 3


class Input:
    """One file under its limits; everything is read when first asked for, and once.

    `name` is its name in the source; only `extension` (with its dot, lower case) is taken from it.
    """

    def __init__(self, path: Path, name: str, limits: Limits, depth: int = 0) -> None:
        self.path = path
        self.name = name
        self.limits = limits
        self.depth = depth
        self.extension = PurePosixPath(name.lower()).suffix
        # Set where the formats are known: reads a file with the format that its content asks for.
        self.reader: Callable[[Input], Parsed] | None = None
        # What the lane of the format was told, and how it answers beside its events.
        self.options: Mapping[str, Any] = {}
        # The lane that reads it; None where there are no others to go to.
        self.lane: str | None = None
        self.figures: dict[str, float] = {}
        self.on_grant: Callable[[float], None] | None = None
        self._cuts: list[str] = []
        self._undecoded = ""

    def more_time(self, seconds: float) -> None:
        """Adds to the time that this file may take: for work that is long by its nature."""
        if self.on_grant is not None:
            self.on_grant(seconds)

    def cut(self, what: str) -> None:
        """Keeps a sentence on what a limit keeps from being read, for `tell_cuts`."""
        self._cuts.append(what)

    def tell_cuts(self) -> None:
        """For the end of a parser. Raises ExtractionFailed (too_large) where something was cut."""
        if self._cuts:
            more = len(self._cuts) - _CUTS_TOLD
            rest = [f"So it is in {more:,} more places."] if more > 0 else []
            told = " ".join([*self._cuts[:_CUTS_TOLD], *rest])
            raise ExtractionFailed(told, "Split it.", Reason.TOO_LARGE)

    @cached_property
    def status(self) -> os.stat_result:
        """What the system says of the file."""
        return os.stat(self.path)

    @property
    def size(self) -> int:
        """Bytes in the file."""
        return self.status.st_size

    @cached_property
    def head(self) -> bytes:
        """The first 64 KiB."""
        with open(self.path, "rb") as stream:
            return stream.read(HEAD_BYTES)

    @cached_property
    def data(self) -> bytes:
        """All bytes. Raises ExtractionFailed (too_large) above the limit for files read whole."""
        if self.size <= len(self.head):
            return self.head
        if self.size > self.limits.text_file_mb * MIB:
            raise ExtractionFailed(
                f"The file has {self.size // MIB} MiB of text; "
                f"at most {self.limits.text_file_mb} are read.",
                "Split it.",
                Reason.TOO_LARGE,
            )
        return self.path.read_bytes()

    def holds(self, *marks: bytes) -> bool:
        """Whether any of these bytes stands in the file; of one above 128 MiB, in its two ends.

        Read piece by piece: a map of a large file would break the limit of address space.
        """
        overlap = max(map(len, marks)) - 1
        tail = b""
        with self.path.open("rb") as stream:
            while piece := stream.read(MIB):
                piece = tail + piece
                if any(mark in piece for mark in marks):
                    return True
                tail = piece[-overlap:]
                if stream.tell() == SEARCHED_MB // 2 * MIB:
                    stream.seek(max(stream.tell(), self.size - SEARCHED_MB // 2 * MIB))
        return False

    def decoded(self, declared: str = "") -> tuple[str, str]:
        """The text with `\\n` line ends, and the charset it was in."""
        text, name = decode(self.data, declared)
        self._undecoded = undecoded(self.data, text, name)
        if "\r" in text:
            text = text.replace("\r\n", "\n").replace("\r", "\n")
        return text, name

    def noted(self, meta: Mapping[str, Any]) -> dict[str, Any]:
        """Metadata with a note on the bytes that `decoded` could not decode, where there are."""
        said = " ".join(filter(None, [str(meta.get("note", "")), self._undecoded]))
        return {**meta, "note": said} if self._undecoded else dict(meta)

    @cached_property
    def is_zip(self) -> bool:
        """Whether it starts as a zip file does."""
        return self.head.startswith((b"PK\x03\x04", b"PK\x05\x06"))

    @property
    def is_compound(self) -> bool:
        """Whether it starts as a compound file (OLE) does."""
        return self.head.startswith(COMPOUND)

    @property
    def is_sound(self) -> bool:
        """Whether a compound file names sizes of sectors that there are: 512 or 4096 bytes, and 64
        (MS-CFB 2.2). Others would make the library ask for as much memory at once."""
        sector, small = self.head[30:32], self.head[32:34]
        return self.is_compound and sector in (b"\x09\0", b"\x0c\0") and small == b"\x06\0"

    @cached_property
    def compound(self) -> frozenset[str]:
        """The names in the root of a compound file, lower case; none where it is none, or where a
        cut lost their list."""
        import olefile

        if not self.is_sound:
            return frozenset()
        try:
            with olefile.OleFileIO(self.path) as held:
                return frozenset(entry[0].lower() for entry in held.listdir(storages=True))
        except Exception:
            # Hostile and cut files break in the library's parsing in many ways.
            return frozenset()

    @cached_property
    def archive(self) -> Archive:
        """Its members, guarded. Raises ExtractionFailed."""
        archive = Archive(self.path, self.limits)
        archive.unlock, archive.cut = self.unlock, self.cut
        return archive

    def unlock(self, what: str, attempt: Callable[[str], _Opened | None]) -> _Opened:
        """What `attempt` gives for the first given password that is not wrong (None).

        `what` says which file is closed and how, such as "The PDF is protected by a password
        (AES-128)". Raises ExtractionFailed (encrypted).
        """
        return unlocked(self.options.get("passwords_file", ""), what, attempt)

    def unseal(self, what: str) -> bytes | None:
        """Opens the parts of `archive` that are encrypted as in OpenDocument; `what` names the
        file, such as "The HWPX document". Gives the package inside where all of it was one
        encrypted part. Raises ExtractionFailed."""
        return unseal(self.archive, self.unlock, what)

    def inner(self, name: str, data: bytes | Callable[[IO[bytes]], object]) -> Parsed:
        """The events of a file inside this one (an attachment, a chapter); `data` are its bytes,
        or what writes them.

        Raises ExtractionFailed, at any point: what that file fails with, or too_large when it is
        nested deeper than MAX_INNER files.
        """
        if self.reader is None or self.depth >= MAX_INNER:
            raise ExtractionFailed(
                f"Files are nested deeper than {MAX_INNER} levels.",
                "Unpack it and add what it holds.",
                Reason.TOO_LARGE,
            )
        with tempfile.NamedTemporaryFile(prefix="seoga-inner-") as held:
            held.write(data) if isinstance(data, bytes) else data(held.file)
            held.flush()
            source = Input(Path(held.name), name, self.limits, self.depth + 1)
            source.options, source.on_grant = self.options, self.on_grant
            source.lane = self.lane
            try:
                yield from self.reader(source)
            finally:
                for key, value in source.figures.items():
                    self.figures[key] = self.figures.get(key, 0.0) + value


@dataclass(frozen=True, slots=True)
class Format:
    """One format. `parse` gets an `Input` and yields one `DocumentInfo`, then sections in order.

    `sniff` says from the content whether a file is of this format; the first that says yes is
    taken, formats with `text=False` first. A text format without a yes is chosen by `extensions`
    or by a whole file `names` (lower case, such as "makefile"). `needs` are modules that must be
    installed. Any other exception out of `parse` is told as a corrupt file.

    `lane` names the kind of process it runs in (`lanes.py`). `check` is given the options of that
    lane and says what the format found to work with, such as a device; it raises SeogaError.
    `lacks` is given them too and says at once what is not here beside modules, "" for nothing.

    Raise `version` whenever the events of some file may differ: indexes then read files of this
    format again, and only those. `cheap`: as quick to read as to load, so that indexes keep
    nothing of it. `nests`: files inside are read with the other formats.
    """

    name: str
    parse: Callable[[Input], Parsed]
    extensions: tuple[str, ...] = ()
    sniff: Callable[[Input], bool] | None = None
    text: bool = False
    names: tuple[str, ...] = ()
    needs: tuple[str, ...] = ()
    lane: str = ""
    check: Callable[[Mapping[str, Any]], dict[str, Any]] | None = None
    lacks: Callable[[Mapping[str, Any]], str] | None = None
    version: str = "1"
    cheap: bool = False
    nests: bool = False

    @property
    def missing(self) -> str:
        """The modules it needs that are not installed here, comma separated."""
        return ", ".join(module for module in self.needs if find_spec(module) is None)
