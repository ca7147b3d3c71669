"""The parts of a message: which is the body, which are attachments, and how they are encoded."""

from __future__ import annotations

import re
from base64 import b64decode
from collections.abc import Callable
from dataclasses import dataclass
from email import policy
from email.errors import (
    CloseBoundaryNotFoundDefect,
    HeaderParseError,
    StartBoundaryNotFoundDefect,
)
from email.header import decode_header
from email.message import Message
from email.parser import BytesHeaderParser
from email.utils import collapse_rfc2231_value

from seoga_extraction.format import decode, one_line, undecoded

# Is told a sentence on bytes that are none of their charset.
Tell = Callable[[str], None]
MAX_PARTS = 1000
MAX_DEPTH = 30
_MESSAGE = "message/rfc822"
_BODIES = ("text/plain", "text/html")
_TAG = re.compile(r"<[^<>]*>")
_NO_BASE64 = re.compile(r"[^A-Za-z0-9+/]+")
# What the parser says of a part whose mark of the end, or of its first part, is missing.
_ENDLESS = (CloseBoundaryNotFoundDefect, StartBoundaryNotFoundDefect)
_STRUCTURE = re.compile(r"<(?:table|h[1-6]|[uo]l|pre)\b", re.I)


@dataclass(frozen=True, slots=True)
class Part:
    """One leaf of a message."""

    kind: str
    name: str
    charset: str
    data: bytes
    # How its lines are joined (RFC 3676): "", "flowed", or "delsp": without the space at their end.
    flow: str = ""


class Sealed(Message):
    """A message whose parser takes a message inside as the bytes of an attachment: what is in it,
    and in that one, is parsed where it is read, not over and over on every level around it."""

    def get_content_maintype(self) -> str:
        """As in the headers, but "application" for a message, which parsers go into."""
        sealed = self.get_content_type() == _MESSAGE
        return "application" if sealed else super().get_content_maintype()


def mend(message: Message, tell: Tell = lambda _: None) -> None:
    """Raw bytes in headers (old Korean mailers, and the names of their attachments) as text."""
    for part in message.walk():
        for name, value in list(part.raw_items()):
            text = str(value)
            if any("\udc80" <= one <= "\udcff" for one in text):
                raw = text.encode("utf-8", "surrogateescape")
                part.replace_header(name, _decoded(raw, "", f"the header {name}", tell))


def header(message: Message, name: str, tell: Tell = lambda _: None) -> str:
    """A header in words; "" without it."""
    return one_line(_words(str(message.get(name) or ""), f"the header {name}", tell))


def _words(text: str, where: str = "", tell: Tell = lambda _: None) -> str:
    """Encoded words (RFC 2047) read; what cannot be stays as it is."""
    try:
        pieces = decode_header(text)
    except (HeaderParseError, ValueError):
        return text
    return "".join(
        piece if isinstance(piece, str) else _decoded(piece, charset or "", where, tell)
        for piece, charset in pieces
    )


def _decoded(data: bytes, charset: str, where: str, tell: Tell) -> str:
    text, name = decode(data, charset)
    if lost := undecoded(data, text, name):
        tell(f"In {where}: {lost}")
    return text


def body_of(message: Message, cut: Callable[[str], None]) -> tuple[list[Part], list[Part]]:
    """The parts that are the text of the message, and what hangs on it, each in order.

    Only parts of multipart/alternative say the same in other forms (RFC 2046): the better one is
    taken. Others are read one after the other: a footer of a mailing list, text below a picture.
    `cut` is told of parts that are too many or too deep.
    """
    bodies, others = _read(message, 0)
    if left := _left_out(message, 0):
        cut(
            f"Parts of the message beyond {MAX_PARTS:,} side by side or {MAX_DEPTH} deep are not "
            f"read: {left:,}."
        )
    return bodies, [part for part in others if part.data and _worth(part)]


def _read(message: Message, depth: int, form: bool = True) -> tuple[list[Part], list[Part]]:
    """The bodies and the others; `form`: a leaf is the text itself, whatever it is called."""
    if not message.is_multipart():
        return _leaf(message, form)
    kind = message.get_content_type()
    form = kind == "multipart/alternative"
    inner = [one for one in message.get_payload() if isinstance(one, Message)][:MAX_PARTS]
    if depth >= MAX_DEPTH:
        return [], []
    read = [_read(one, depth + 1, form) for one in inner]
    others = [part for _, hanging in read for part in hanging]
    forms = [bodies for bodies, _ in read if bodies]
    if form:
        return _best(forms), others
    if kind == "multipart/related":
        # The first is the page, the rest is what it shows (RFC 2387).
        return (forms[0] if forms else []), [part for form in forms[1:] for part in form] + others
    return [part for form in forms for part in form], others


