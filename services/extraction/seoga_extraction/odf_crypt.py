"""Encrypted OpenDocument packages, whose scheme HWPX shares (OpenDocument 1.3, part 2, chapter 4).

password → start key (SHA) → key (PBKDF2-HMAC-SHA1, or Argon2id since LibreOffice 24.8) → AES-CBC,
AES-GCM or Blowfish-CFB → raw deflate. The manifest names all of it for each part.
"""

from __future__ import annotations

import binascii
import hashlib
import zlib
from base64 import b64decode
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from seoga.errors import ExtractionFailed, Reason
from seoga_extraction.archive import Archive, bomb, parse_xml
from seoga_extraction.limits import MIB
from seoga_extraction.passwords import Unlock, locked

if TYPE_CHECKING:
    from lxml.etree import _Element

MANIFEST = "META-INF/manifest.xml"
# LibreOffice encrypts a whole package into one part since 24.8.
WHOLE = "encrypted-package"
# A part of so many bytes tells a right password from a wrong one.
_TELLING = 64
_MOST_ROUNDS = 10_000_000
_MOST_ARGON_KIB = 256 * 1024
_GCM_IV = 12
_STRANGE = "an unknown encryption"


class Unknown(Exception):
    """An encryption that is not known here; its name is the message."""


@dataclass(frozen=True, slots=True)
class Sealed:
    """How one part is encrypted, as the manifest says."""

    part: str
    size: int
    cipher: str
    iv: bytes
    start_hash: str
    derivation: str
    salt: bytes
    key_size: int
    rounds: int
    argon_kib: int
    lanes: int

    @property
    def name(self) -> str:
        """The cipher for people."""
        return {"aes256-cbc": "AES-256", "aes256-gcm": "AES-256"}.get(self.cipher, self.cipher)

    def opened(self, data: bytes, password: str) -> bytes | None:
        """The part as it was before; None when the password is wrong, which shows when it is
        inflated."""
        plain = self._deciphered(data, self._key(password))
        inflater = zlib.decompressobj(-15)
        try:
            made = inflater.decompress(plain or b"", self.size + 1)
        except zlib.error:
            return None
        return made if inflater.eof and len(made) == self.size else None

    def _key(self, password: str) -> bytes:
        start = hashlib.new(self.start_hash, password.encode(), usedforsecurity=False).digest()
        if self.derivation == "pbkdf2":
            return hashlib.pbkdf2_hmac("sha1", start, self.salt, self.rounds, self.key_size)
        from cryptography.hazmat.primitives.kdf.argon2 import Argon2id

        made = Argon2id(
            salt=self.salt,
            length=self.key_size,
            iterations=self.rounds,
            lanes=self.lanes,
            memory_cost=self.argon_kib,
        )
        return made.derive(start)

    def _deciphered(self, data: bytes, key: bytes) -> bytes | None:
        from cryptography.exceptions import InvalidTag
        from cryptography.hazmat.decrepit.ciphers.algorithms import Blowfish
        from cryptography.hazmat.decrepit.ciphers.modes import CFB
        from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes
        from cryptography.hazmat.primitives.ciphers.aead import AESGCM

        if self.cipher == "aes256-gcm":
            body = data[_GCM_IV:] if data.startswith(self.iv) else data
            try:
                return AESGCM(key).decrypt(self.iv, body, None)
            except (InvalidTag, ValueError):
                return None
        if self.cipher == "blowfish":
            return Cipher(Blowfish(key), CFB(self.iv)).decryptor().update(data)
        whole = data[: len(data) - len(data) % len(self.iv)]
        return Cipher(algorithms.AES(key), modes.CBC(self.iv)).decryptor().update(whole)


def unseal(archive: Archive, unlock: Unlock, what: str) -> bytes | None:
    """Opens the encrypted parts of a package with a password that fits; `what` names the file.

    Gives the package inside where the whole of it was encrypted, else None. Raises
    ExtractionFailed (encrypted, too_large).
    """
    try:
        parts = sealed_parts(archive)
    except Unknown as error:
        raise locked(f"{what} is protected by {error}.", "Save it without.") from error
    if not parts:
        return None
    if sum(one.size for one in parts) > archive.limits.archive_mb * MIB:
        raise bomb("it inflates without end")
    probe = next((one for one in parts if one.size >= _TELLING), parts[-1])
    data = archive.read(probe.part)

    def attempt(password: str) -> tuple[str, bytes] | None:
        plain = probe.opened(data, password)
        return None if plain is None else (password, plain)

    named = f"{what} is protected by a password ({probe.name})"
    password, plain = unlock(named, attempt)
    if probe.part == WHOLE:
        return plain
    archive.decipher = _Deciphering({one.part: one for one in parts}, password)
    return None


