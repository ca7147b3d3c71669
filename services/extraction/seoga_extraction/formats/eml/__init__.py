"""E-mail (eml) and MHTML pages: headers, body, attachments by name and, where read, by content."""

from __future__ import annotations

import re
from collections.abc import Iterator
from email import policy
from email.message import Message
from email.parser import BytesParser
from functools import partial

from seoga.errors import ExtractionFailed, Reason
from seoga.models import DocumentInfo, Section
from seoga_extraction.attached import Attached, attachments
from seoga_extraction.format import Format, Input, Outline, Parsed, corrupt, under
from seoga_extraction.formats.eml.parts import (
    Part,
    Sealed,
    body_of,
    charset_text,
    header,
    is_cut,
    mend,
)

_SHOWN = ("From", "To", "Cc", "Date", "Subject")
_HEADER = re.compile(rb"^([A-Za-z][A-Za-z0-9-]{1,60}):[ \t]?\S?")
# Of these a message has at least two at its top; text that begins with "Note: x" has none.
_TYPICAL = frozenset(
    (
        b"from",
        b"to",
        b"subject",
        b"date",
        b"message-id",
        b"mime-version",
        b"received",
        b"return-path",
        b"content-type",
        b"delivered-to",
        b"reply-to",
    )
)
# YAML and other files of keys look like headers too.
_NAMED = ("", ".eml", ".mht", ".mhtml", ".mail", ".msg", ".doc", ".txt")


_SMIME = ("application/pkcs7-mime", "application/x-pkcs7-mime")


def parse(source: Input) -> Parsed:
    """The body, as HTML where that says more than its plain form; attachments follow it.

    An attachment that a password or a model would open is told at the end too, so that a person
    hears of it.
    """
    message = _message(source.data.removeprefix(b"\xef\xbb\xbf"))
    lost: list[str] = []
    mend(message, lost.append)
    headers = {name: text for name in _SHOWN if (text := header(message, name, lost.append))}
    bodies, attached = body_of(message, source.cut)
    texts = [(body.kind, charset_text(body, lost.append)) for body in bodies]
    subject = headers.get("Subject", "")
    meta = {name.lower(): text for name, text in headers.items()}
    yield DocumentInfo("eml", subject, meta | ({"note": " ".join(lost)} if lost else {}))
    outline = Outline()
    if subject:
        yield outline.heading(1, subject)
    lines = [f"{name}: {text}" for name, text in headers.items() if name != "Subject"]
    if lines:
        yield Section("\n".join(lines), heading_path=outline.path)
    for kind, text in texts:
        yield from _body(source, kind, text, outline.path)
    files = [Attached(one.name, one.kind, len(one.data), partial(_data, one)) for one in attached]
    yield from attachments(source, files, outline)
    source.tell_cuts()
    if is_cut(message):
        raise corrupt("The message is cut off: what was read is all there is.")


def _data(part: Part) -> bytes:
    """Raises ExtractionFailed for what only the person it was sent to can open."""
    if part.kind in _SMIME:
        raise ExtractionFailed(
            "It is encrypted or signed as a whole (S/MIME).",
            "Save the message from the mail program once it is opened there.",
            Reason.ENCRYPTED,
        )
    return part.data


def _message(data: bytes) -> Message:
    try:
        message: Message = BytesParser(Sealed, policy=policy.compat32).parsebytes(data)
    except RecursionError as error:
        raise ExtractionFailed(
            "The parts of the message are nested too deep.",
            "Save what it holds by itself.",
            Reason.TOO_LARGE,
        ) from error
    return message


def _body(source: Input, kind: str, text: str, path: tuple[str, ...]) -> Iterator[Section]:
    """HTML by the format for HTML; plain text in paragraphs."""
    if kind != "text/html":
        for block in re.split(r"\n[ \t]*\n", text):
            if block.strip():
                yield Section(block.strip("\n").rstrip(), heading_path=path)
        return
    page = text if re.match(r"\s*<(?:!doctype|html)", text, re.I) else f"<html><body>{text}"
    try:
        for event in source.inner("body.html", page.encode("utf-8", "replace")):
            if isinstance(event, Section):
                yield under(event, path, len(path))
    except ExtractionFailed as error:
        source.cut(f"The body is not read whole: {error.message}")


def sniff(source: Input) -> bool:
    """At least two header fields of mail at the top, before the first blank line."""
    if source.extension not in _NAMED:
        return False
    found: set[bytes] = set()
    for line in source.head.lstrip(b"\xef\xbb\xbf\r\n").splitlines()[:200]:
        if not line.strip():
            break
        if line[:1] in (b" ", b"\t"):
            continue
        field = _HEADER.match(line)
        if field is None:
            # mbox files put a line before the headers.
            if not found and line.startswith(b"From "):
                continue
            return False
        if field.group(1).lower() in _TYPICAL:
            found.add(field.group(1).lower())
    mail = found & {b"from", b"to", b"message-id", b"received", b"return-path", b"mime-version"}
    return len(found) >= 2 and bool(mail)


FORMAT = Format(
    "eml",
    parse,
    extensions=(".eml", ".mht", ".mhtml"),
    sniff=sniff,
    text=True,
    nests=True,
    version="8",
)
