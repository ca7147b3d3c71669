"""HWP 5 documents with a password, as Hangul 7.0 and later encrypt them (EncryptVersion 4).

Hancom documents only that there is such a version. What independent readers found in files of
Hangul and agree on: the key of AES-128 is the beginning of SHA-1 over the password, each byte
behind the one before it turned left by a bit; streams are enciphered bit by bit (CFB-1) from a
register of zeros, after they were deflated.
"""

from __future__ import annotations

import hashlib

_FIRST = 0xEC
_KEY_BYTES = _BLOCK_BYTES = 16
# Bytes deciphered at once: each of their bits needs a block of 16.
_PIECE = 1 << 14


def spellings(password: str) -> list[bytes]:
    """The bytes of a password; Hangul takes Korean ones in its old code page."""
    found = [password.encode()]
    if not password.isascii():
        try:
            found.append(password.encode("cp949"))
        except UnicodeEncodeError:
            return found
    return found


def key_of(password: bytes) -> bytes:
    """The key of AES-128."""
    mixed = bytearray()
    before = _FIRST
    for one in password:
        mixed += bytes(((before << 1 | before >> 7) & 0xFF, one))
        before = one
    return hashlib.sha1(mixed, usedforsecurity=False).digest()[:_KEY_BYTES]


def deciphered(data: bytes, key: bytes) -> bytes:
    """The bytes of a stream before they were enciphered.

    The register before a bit holds the 128 enciphered bits before it, so all registers are known
    at once: one call of AES serves a whole piece.
    """
    import numpy
    from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes

    encryptor = Cipher(algorithms.AES(key), modes.ECB()).encryptor()
    padded = bytes(_BLOCK_BYTES) + data
    out = bytearray()
    for at in range(0, len(data), _PIECE):
        piece = padded[at : at + _PIECE + _BLOCK_BYTES]
        bits = numpy.unpackbits(numpy.frombuffer(piece, numpy.uint8))
        windows = numpy.lib.stride_tricks.sliding_window_view(bits, 8 * _BLOCK_BYTES)[:-1]
        streams = encryptor.update(numpy.packbits(windows, axis=1).tobytes())
        first = numpy.frombuffer(streams, numpy.uint8)[::_BLOCK_BYTES] >> 7
        out += numpy.packbits(bits[8 * _BLOCK_BYTES :] ^ first).tobytes()
    return bytes(out)
