"""Distribution (배포용) documents: their text is encrypted with a key that lies beside it.

The scheme is in Hancom's published format of 배포용 문서, revision 1.2: the first record holds
256 bytes, scrambled by the rand() of Microsoft's C library; in it lies the key of AES-128-ECB.
"""

from __future__ import annotations

from collections.abc import Iterator

from seoga.errors import ExtractionFailed, Reason
from seoga_extraction.formats.hwp.records import Tag

_DATA_BYTES = 256
_KEY_BYTES = 16
_BLOCK_BYTES = 16


def decrypted(stream: bytes) -> bytes:
    """The compressed records of a ViewText stream. Raises ExtractionFailed (encrypted)."""
    from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes

    head = int.from_bytes(stream[:4], "little")
    start = 4 + _DATA_BYTES
    if head & 0x3FF != Tag.DISTRIBUTE_DOC_DATA or head >> 20 != _DATA_BYTES or len(stream) < start:
        raise ExtractionFailed(
            "The HWP document is a distribution (배포용) document whose key cannot be found.",
            "Have its owner save it as an ordinary document.",
            Reason.ENCRYPTED,
        )
    data = _unscrambled(stream[4:start])
    offset = 4 + (data[0] & 0xF)
    body = stream[start:]
    body = body[: len(body) - len(body) % _BLOCK_BYTES]
    cipher = Cipher(algorithms.AES(data[offset : offset + _KEY_BYTES]), modes.ECB())
    decryptor = cipher.decryptor()
    return decryptor.update(body) + decryptor.finalize()


def _unscrambled(data: bytes) -> bytes:
    """The first four bytes are the seed; the rest is XORed with runs of one random byte each."""
    numbers = _rand(int.from_bytes(data[:4], "little"))
    out = bytearray(data)
    at = 0
    while at < len(out):
        mask = next(numbers) & 0xFF
        for position in range(at, min(at + (next(numbers) & 0xF) + 1, len(out))):
            if position >= 4:
                out[position] ^= mask
            at = position + 1
    return bytes(out)


def _rand(seed: int) -> Iterator[int]:
    """rand() of Microsoft's C library."""
    while True:
        seed = (seed * 214013 + 2531011) & 0xFFFFFFFF
        yield seed >> 16 & 0x7FFF
