"""The compound file around an HWP 5 document: its flags, its streams inflated under guard."""

from __future__ import annotations

import re
import struct
import zlib
from functools import cached_property
from typing import TYPE_CHECKING

from seoga.errors import ExtractionFailed, Reason
from seoga_extraction.format import Input, corrupt
from seoga_extraction.formats.hwp.distribution import decrypted
from seoga_extraction.formats.hwp.password import deciphered, key_of, spellings
from seoga_extraction.formats.hwp.records import Tag

if TYPE_CHECKING:
    from olefile import OleFileIO

SIGNATURE = b"HWP Document File"
_PIECE = 1 << 20
# Below this many bytes, whatever the ratio, nothing is hurt.
_RATIO_FROM = 16 << 20
_SECTION = re.compile(r"^Section(\d+)$")
# Bits of the flags in FileHeader.
_COMPRESSED, _PASSWORD, _DISTRIBUTION, _DRM = 1, 1 << 1, 1 << 2, 1 << 4
_CERTIFICATE, _CERTIFICATE_DRM = 1 << 8, 1 << 10
# Hangul 7.0 and later; the older three are not known.
_KNOWN_ENCRYPTION = 4
# Bytes of DocInfo that tell a right password from a wrong one.
_TELLING = 1024


class Container:
    """Opens one file. Raises ExtractionFailed: corrupt, or encrypted naming the kind."""

    def __init__(self, source: Input) -> None:
        import olefile

        if not source.is_sound:
            raise corrupt("The HWP file is damaged: its header names impossible sizes.")
        try:
            self._ole: OleFileIO = olefile.OleFileIO(source.path)
            header = self._raw("FileHeader")
        except (OSError, ValueError, IndexError, struct.error) as error:
            raise corrupt("The HWP file is damaged or cut off.") from error
        self._limits = source.limits
        self._inflated = 0
        if not header.startswith(SIGNATURE) or len(header) < 40:
            raise corrupt("The HWP file has no valid header.")
        self._flags = int.from_bytes(header[36:40], "little")
        self._check()
        self._key = b""
        if self._flags & _PASSWORD:
            self._key = self._unlocked(source, int.from_bytes(header[44:48], "little"))

    def _unlocked(self, source: Input, version: int) -> bytes:
        """The key of a password that fits. Raises ExtractionFailed (encrypted)."""
        if version != _KNOWN_ENCRYPTION:
            raise _locked(
                f"a password in a way that is not known here (encryption version {version})",
                "Save it in Hangul without a password.",
            )
        info = self._raw("DocInfo")[:_TELLING] if self._ole.exists("DocInfo") else b""

        def attempt(password: str) -> bytes | None:
            keys = map(key_of, spellings(password))
            return next((key for key in keys if self._fits(deciphered(info, key))), None)

        return source.unlock("The HWP document is protected by a password (AES-128)", attempt)

    def _fits(self, info: bytes) -> bool:
        """The first record of this stream has the properties of the document, in every file."""
        try:
            head = zlib.decompressobj(-15).decompress(info, 4) if self._compressed else info
        except zlib.error:
            return False
        return int.from_bytes(head[:4], "little") & 0xFFFFF == Tag.DOCUMENT_PROPERTIES

    @property
    def _compressed(self) -> bool:
        return bool(self._flags & _COMPRESSED)

    def _check(self) -> None:
        if self._flags & (_DRM | _CERTIFICATE_DRM):
            raise _locked("rights management (DRM)", "Have its owner release it.")
        if self._flags & _CERTIFICATE:
            raise _locked("a certificate", "Save it in Hangul without encryption.")

    @property
    def distribution(self) -> bool:
        """Whether it is a 배포용 document: its text is encrypted, its body holds a notice only."""
        return bool(self._flags & _DISTRIBUTION) or bool(self._sections("ViewText"))

    @cached_property
    def section_names(self) -> list[tuple[str, str]]:
        """The streams with text, in the order of their numbers."""
        return self._sections("ViewText" if self.distribution else "BodyText")

    def _sections(self, storage: str) -> list[tuple[str, str]]:
        found = [
            (int(match[1]), (entry[0], entry[1]))
            for entry in self._ole.listdir()
            if len(entry) == 2 and entry[0] == storage and (match := _SECTION.match(entry[1]))
        ]
        return [name for _, name in sorted(found)]

    def section(self, name: tuple[str, str]) -> bytes:
        """The records of one section, decrypted and inflated."""
        raw = self._read("/".join(name))
        if self.distribution:
            raw = decrypted(raw)
        return self._inflate(raw)

    def stream(self, name: str) -> bytes:
        """An inflated stream; b"" when there is none of that name."""
        return self._inflate(self._read(name)) if self._ole.exists(name) else b""

    @cached_property
    def names(self) -> list[str]:
        """The streams of pictures and other embedded things."""
        return ["/".join(entry) for entry in self._ole.listdir() if entry[0] == "BinData"]

    def read(self, name: str) -> bytes:
        """One of `names`: each says nowhere but in DocInfo whether it is deflated."""
        raw = self._read(name)
        try:
            return self._inflate(raw)
        except ExtractionFailed as error:
            if error.reason is not Reason.CORRUPT:
                raise
            return raw

    def size_of(self, name: str) -> int:
        """Bytes of a stream as it is stored."""
        return int(self._ole.get_size(name))

    def embedded(self, number: int) -> bytes:
        """The chart (as XML) of an embedded object; b"" when it holds none."""
        import olefile

        try:
            data = self.stream(f"BinData/BIN{number:04X}.OLE")
            start = data.find(olefile.MAGIC, 0, 64)
            if start < 0:
                return b""
            with olefile.OleFileIO(data[start:]) as inner:
                name = "OOXMLChartContents"
                return inner.openstream(name).read() if inner.exists(name) else b""
        except (OSError, ValueError, IndexError, struct.error):
            # A broken picture of a chart is no reason to lose the text around it.
            return b""
        except ExtractionFailed as error:
            if error.reason is not Reason.CORRUPT:
                raise
            return b""

    def properties(self) -> dict[int, object]:
        """The summary information by property number; a broken one costs only itself."""
        name = "\x05HwpSummaryInformation"
        if not self._ole.exists(name):
            return {}
        try:
            return dict(self._ole.getproperties(name, convert_time=True))
        except (OSError, ValueError, IndexError, TypeError, struct.error):
            return {}

    def _raw(self, name: str) -> bytes:
        return bytes(self._ole.openstream(name).read())

    def _read(self, name: str) -> bytes:
        try:
            raw = self._raw(name)
            return deciphered(raw, self._key) if self._key else raw
        except (OSError, ValueError, IndexError, struct.error) as error:
            raise corrupt(f"{name} inside the HWP file is damaged or cut off.") from error

    def _inflate(self, data: bytes) -> bytes:
        if not self._compressed:
            return data
        inflater = zlib.decompressobj(-15)
        pieces = []
        size, packed = 0, len(data)
        while data and not inflater.eof:
            try:
                piece = inflater.decompress(data, _PIECE)
            except zlib.error as error:
                raise corrupt("The text of the HWP file is damaged.") from error
            if not piece and not inflater.eof:
                raise corrupt("The text of the HWP file is cut off.")
            pieces.append(piece)
            size += len(piece)
            self._count(len(piece), size, packed)
            data = inflater.unconsumed_tail
        return b"".join(pieces)

    def _count(self, piece: int, size: int, packed: int) -> None:
        self._inflated += piece
        cap = min(self._limits.archive_mb, self._limits.output_mb) << 20
        bomb = size > _RATIO_FROM and size > packed * self._limits.archive_ratio
        if bomb or self._inflated > cap:
            raise ExtractionFailed(
                f"The HWP file inflates to more than {(self._inflated - 1) >> 20} MiB.",
                "Split it.",
                Reason.TOO_LARGE,
            )


def _locked(what: str, hint: str) -> ExtractionFailed:
    return ExtractionFailed(f"The HWP document is protected by {what}.", hint, Reason.ENCRYPTED)
