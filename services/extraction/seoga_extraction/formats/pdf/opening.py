"""Opening a PDF: by any file name, locked or not, with a count of pages that may be wrong."""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from seoga.errors import ExtractionFailed, Reason
from seoga_extraction.format import Input, corrupt
from seoga_extraction.formats.pdf.rendering import mupdf
from seoga_extraction.limits import MIB

# Where the last marks of a file are looked for: some have a whole other file behind them.
_TAIL = 16 * MIB
# The V of the encryption dictionary (ISO 32000-2, table 20).
_CIPHERS = {"1": " (RC4)", "2": " (RC4)", "4": " (AES-128)", "5": " (AES-256)"}
# Where a file says how it is encrypted: in its trailer, or in an object of its own (7.6.2).
_ENCRYPTED = re.compile(rb"/Encrypt\s*(?:<<|(\d+)\s+(\d+)\s+R)")
_HANDLER = re.compile(rb"/Filter\s*/([A-Za-z][\w.#-]*)")
_NEAR = 4096
_NAMED = {
    "Adobe.PubSec": "certificates (Adobe.PubSec)",
    "Adobe.APS": "Adobe's rights management (Adobe.APS)",
    "EBX_HANDLER": "the DRM of e-books (EBX_HANDLER)",
    "FOPN_fweb": "FileOpen (FOPN_fweb)",
}
# What programs put behind a PDF: a zip, another PDF, a picture, a page, an archive.
_OTHERS = (b"PK\x03\x04", b"%PDF", b"\x89PNG", b"\xff\xd8\xff", b"GIF8", b"<", b"\x1f\x8b", b"Rar!")
_KID = re.compile(r"(\d+) \d+ R")
MOST_NODES = 200_000


def opened(source: Input) -> tuple[Any, bool]:
    """The document, with at least a page, and whether it counts its pages rightly. Raises
    ExtractionFailed: encrypted, corrupt."""
    pymupdf = mupdf()
    try:
        with _named(source.path) as path:
            document = pymupdf.open(path, filetype="pdf")
    except (pymupdf.FileDataError, RuntimeError) as error:
        if (handler := _handler(source)) not in ("", "Standard"):
            raise _foreign(handler) from error
        raise corrupt("The PDF is damaged or cut off: it cannot be opened.") from error
    try:
        _unlock(document, source)
        right = True
        # Damaged references cost the second count, not the pages.
        with suppress(pymupdf.mupdf.FzErrorBase, RuntimeError, ValueError):
            right = not _counted_anew(document)
        if _count(document) < 1:
            raise corrupt("The PDF is damaged or cut off: no page can be found in it.")
    except BaseException:
        document.close()
        raise
    return document, right


@contextmanager
def _named(path: Path) -> Iterator[Path]:
    """A path that the library takes while it opens the file: its own are UTF-8, names need not."""
    try:
        str(path).encode()
    except UnicodeEncodeError:
        with TemporaryDirectory(prefix="seoga-pdf-") as folder:
            link = Path(folder) / "document.pdf"
            link.symlink_to(path.absolute())
            yield link
        return
    yield path


def _handler(source: Input) -> str:
    """The name of what protects the file, "" where nothing says so."""
    found = _search(source, _ENCRYPTED)
    if found is None:
        return ""
    if found[1]:
        name = rb"(?<!\d)%s\s+%s\s+obj" % (found[1], found[2])
        found = _search(source, re.compile(name))
    if found is None:
        return ""
    said, *_ = found.string[found.end() : found.end() + _NEAR].split(b"endobj", 1)
    named = _HANDLER.search(said)
    return named[1].decode("latin-1") if named else ""


def _search(source: Input, what: re.Pattern[bytes]) -> re.Match[bytes] | None:
    """The first place in the file, with at least 4 KiB behind it in its string if there are."""
    held = b""
    with source.path.open("rb") as stream:
        while piece := stream.read(MIB):
            held = held[-2 * _NEAR :] + piece
            found = what.search(held)
            if found and (len(held) - found.end() >= _NEAR or not stream.peek(1)):
                return found
    return what.search(held)


def _foreign(handler: str) -> ExtractionFailed:
    by = _NAMED.get(handler, f"the program {handler}")
    return ExtractionFailed(
        f"The PDF is protected by {by}, not by a password.",
        "Open it in the program that may read it and save or print it without protection.",
        Reason.ENCRYPTED,
    )


def _unlock(document: Any, source: Input) -> None:
    """Many files are encrypted only against printing: the empty password opens them."""
    if not document.needs_pass or document.authenticate(""):
        return
    _, version = document.xref_get_key(-1, "Encrypt/V")

    def attempt(password: str) -> bool | None:
        return bool(document.authenticate(password)) or None

    source.unlock(f"The PDF is protected by a password{_CIPHERS.get(version, '')}", attempt)


def _count(document: Any) -> int:
    try:
        return int(document.page_count)
    except RuntimeError:
        return 0


def _counted_anew(document: Any) -> bool:
    """Whether its tree was told anew how many pages are below each of its nodes: it counted none,
    more than there can be, or fewer than there are, which would be lost.

    One that counts more than there are is left: in place of those that are lost stands a failure.
    """
    if not document.is_pdf:
        return False
    kind, root = document.xref_get_key(document.pdf_catalog(), "Pages")
    if kind != "xref":
        return False
    order = _tree(document, int(root.split()[0]))
    if len(order) >= MOST_NODES:
        return False
    counts: dict[int, int] = {}
    for node, kids in reversed(order.items()):
        counts[node] = sum(counts[kid] for kid in kids) if kids else _is_page(document, node)
    few = any(_told(document, node) < counts[node] for node, kids in order.items() if kids)
    if _count(document) >= 1 and not few:
        return False
    for node, kids in order.items():
        if kids:
            document.xref_set_key(node, "Count", str(counts[node]))
    return True


def _told(document: Any, node: int) -> int:
    """How many pages a node says it has; 0 for what is no number."""
    kind, text = document.xref_get_key(node, "Count")
    return int(text) if kind == "int" else 0


def _tree(document: Any, root: int) -> dict[int, list[int]]:
    """Each node with those below it, the upper ones first; each stands below one other only."""
    order: dict[int, list[int]] = {}
    known = {root}
    waiting = deque([root])
    while waiting and len(known) < MOST_NODES:
        node = waiting.popleft()
        order[node] = [kid for kid in dict.fromkeys(_kids(document, node)) if kid not in known]
        known.update(order[node])
        waiting.extend(order[node])
    return order


def _kids(document: Any, node: int) -> list[int]:
    if not 0 < node < document.xref_length():
        return []
    kind, text = document.xref_get_key(node, "Kids")
    return [int(kid) for kid in _KID.findall(text)] if kind == "array" else []


def _is_page(document: Any, node: int) -> int:
    if not 0 < node < document.xref_length():
        return 0
    return int(document.xref_get_key(node, "Type")[1] == "/Page")


def ends(source: Input) -> bool:
    """Whether its last marks are there: programs forgive much, but what is behind a cut is gone.

    A little may be behind the marks, or a whole other file, but no more objects of this one.
    """
    with source.path.open("rb") as stream:
        stream.seek(max(source.size - _TAIL, 0))
        tail = stream.read()
    at = max(tail.rfind(mark) for mark in (b"%%EOF", b"startxref", b"trailer"))
    if at < 0 or b" obj" in tail[at:]:
        return False
    behind = tail[at:].removeprefix(b"%%EOF").lstrip()
    return len(behind) <= _NEAR or behind.startswith(_OTHERS)
