"""Passwords: every kind of encrypted file opens with its own, and nobody hears of them."""

from __future__ import annotations

import base64
import hashlib
import io
import os
import struct
import zipfile
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import psutil
import pymupdf
import pytest
from cryptography.hazmat.decrepit.ciphers.algorithms import Blowfish
from cryptography.hazmat.decrepit.ciphers.modes import CFB
from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from cryptography.hazmat.primitives.kdf.argon2 import Argon2id
from msoffcrypto.format.ooxml import OOXMLFile

from seoga.errors import ExtractionFailed, Reason
from seoga.models import Section
from seoga.settings import Settings
from seoga_extraction.engine import ExtractionEngine
from seoga_extraction.formats.hwp.password import deciphered, key_of
from seoga_extraction.limits import MIB

Reading = Callable[..., Any]
SECRET = "열려라 참깨!"
HELLO = "urn:oasis:names:tc:opendocument:xmlns:manifest:1.0"


@pytest.fixture
def given(tmp_path: Path) -> Callable[..., dict[str, str]]:
    """The options of a reader that has these passwords."""

    def write(*lines: str) -> dict[str, str]:
        path = tmp_path / "passwords.txt"
        path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
        return {"passwords_file": str(path)}

    return write


def refused(read: Reading, name: str, data: bytes, options: dict[str, str]) -> ExtractionFailed:
    with pytest.raises(ExtractionFailed) as failed:
        read(name, data, options)
    assert failed.value.reason is Reason.ENCRYPTED
    return failed.value


REAL = {
    "docx/tika__testWORD_protected_passtika.docx": ("tika", "encrypted Word 2007"),
    "xlsx/poi__protected_passtika.xlsx": ("tika", "This is an Encrypted Excel spreadsheet"),
    "pptx/tika__testPPT_protected_passtika.pptx": ("tika", "Encrypted"),
    "hwpx/kordoc__HWP5-password-123456.hwpx": ("123456", "글 97 안내문"),
    "pdf/pypdf__r4-aes-user-password.pdf": ("asdfzxcv", ""),
    "pdf/pypdf__r6-user-password.pdf": ("asdfzxcv", ""),
    "pdf/unstructured__password.pdf": ("password", "File with password"),
    "pdf/pdf.js__issue21579.pdf": ("pässwört", ""),
}


@pytest.mark.parametrize("name", REAL)
def test_real_files_open_with_their_password_among_others(
    read: Reading, handed: Path, given: Callable[..., dict[str, str]], name: str
) -> None:
    password, words = REAL[name]
    data = (handed / name).read_bytes()
    got = read(name, data, given("wrong", "", password, "another"))
    assert got.sections
    assert words in got.text
    error = refused(read, name, data, given("wrong", "worse"))
    assert "password" in error.message
    assert "2 passwords of SEOGA_PASSWORDS_FILE" in error.message
    error = refused(read, name, data, {})
    assert "SEOGA_PASSWORDS_FILE names none" in error.message
    assert "SEOGA_PASSWORDS_FILE" in error.hint


def test_an_unknown_key_size_is_said(read: Reading, handed: Path, given: Any) -> None:
    data = (handed / "docx" / "poi__bug53475-password-is-pass.docx").read_bytes()
    error = refused(read, "a.docx", data, given("pass"))
    assert "160" in error.message


def docx(text: str) -> bytes:
    out = io.BytesIO()
    space = "http://schemas.openxmlformats.org/wordprocessingml/2006/main"
    body = f"<w:body><w:p><w:r><w:t>{text}</w:t></w:r></w:p></w:body>"
    with zipfile.ZipFile(out, "w") as archive:
        archive.writestr(
            "[Content_Types].xml",
            '<Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types"/>',
        )
        archive.writestr("word/document.xml", f'<w:document xmlns:w="{space}">{body}</w:document>')
        # The library that encrypts for these tests fails with packages below 4 KiB.
        archive.writestr("word/media/noise.bin", os.urandom(8192))
    return out.getvalue()


def agile(text: str, password: str) -> bytes:
    out = io.BytesIO()
    OOXMLFile(io.BytesIO(docx(text))).encrypt(password, out)
    return out.getvalue()