def _left_out(message: Message, depth: int) -> int:
    """How many leaves `_read` leaves out."""
    if not message.is_multipart():
        return 0
    inner = [one for one in message.get_payload() if isinstance(one, Message)]
    first = 0 if depth >= MAX_DEPTH else MAX_PARTS
    left = sum(not part.is_multipart() for one in inner[first:] for part in one.walk())
    return left + sum(_left_out(one, depth + 1) for one in inner[:first])


def _leaf(message: Message, form: bool) -> tuple[list[Part], list[Part]]:
    kind = message.get_content_type()
    attached = message.get_content_disposition() == "attachment"
    if kind == _MESSAGE:
        return [], [_message(message)]
    data = payload(message)
    charset = str(message.get_content_charset() or "")
    # A picture that the page itself shows (a logo) is nothing that somebody attached.
    shown = kind.startswith("image/") and not attached and "Content-ID" in message
    name = "" if shown else _name(message)
    flow = ""
    if str(message.get_param("format", "")).lower() == "flowed":
        flow = "delsp" if str(message.get_param("delsp", "")).lower() == "yes" else "flowed"
    part = Part(kind, name, charset, data, flow)
    # A page with a name beside the text is a file that the mailer shows in place.
    if attached or kind not in _BODIES or (name and not form):
        return [], [part]
    return [part], []


def payload(message: Message) -> bytes:
    """The bytes of a leaf; of base64 that breaks off, those before the cut."""
    if signs := _broken_off(message):
        return b64decode(signs[:-1] if len(signs) % 4 == 1 else signs + "=" * (-len(signs) % 4))
    data = message.get_payload(decode=True)
    return data if isinstance(data, bytes) else b""


def is_cut(message: Message) -> bool:
    """Whether a part has no end, or ends within the letters of base64."""
    return any(
        _broken_off(part) or any(isinstance(one, _ENDLESS) for one in part.defects)
        for part in message.walk()
    )


def _broken_off(part: Message) -> str:
    """The signs of base64 that ends within a group of four; "" for what does not."""
    named = str(part.get("Content-Transfer-Encoding", "")).strip().lower()
    if named != "base64" or part.is_multipart():
        return ""
    # What mailing lists write below it is none of it.
    signs, end, _ = str(part.get_payload()).partition("=")
    signs = _NO_BASE64.sub("", signs)
    return "" if end or len(signs) % 4 == 0 else signs


def _best(forms: list[list[Part]]) -> list[Part]:
    """The richest form, unless it says no more than a plain one without its markup."""
    plain = [form for form in forms if all(part.kind == "text/plain" for part in form)]
    rich = [form for form in forms if form not in plain]
    if not plain or not rich:
        return (plain or rich or [[]])[-1]
    return rich[-1] if _says_more(rich[-1], plain[-1]) else plain[-1]


def _says_more(rich: list[Part], plain: list[Part]) -> bool:
    """Where it has structure, or the plain text only says that there is HTML."""
    page = "\n".join(charset_text(part) for part in rich)
    words = len(_TAG.sub(" ", page).split())
    said = sum(len(charset_text(part).split()) for part in plain)
    return bool(_STRUCTURE.search(page)) or said < 0.5 * words


def _worth(part: Part) -> bool:
    """Pictures and style sheets inside a page, signatures: nothing that somebody attached."""
    return not (
        (part.kind.startswith("image/") and not part.name)
        or part.kind in ("text/css", "application/pgp-signature", "application/pkcs7-signature")
    )


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


def charset_text(part: Part, tell: Tell = lambda _: None) -> str:
    """The text of a part with `\\n` line ends, its lines joined where they flow."""
    text = _decoded(part.data, part.charset, "the body", tell)
    text = text.replace("\r\n", "\n").replace("\r", "\n")
    return _joined(text, part.flow) if part.flow else text


def _joined(text: str, flow: str) -> str:
    """Lines that end in a space go on in the next one of the same depth of quoting."""
    out: list[str] = []
    open_at = -1
    for line in text.split("\n"):
        bare = line.lstrip(">")
        depth = len(line) - len(bare)
        bare = bare.removeprefix(" ")
        if depth == open_at:
            out[-1] += bare
        else:
            out.append(f"{'>' * depth} {bare}" if depth else bare)
        # A signature mark is a line of its own.
        flows = bare.endswith(" ") and bare != "-- "
        open_at = depth if flows else -1
        if flows and flow == "delsp":
            out[-1] = out[-1][:-1]
    return "\n".join(out)
