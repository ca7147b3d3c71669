"""Word, Excel and PowerPoint files with a password: opened, then read as what they are."""

from __future__ import annotations

import re
from functools import partial
from typing import IO, Any

from seoga.errors import ExtractionFailed, Reason
from seoga_extraction.format import Format, Input, Parsed, corrupt

_MAGIC = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"
_PACKAGE = "EncryptedPackage".encode("utf-16-le")
# Excel encrypts with it what may be read by everybody but not changed, and asks for nothing.
_EXCELS_OWN = "VelvetSweatshop"
_RIGHTS = "DRMEncryptedDataSpace".encode("utf-16-le")


def parse(source: Input) -> Parsed:
    """The events of the file inside (ECMA-376, agile and standard encryption).

    Raises ExtractionFailed: encrypted, naming the encryption; corrupt; what the file inside fails
    with.
    """
    if source.holds(_RIGHTS):
        raise ExtractionFailed(
            "The document is protected by rights management (IRM).",
            "Have its owner release it.",
            Reason.ENCRYPTED,
        )
    with source.path.open("rb") as stream:
        office = _opened(stream)
        what = f"The document is protected by a password ({office.type} encryption of Office)"

        def attempt(password: str) -> bool | None:
            return _fits(office, password) or None

        if not _fits(office, _EXCELS_OWN):
            source.unlock(what, attempt)
        yield from source.inner(source.name, partial(_write, office))


def _opened(stream: Any) -> Any:
    from msoffcrypto.exceptions import DecryptionError
    from msoffcrypto.format.ooxml import OOXMLFile

    try:
        return OOXMLFile(stream)
    except DecryptionError as error:
        raise _strange(error) from error
    except Exception as error:
        # Cut and altered containers break in the library's parsing in many ways.
        raise corrupt("The encrypted document is damaged or cut off.") from error


def _strange(error: Exception) -> ExtractionFailed:
    bits = re.search(r"\b\d{2,4}\b", str(error))
    key = f" (a key of {bits.group()} bits)" if bits else ""
    return ExtractionFailed(
        f"The document is encrypted in a way that is not known here{key}.",
        "Save it again with a password and AES, or without one.",
        Reason.ENCRYPTED,
    )


def _fits(office: Any, password: str) -> bool:
    from msoffcrypto.exceptions import DecryptionError, InvalidKeyError

    try:
        office.load_key(password=password, verify_password=True)
    except InvalidKeyError:
        return False
    except (DecryptionError, ValueError) as error:
        raise _strange(error) from error
    return True


def _write(office: Any, out: IO[bytes]) -> None:
    from msoffcrypto.exceptions import DecryptionError, InvalidKeyError

    try:
        office.decrypt(out)
    except (DecryptionError, InvalidKeyError, OSError, ValueError) as error:
        raise corrupt("The encrypted document is damaged or cut off.") from error


def sniff(source: Input) -> bool:
    """A compound file with an encrypted package, wherever its directory stands."""
    return source.head.startswith(_MAGIC) and source.holds(_PACKAGE)


FORMAT = Format(
    "encrypted-office", parse, sniff=sniff, needs=("msoffcrypto", "olefile"), nests=True
)