def test_agile_encryption_opens_and_is_named(read: Reading, given: Any) -> None:
    data = agile("비밀 문서", SECRET)
    got = read("a.docx", data, given("x", SECRET))
    assert (got.info.format, got.text) == ("docx", "비밀 문서")
    assert "agile encryption of Office" in refused(read, "a.docx", data, {}).message


def test_what_excel_encrypts_with_its_own_password_opens_without_any(read: Reading) -> None:
    assert read("a.docx", agile("read only", "VelvetSweatshop")).text == "read only"


def test_a_cut_or_altered_encrypted_file_fails_as_its_own(read: Reading, given: Any) -> None:
    data = agile("text", SECRET)
    for end in range(600, len(data), len(data) // 7):
        with pytest.raises(ExtractionFailed):
            read("a.docx", data[:end], given(SECRET))


def manifest(part: str, size: int, cipher: str, iv: bytes, derivation: str) -> str:
    entry = (
        f'<m:file-entry m:full-path="{part}" m:size="{size}"><m:encryption-data>'
        f'<m:algorithm m:algorithm-name="{cipher}"'
        f' m:initialisation-vector="{base64.b64encode(iv).decode()}"/>{derivation}'
        "</m:encryption-data></m:file-entry>"
    )
    return f'<m:manifest xmlns:m="{HELLO}">{entry}</m:manifest>'


def deflated(data: bytes) -> bytes:
    packer = zlib.compressobj(9, zlib.DEFLATED, -15)
    return packer.compress(data) + packer.flush()


CONTENT = (
    '<office:document-content xmlns:office="o" xmlns:text="t"><office:body><office:text>'
    "<text:p>감춘 글</text:p><!-- so long that a wrong password shows --></office:text>"
    "</office:body></office:document-content>"
).encode()


def odt(members: dict[str, bytes]) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as archive:
        archive.writestr("mimetype", "application/vnd.oasis.opendocument.text")
        for name, data in members.items():
            archive.writestr(name, data)
    return out.getvalue()


def by_aes() -> bytes:
    """As LibreOffice 3.5 to 24.2 encrypts."""
    salt, iv = os.urandom(16), os.urandom(16)
    start = hashlib.sha256(SECRET.encode()).digest()
    key = hashlib.pbkdf2_hmac("sha1", start, salt, 2000, 32)
    plain = deflated(CONTENT)
    plain += bytes(15 - len(plain) % 16) + bytes([16 - len(plain) % 16])
    body = Cipher(algorithms.AES(key), modes.CBC(iv)).encryptor().update(plain)
    derivation = (
        '<m:key-derivation m:key-derivation-name="PBKDF2" m:key-size="32" m:iteration-count="2000"'
        f' m:salt="{base64.b64encode(salt).decode()}"/><m:start-key-generation'
        ' m:start-key-generation-name="http://www.w3.org/2000/09/xmldsig#sha256"/>'
    )
    name = "http://www.w3.org/2001/04/xmlenc#aes256-cbc"
    told = manifest("content.xml", len(CONTENT), name, iv, derivation)
    return odt({"content.xml": body, "META-INF/manifest.xml": told.encode()})


def by_blowfish() -> bytes:
    """As OpenOffice encrypts."""
    salt, iv = os.urandom(16), os.urandom(8)
    start = hashlib.sha1(SECRET.encode()).digest()
    key = hashlib.pbkdf2_hmac("sha1", start, salt, 1024, 16)
    body = Cipher(Blowfish(key), CFB(iv)).encryptor().update(deflated(CONTENT))
    derivation = (
        '<m:key-derivation m:key-derivation-name="PBKDF2" m:key-size="16" m:iteration-count="1024"'
        f' m:salt="{base64.b64encode(salt).decode()}"/>'
    )
    told = manifest("content.xml", len(CONTENT), "Blowfish CFB", iv, derivation)
    return odt({"content.xml": body, "META-INF/manifest.xml": told.encode()})


def by_argon() -> bytes:
    """As LibreOffice encrypts since 24.8: the whole package as one part."""
    salt, iv = os.urandom(16), os.urandom(12)
    start = hashlib.sha256(SECRET.encode()).digest()
    key = Argon2id(salt=salt, length=32, iterations=1, lanes=2, memory_cost=64).derive(start)
    package = odt({"content.xml": CONTENT})
    body = iv + AESGCM(key).encrypt(iv, deflated(package), None)
    derivation = (
        '<m:start-key-generation m:start-key-generation-name="x#sha256"/><m:key-derivation'
        ' m:key-derivation-name="urn:x:argon2id" xmlns:l="l" l:argon2-iterations="1"'
        ' l:argon2-memory="64" l:argon2-lanes="2" m:key-size="32"'
        f' m:salt="{base64.b64encode(salt).decode()}"/>'
    )
    name = "http://www.w3.org/2009/xmlenc11#aes256-gcm"
    told = manifest("encrypted-package", len(package), name, iv, derivation)
    return odt({"encrypted-package": body, "META-INF/manifest.xml": told.encode()})


@pytest.mark.parametrize("made", [by_aes, by_blowfish, by_argon])
def test_the_three_ways_of_open_document_open(
    read: Reading, given: Any, made: Callable[[], bytes]
) -> None:
    data = made()
    got = read("a.odt", data, given("x", SECRET))
    assert (got.info.format, got.text) == ("odt", "감춘 글")
    error = refused(read, "a.odt", data, given("x"))
    assert error.message.startswith("The OpenDocument text is protected by a password (")
    assert "the password of SEOGA_PASSWORDS_FILE" in error.message


@pytest.mark.parametrize(
    ("found", "put", "what"),
    [
        (b"Blowfish CFB", b"Serpent", "Serpent"),
        (b'iteration-count="1024"', b'iteration-count="999999999"', "hashed 999,999,999 times"),
        (b"<m:encryption-data>", b"<m:encryption-data><keyinfo/>", "OpenPGP"),
        (b"m:full-path", b"m:path", "unknown"),
    ],
)
def test_a_manifest_that_asks_for_too_much_or_the_unknown_is_refused(
    read: Reading, given: Any, found: bytes, put: bytes, what: str
) -> None:
    data = by_blowfish()
    assert found in data
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        members = {name: archive.read(name) for name in archive.namelist() if name != "mimetype"}
    told = members["META-INF/manifest.xml"].replace(found, put)
    altered = odt({**members, "META-INF/manifest.xml": told})
    assert what in refused(read, "a.odt", altered, given(SECRET)).message


def test_a_bomb_behind_a_password_is_refused(read: Reading, given: Any) -> None:
    data = by_blowfish()
    size = f'm:size="{len(CONTENT)}"'.encode()
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        members = {name: archive.read(name) for name in archive.namelist() if name != "mimetype"}
    told = members["META-INF/manifest.xml"].replace(size, b'm:size="%d"' % (4096 * MIB))
    with pytest.raises(ExtractionFailed) as failed:
        read("a.odt", odt({**members, "META-INF/manifest.xml": told}), given(SECRET))
    assert failed.value.reason is Reason.TOO_LARGE


def test_the_cipher_of_hangul_agrees_with_what_others_found() -> None:
    found = """
        00 01 3e ec 90 3d bc 26 fa ff 9c 6c fb 35 48 00 bc aa 14 7b 0e d1 5c 32 21 17 37 fa 97 1d
        e3 79
    """
    assert deciphered(bytes(range(32)), key_of(b"helloworld")) == bytes.fromhex(found)


def test_a_pdf_says_its_cipher(read: Reading, given: Any) -> None:
    with pymupdf.open() as document:
        document.new_page().insert_text((72, 72), "inside")
        data = document.tobytes(
            encryption=pymupdf.PDF_ENCRYPT_AES_256, user_pw="one", owner_pw="two"
        )
    assert "(AES-256)" in refused(read, "a.pdf", data, {}).message
    assert "inside" in read("a.pdf", data, given("two")).text


def zip_crypto(data: bytes, password: bytes) -> bytes:
    """A zip file of one stored member, locked in the oldest way (PKWARE APPNOTE, chapter 6)."""
    table = list(range(256))
    for _ in range(8):
        table = [n >> 1 ^ (0xEDB88320 if n & 1 else 0) for n in table]
    keys = [0x12345678, 0x23456789, 0x34567890]

    def step(byte: int) -> None:
        keys[0] = keys[0] >> 8 ^ table[(keys[0] ^ byte) & 0xFF]
        keys[1] = ((keys[1] + (keys[0] & 0xFF)) * 134775813 + 1) & 0xFFFFFFFF
        keys[2] = keys[2] >> 8 ^ table[(keys[2] ^ keys[1] >> 24) & 0xFF]

    for byte in password:
        step(byte)
    check = zlib.crc32(data)
    out = bytearray()
    for byte in bytes(11) + bytes([check >> 24]) + data:
        mask = (keys[2] | 2) & 0xFFFF
        out.append(byte ^ (mask * (mask ^ 1) >> 8 & 0xFF))
        step(byte)
    return bytes(out)


def locked_zip(plain: bytes, password: bytes, method: int = 0) -> bytes:
    """The members of a zip file, stored and locked."""
    with zipfile.ZipFile(io.BytesIO(plain)) as archive:
        members = {name: archive.read(name) for name in archive.namelist()}
    body, directory = b"", b""
    for name, data in members.items():
        secret = zip_crypto(data, password)
        label = name.encode()
        fixed = struct.pack("<HHHHH", 20, 1, method, 0, 0)
        sizes = struct.pack("<III", zlib.crc32(data), len(secret), len(data))
        local = b"PK\x03\x04" + fixed + sizes + struct.pack("<HH", len(label), 0) + label
        directory += (
            b"PK\x01\x02" + struct.pack("<H", 20) + fixed + sizes
            + struct.pack("<HHHHHII", len(label), 0, 0, 0, 0, 0, len(body)) + label
        )  # fmt: skip
        body += local + secret
    end = struct.pack("<HHHHIIH", 0, 0, len(members), len(members), len(directory), len(body), 0)
    return body + directory + b"PK\x05\x06" + end


def test_members_of_a_zip_with_a_password_open(read: Reading, given: Any) -> None:
    data = locked_zip(docx("locked"), b"sesame")
    assert read("a.docx", data, given("x", "sesame")).text == "locked"
    assert "ZipCrypto" in refused(read, "a.docx", data, {}).message
    stronger = locked_zip(docx("locked"), b"sesame", method=99)
    assert "WinZip" in refused(read, "a.docx", stronger, given("sesame")).message


def test_the_engine_says_when_the_passwords_changed_and_never_what_they_are(
    tmp_path: Path,
) -> None:
    path = tmp_path / "p"
    path.write_text("")
    engine = ExtractionEngine(Settings(passwords_file=str(path), extract_workers=1))
    assert engine.describe()["passwords"] == ""
    path.write_text(f"{SECRET}\n", encoding="utf-8")
    first = engine.describe()["passwords"]
    assert first
    os.utime(path, ns=(1, 1))
    assert engine.describe()["passwords"] not in ("", first)
    locked = tmp_path / "a.docx"
    locked.write_bytes(agile("inside", SECRET))
    got = [one.text for one in engine.extract(locked, "a.docx") if isinstance(one, Section)]
    assert got == ["inside"]
    lines = [" ".join(child.cmdline()) for child in psutil.Process().children()]
    assert lines
    assert not any(SECRET in line for line in lines)
    engine.close()


def test_a_locked_attachment_is_told_and_read_with_its_password(read: Reading, given: Any) -> None:
    data = base64.b64encode(agile("inside", SECRET))
    mail = (
        b"From: a@b.c\nTo: d@e.f\nSubject: S\nMIME-Version: 1.0\n"
        b'Content-Type: multipart/mixed; boundary="x"\n\n--x\n\nbody\n--x\n'
        b'Content-Type: application/octet-stream; name="a.docx"\n'
        b"Content-Disposition: attachment\nContent-Transfer-Encoding: base64\n\n"
        + data
        + b"\n--x--\n"
    )
    assert "inside" in read("a.eml", mail, given(SECRET)).text
    refused(read, "a.eml", mail, {})