@dataclass(frozen=True, slots=True)
class _Deciphering:
    """What an archive asks for the bytes of its members."""

    parts: dict[str, Sealed]
    password: str = field(repr=False)

    def __call__(self, name: str, data: bytes) -> bytes:
        sealed = self.parts.get(name)
        if sealed is None:
            return data
        plain = sealed.opened(data, self.password)
        if plain is None:
            raise ExtractionFailed(
                f"{name} inside the file cannot be deciphered.",
                "Replace the file by a whole copy.",
                Reason.CORRUPT,
            )
        return plain


def sealed_parts(archive: Archive) -> list[Sealed]:
    """The encrypted parts of a package, smallest first; none in an open one. Raises Unknown."""
    data = archive.read(MANIFEST)
    if b"encryption-data" not in data:
        return []
    try:
        root = parse_xml(data, MANIFEST)
    except ExtractionFailed as error:
        raise Unknown(_STRANGE) from error
    if next(root.iter("{*}keyinfo", "{*}encrypted-key"), None) is not None:
        raise Unknown("a key of OpenPGP")
    found = [_sealed(one) for one in root.iter("{*}file-entry")]
    sealed = [one for one in found if one is not None and one.part in archive.names]
    if not sealed:
        raise Unknown(_STRANGE)
    return sorted(sealed, key=lambda one: one.size)


def _sealed(entry: _Element) -> Sealed | None:
    data = next(entry.iter("{*}encryption-data"), None)
    if data is None:
        return None
    algorithm = next(data.iter("{*}algorithm"), None)
    start = next(data.iter("{*}start-key-generation"), None)
    derivation = next(data.iter("{*}key-derivation"), None)
    start_hash = _hash(_get(start, "start-key-generation-name") or "sha1")
    made = Sealed(
        part=_get(entry, "full-path"),
        size=_number(_get(entry, "size"), 0),
        cipher=_cipher(_get(algorithm, "algorithm-name")),
        iv=_bytes(_get(algorithm, "initialisation-vector")),
        start_hash=start_hash,
        derivation=_derivation(_get(derivation, "key-derivation-name")),
        salt=_bytes(_get(derivation, "salt")),
        key_size=_number(_get(derivation, "key-size"), 16),
        rounds=_number(
            _get(derivation, "iteration-count") or _get(derivation, "argon2-iterations"), 1024
        ),
        argon_kib=_number(_get(derivation, "argon2-memory"), 65536),
        lanes=_number(_get(derivation, "argon2-lanes"), 4),
    )
    if made.key_size not in (16, 24, 32) or made.argon_kib > _MOST_ARGON_KIB:
        raise Unknown(_STRANGE)
    if made.rounds > _MOST_ROUNDS:
        raise Unknown(f"a password that is hashed {made.rounds:,} times")
    return made


def _cipher(name: str) -> str:
    for known in ("aes256-cbc", "aes256-gcm", "aes192-cbc", "aes128-cbc", "blowfish"):
        if known in name.lower():
            return known
    raise Unknown(name or _STRANGE)


def _derivation(name: str) -> str:
    for known in ("pbkdf2", "argon2id"):
        if known in name.lower():
            return known
    raise Unknown(name or _STRANGE)


def _hash(name: str) -> str:
    low = name.lower()
    for known in ("sha256", "sha512", "sha1"):
        if known in low.replace("-", ""):
            return known
    raise Unknown(name)


def _get(element: _Element | None, name: str) -> str:
    for key, value in element.attrib.items() if element is not None else ():
        if str(key).rpartition("}")[2] == name:
            return str(value)
    return ""


def _number(text: str, default: int) -> int:
    return int(text) if text.isascii() and text.isdigit() and len(text) < 16 else default


def _bytes(text: str) -> bytes:
    try:
        return b64decode(text)
    except (binascii.Error, ValueError):
        return b""
