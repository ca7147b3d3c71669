"""Files inside a PDF: of a portfolio, attached to the document, or pinned to a page."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from functools import partial
from typing import Any

from seoga_extraction.attached import Attached
from seoga_extraction.format import corrupt
from seoga_extraction.formats.pdf.rendering import mupdf

# The number of the library for a mark that holds a file.
PINNED = 17


def embedded(document: Any, pinned: Iterable[tuple[int, int]]) -> Iterator[Attached]:
    """Each file once, those of the document first; `pinned` are page numbers (from 0) and
    references of marks that hold one. What is damaged gives what can be read of it."""
    seen: set[tuple[str, int]] = set()
    for one in (*_of_document(document), *_of_pages(document, pinned)):
        # Programs list a pinned file in both places.
        if (one.name, one.size) not in seen:
            seen.add((one.name, one.size))
            yield one


def _of_document(document: Any) -> Iterator[Attached]:
    with suppress(*_broken()):
        for number in range(document.embfile_count()):
            info = document.embfile_info(number)
            name = info["ufilename"] or info["filename"] or info["name"]
            yield _attached(name, info, partial(document.embfile_get, number))


def _of_pages(document: Any, pinned: Iterable[tuple[int, int]]) -> Iterator[Attached]:
    for number, xref in pinned:
        with suppress(*_broken()):
            page = document[number]
            mark = page.load_annot(xref)
            yield _attached(mark.file_info["filename"], mark.file_info, partial(_file, page, xref))


def _file(page: Any, xref: int) -> Any:
    return page.load_annot(xref).get_file()


def _attached(name: str, info: dict[str, Any], get: Callable[[], Any]) -> Attached:
    def data() -> bytes:
        try:
            return bytes(get())
        except _broken() as error:
            raise corrupt("It is damaged or cut off.") from error

    return Attached(_mended(name), "inside the PDF", max(int(info["size"] or 0), 0), data)


def _mended(name: str) -> str:
    """UTF-8, which many programs write where the format wants another encoding."""
    with suppress(UnicodeError):
        return name.encode("latin-1").decode("utf-8")
    return name


def _broken() -> tuple[type[Exception], ...]:
    return (mupdf().mupdf.FzErrorBase, RuntimeError, ValueError, KeyError, TypeError)
