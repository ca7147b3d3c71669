"""No pattern of the parsers goes back for ever: a file could keep a worker busy with one line."""

from __future__ import annotations

import importlib
import pkgutil
import re
import signal
from collections.abc import Iterator
from types import ModuleType
from typing import Any

import pytest

import seoga
import seoga_embedding
import seoga_extraction
import seoga_gateway
import seoga_indexer

CHARS = 2000
# Cutting 2,000 characters in all ways takes longer than a person lives; one pass milliseconds.
MOST_S = 5.0
REPEATED = (
    *("a", "1", "가", " ", "\n", "-", "_", ".", "/", "(", "[", "{", "|", "*", "=", "\\", "#", ":"),
    *("<!---->", "<!-- a -->", "a1", "a-", "a.", "1.", "2000 ", "a b ", ".. ", "<a ", "[a]", "(a)"),
    *("a, ", "1,", "다. ", "는 ", "년 1"),
)
WORDS = re.compile(r"[A-Za-z가-힣<!]{2,12}")


def modules(package: ModuleType) -> Iterator[ModuleType]:
    for found in pkgutil.walk_packages(package.__path__, f"{package.__name__}."):
        if not found.name.endswith("__main__"):
            yield importlib.import_module(found.name)


def patterns() -> dict[str, re.Pattern[Any]]:
    """Every compiled pattern that a module of the product holds, by where it stands."""
    out: dict[str, re.Pattern[Any]] = {}
    for package in (seoga, seoga_embedding, seoga_extraction, seoga_gateway, seoga_indexer):
        for module in modules(package):
            for name, value in vars(module).items():
                several = value if isinstance(value, tuple | list) else (value,)
                held = [one for one in several if isinstance(one, re.Pattern)]
                out |= {f"{module.__name__}.{name}.{at}": one for at, one in enumerate(held)}
    return out


def too_long(signum: int, frame: object) -> None:
    raise TimeoutError


def test_every_pattern_ends_soon_whatever_it_is_given() -> None:
    found, slow = patterns(), dict[str, str]()
    assert len(found) > 300
    before = signal.signal(signal.SIGALRM, too_long)
    try:
        for name, pattern in found.items():
            text = pattern.pattern
            said = WORDS.findall(text.decode("latin-1") if isinstance(text, bytes) else text)
            for part in (*REPEATED, *said[:6]):
                hostile: Any = part * (CHARS // len(part)) + "\0"
                given = hostile.encode() if isinstance(text, bytes) else hostile
                signal.setitimer(signal.ITIMER_REAL, MOST_S)
                try:
                    pattern.fullmatch(given)
                    pattern.match(given)
                except TimeoutError:
                    slow[name] = part
                finally:
                    signal.setitimer(signal.ITIMER_REAL, 0)
    finally:
        signal.signal(signal.SIGALRM, before)
    assert slow == {}


@pytest.mark.timeout(60)
def test_a_page_that_begins_with_a_row_of_numbers_is_read(read: Any) -> None:
    import pymupdf

    with pymupdf.open() as document:
        page = document.new_page()
        page.insert_text((50, 80), " ".join(str(2000 + year) for year in range(14)))
        page.insert_text((50, 110), "Revenue in millions of won")
        assert "2013 Revenue" in " ".join(read("a.pdf", document.tobytes()).text.split())
