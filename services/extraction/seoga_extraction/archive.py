"""Zip containers read under guard: entries, ratio and inflated bytes counted; XML locked."""

from __future__ import annotations

import zipfile
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, TYPE_CHECKING, TypeVar

from seoga.errors import ExtractionFailed, Reason
from seoga_extraction.limits import MIB, Limits
from seoga_extraction.passwords import Unlock, locked

if TYPE_CHECKING:
    from lxml import etree

_PIECE = 1 * MIB
# The number that zip files give to members enciphered by WinZip.
_AES = 99
# Elements in one another that libxml2 allows.
_DEPTH = 256
# As a tree the elements of so many tags fill the memory that a parser may use, whatever they say.
MOST_TAGS = 6_000_000
_Opened = TypeVar("_Opened")


class Archive:
    """The members of one zip file. Raises ExtractionFailed for a bomb, a broken or a locked one."""

    def __init__(self, path: Path, limits: Limits) -> None:
        try:
            self._zip = zipfile.ZipFile(path)
        except (zipfile.BadZipFile, OSError, ValueError, NotImplementedError) as error:
            raise corrupt("The file is damaged or cut off: its parts cannot be found.") from error
        self.limits = limits
        # Set where parts are encrypted by the format itself: what a member was before.
        self.decipher: Callable[[str, bytes], bytes] = _as_it_is
        # Set where passwords are known: `Input.unlock`.
        self.unlock: Unlock = _no_passwords
        # Set where a reader of parts can tell what it left out: `Input.cut`.
        self.cut: Callable[[str], None] = _untold
        self._unlocked = False
        self._inflated = 0
        self._members = {info.filename: info for info in self._zip.infolist()}
        self.names = tuple(self._members)
        self._check()

    def _check(self) -> None:
        members = self._zip.infolist()
        if len(members) > self.limits.archive_entries:
            raise bomb(f"it holds {len(members)} entries, of {self.limits.archive_entries} allowed")
        # Python's zipfile never gives more bytes than declared, so declared sizes bound the rest.
        total = sum(info.file_size for info in members)
        if total > self.limits.archive_mb * MIB:
            raise bomb(f"it inflates to {total // MIB} MiB, of {self.limits.archive_mb} allowed")
        packed = sum(info.compress_size for info in members)
        if total > 64 * MIB and total > packed * self.limits.archive_ratio:
            times = total // max(packed, 1)
            raise bomb(f"it inflates {times} times, of {self.limits.archive_ratio} allowed")

    def size_of(self, name: str) -> int:
        """Bytes of a member as its entry says; 0 when there is none of that name."""
        return self._members[name].file_size if name in self._members else 0

    def read(self, name: str) -> bytes:
        """The bytes of a member; b"" when there is none of that name."""
        if name not in self._members:
            return b""
        pieces = []
        with self.stream(name) as stream:
            while piece := stream.read(_PIECE):
                self._inflated += len(piece)
                if self._inflated > self.limits.archive_mb * MIB:
                    raise bomb("it inflates without end")
                pieces.append(piece)
        return self.decipher(name, b"".join(pieces))

    @contextmanager
    def stream(self, name: str) -> Iterator[IO[bytes]]:
        """A member to be read piece by piece, for those too large to hold; KeyError when absent.

        What goes wrong while it is read is told as ExtractionFailed.
        """
        info = self._members[name]
        if info.flag_bits & 1:
            self._open_lock(info)
        try:
            with self._zip.open(info) as stream:
                yield stream
        except (zipfile.BadZipFile, zlib.error, EOFError, OSError, NotImplementedError) as error:
            raise corrupt(f"{name} inside the file is damaged or cut off.") from error

    def _open_lock(self, info: zipfile.ZipInfo) -> None:
        """Finds the password of a member, and with it of all. Raises ExtractionFailed."""
        if self._unlocked:
            return
        if info.compress_type == _AES:
            raise locked(
                "The archive is protected by a password in WinZip's way (AES).", "Save it without."
            )

        def attempt(password: str) -> bool | None:
            self._zip.setpassword(password.encode())
            try:
                # One in 256 wrong passwords passes the zip file's own check.
                with self._zip.open(info) as stream:
                    stream.read(_PIECE)
            except (RuntimeError, zipfile.BadZipFile, zlib.error, EOFError):
                return None
            return True

        self._unlocked = self.unlock("The file is protected by a password (ZipCrypto)", attempt)

    def xml(self, name: str) -> etree._Element | None:
        """The root of an XML member, None when absent. Nothing outside the member is ever read."""
        data = self.read(name)
        return parse_xml(data, name) if data else None


def parse_xml(data: bytes, name: str = "") -> etree._Element:
    """The root of XML bytes: no entities, no network, no DTD, libxml2's depth and size limits.

    `name` is that of a member, for the error.
    """
    from lxml import etree

    where = f"{name} inside the file" if name else "The file"
    if len(data) > 4 * MOST_TAGS and (tags := data.count(b"<")) > MOST_TAGS:
        raise ExtractionFailed(
            f"{where} has {tags:,} tags; at most {MOST_TAGS:,} are read.",
            "Split it.",
            Reason.TOO_LARGE,
        )
    parser = etree.XMLParser(
        resolve_entities=False, no_network=True, load_dtd=False, huge_tree=False
    )
    try:
        return etree.fromstring(data, parser)
    except etree.XMLSyntaxError as error:
        # lxml has no message of its own when an allocation failed.
        if "memory" in str(error).lower() or "unknown error" in str(error):
            raise MemoryError(str(error)) from error
        if "depth" in str(error).lower():
            raise ExtractionFailed(
                f"{where} is nested too deep: more than {_DEPTH} elements in one another.",
                "Save it with fewer parts inside one another, or as PDF.",
                Reason.TOO_LARGE,
            ) from error
        raise corrupt(f"{where} is damaged: it is not well-formed XML.") from error


def _no_passwords(what: str, attempt: Callable[[str], _Opened | None]) -> _Opened:
    del attempt
    raise locked(f"{what}.", "Save it without.")


def _untold(_: str) -> None:
    return None


def _as_it_is(_: str, data: bytes) -> bytes:
    return data


def corrupt(message: str) -> ExtractionFailed:
    """The error of a file that is broken."""
    return ExtractionFailed(message, "Replace the file by a whole copy.", Reason.CORRUPT)


def bomb(why: str) -> ExtractionFailed:
    """The error of an archive that unpacks to too much."""
    return ExtractionFailed(
        f"The archive is refused: {why}.", "Unpack it and add what it holds.", Reason.TOO_LARGE
    )
