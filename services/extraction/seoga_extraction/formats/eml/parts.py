"""The parts of a message: which is the body, which are attachments, and how they are encoded."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from email import policy
from email.errors import HeaderParseError
from email.header import decode_header
from email.message import Message
from email.parser import BytesHeaderParser
from email.utils import collapse_rfc2231_value

from seoga_extraction.format import decode, one_line

MAX_PARTS = 1000
MAX_DEPTH = 30
_MESSAGE = "message/rfc822"
_TAG = re.compile(r"<[^<>]*>")
_STRUCTURE = re.compile(r"<(?:table|h[1-6]|[uo]l|pre)\b", re.I)


@dataclass(frozen=True, slots=True)
class Part:
    """One leaf of a message."""

    kind: str
    name: str
    charset: str
    data: bytes


class Sealed(Message):
    """A message whose parser takes a message inside as the bytes of an attachment: what is in it,
    and in that one, is parsed where it is read, not over and over on every level around it."""

    def get_content_maintype(self) -> str:
        """As in the headers, but "application" for a message, which parsers go into."""
        sealed = self.get_content_type() == _MESSAGE
        return "application" if sealed else super().get_content_maintype()


def mend(message: Message) -> None:
    """Raw bytes in headers (old Korean mailers, and the names of their attachments) as text."""
    for part in message.walk():
        for name, value in list(part.raw_items()):
            text = str(value)
            if any("\udc80" <= one <= "\udcff" for one in text):
                part.replace_header(name, decode(text.encode("utf-8", "surrogateescape"))[0])


def header(message: Message, name: str) -> str:
    """A header in words; "" without it."""
    return one_line(_words(str(message.get(name) or "")))


def _words(text: str) -> str:
    """Encoded words (RFC 2047) read; what cannot be stays as it is."""
    try:
        pieces = decode_header(text)
    except (HeaderParseError, ValueError):
        return text
    return "".join(
        piece if isinstance(piece, str) else decode(piece, charset or "")[0]
        for piece, charset in pieces
    )


def body_of(message: Message) -> tuple[Part | None, list[Part]]:
    """The part that is the text of the message, and the others in order."""
    plain: Part | None = None
    rich: Part | None = None
    others: list[Part] = []
    for part, attached in _leaves(message, 0):
        if attached or not part.kind.startswith("text/"):
            others.append(part)
        elif part.kind == "text/html" and rich is None:
            rich = part
        elif part.kind != "text/html" and plain is None:
            plain = part
        else:
            others.append(part)
    return _better(plain, rich), [part for part in others if part.data and _worth(part)]


def _worth(part: Part) -> bool:
    """Pictures and style sheets inside a page, signatures: nothing that somebody attached."""
    return not (
        (part.kind.startswith("image/") and not part.name)
        or part.kind in ("text/css", "application/pgp-signature", "application/pkcs7-signature")
    )


def _better(plain: Part | None, rich: Part | None) -> Part | None:
    """HTML where it has structure or the plain text only says that there is HTML."""
    if plain is None or rich is None:
        return plain or rich
    page = charset_text(rich)
    words = len(_TAG.sub(" ", page).split())
    if _STRUCTURE.search(page) or len(charset_text(plain).split()) < 0.5 * words:
        return rich
    return plain


def _leaves(message: Message, depth: int) -> Iterator[tuple[Part, bool]]:
    """The leaves, and whether each is attached; a message inside one is a leaf of its own."""
    count = 0
    if message.is_multipart():
        for inner in message.get_payload():
            if count >= MAX_PARTS or depth >= MAX_DEPTH or not isinstance(inner, Message):
                return
            count += 1
            yield from _leaves(inner, depth + 1)
        return
    kind = message.get_content_type()
    attached = message.get_content_disposition() == "attachment"
    if kind == _MESSAGE:
        yield _message(message), True
        return
    data = message.get_payload(decode=True)
    charset = str(message.get_content_charset() or "")
    # A picture that the page itself shows (a logo) is nothing that somebody attached.
    shown = kind.startswith("image/") and not attached and "Content-ID" in message
    name = "" if shown else _name(message)
    yield Part(kind, name, charset, data if isinstance(data, bytes) else b""), attached


def _message(message: Message) -> Part:
    data = message.get_payload(decode=True)
    inside = data if isinstance(data, bytes) else b""
    headers = BytesHeaderParser(policy=policy.compat32).parsebytes(inside)
    mend(headers)
    return Part(_MESSAGE, f"{header(headers, 'Subject') or 'message'}.eml", "", inside)


def _name(message: Message) -> str:
    found = message.get_param("filename", None, "content-disposition") or message.get_param("name")
    if not found:
        return ""
    return _words(collapse_rfc2231_value(found))


def charset_text(part: Part) -> str:
    """The text of a part with `\\n` line ends."""
    text, _ = decode(part.data, part.charset)
    return text.replace("\r\n", "\n").replace("\r", "\n")
