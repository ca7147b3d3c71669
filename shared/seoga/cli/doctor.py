"""The checks of `doctor`, each with real input: a probe in English alone would prove nothing."""

from __future__ import annotations

import platform
import shutil
import sys
import tempfile
import unicodedata
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path
from typing import Any, Literal

from seoga.errors import NotFound, SeogaError
from seoga.settings import misspelt
from seoga.wiring import Stack

_LEAST_PYTHON = (3, 11)
# What each program is needed for; none of them is required.
_PROGRAMS = {
    "tesseract": "OCR of scans and images",
    "soffice": ".doc, .ppt and .xls files",
    "git": "sources of type git",
}
# A text and a query that must find it: Hangul by a part of a word, NFD against NFC, Latin by case.
_PROBES = {
    "Hangul": ("연차휴가는 규정에 따라 부여한다", "휴가"),
    "NFD": (unicodedata.normalize("NFD", "회의록을 저장한다"), "회의록"),
    "Latin": ("The ERR_TOKEN_EXPIRED code is returned", "err_token_expired"),
}


@dataclass(frozen=True, slots=True)
class Check:
    """One finding; `status` is ok, off (optional and not there) or fail."""

    name: str
    status: str
    detail: str
    hint: str = ""

    def to_json(self) -> dict[str, Any]:
        """A JSON object."""
        return asdict(self)

    def line(self) -> str:
        """One line for people."""
        tail = f" ({self.hint})" if self.hint else ""
        return f"{self.status:<4}  {self.name}: {self.detail}{tail}"


def checks(stack: Stack) -> Iterator[Check]:
    """Every check, as it is made; none raises."""
    # It needs `Check` of this file.
    from seoga.cli.providers import provider_checks

    yield guarded("python", _python)
    yield from _variables()
    yield guarded("sqlite", _sqlite)
    for name, (text, query) in _PROBES.items():
        yield guarded(f"keyword search in {name}", partial(_keyword, text, query))
    yield guarded("base path", lambda: _base_path(stack.settings.base_path))
    yield from database_checks(stack.settings.base_path)
    for name in ("extraction", "embedding", "indexer"):
        if url := getattr(stack.settings, f"{name}_url"):
            yield guarded(f"{name} service", partial(_service, name, url))
    yield guarded("embedder", lambda: _embedder(stack))
    yield from provider_checks(stack)
    yield guarded("formats", lambda: _formats(stack))
    yield from _passwords(stack)
    for program, use in _PROGRAMS.items():
        yield _program(program, use)


def database_checks(base: Path) -> Iterator[Check]:
    """Of the databases that all knowledge bases have in common."""
    yield guarded("queue", lambda: _database(base, "queue"))
    yield guarded("embedding cache", lambda: _database(base, "embedding"))


def guarded(name: str, check: Callable[[], str]) -> Check:
    """What a check says, or why it fails."""
    try:
        return Check(name, "ok", check())
    except SeogaError as error:
        return Check(name, "fail", error.message, error.hint)
    except OSError as error:
        where = f"{error.filename}: " if error.filename else ""
        return Check(name, "fail", f"{where}{error.strerror or error}")
    except ImportError as error:
        return Check(name, "fail", f"{type(error).__name__}: {error}")


def _variables() -> Iterator[Check]:
    for name, meant in misspelt().items():
        yield Check("environment", "fail", f"{name} is no setting", f"Did you mean {meant}?")


def _python() -> str:
    if sys.version_info < _LEAST_PYTHON:
        raise SeogaError(f"{platform.python_version()} is too old", "3.11 or newer is needed.")
    return f"{platform.python_version()} on {platform.system()} {platform.machine()}"


def _sqlite() -> str:
    from seoga.storage.probe import sqlite_report

    return sqlite_report()


def _keyword(text: str, query: str) -> str:
    from seoga.storage.probe import finds_token, finds_trigram
    from seoga.text.tokens import index_text

    wanted = index_text(query).split()
    if not wanted or not finds_token(index_text(text), wanted):
        raise SeogaError(f"{query!r} is not found in {text!r}", "This SQLite's FTS5 is not usable.")
    if not finds_trigram("규정에 따라서 회의록을", "따라서"):
        raise SeogaError("the trigram index finds no Hangul", "This SQLite's FTS5 is not usable.")
    return "found"


def _base_path(base: Path) -> str:
    from seoga.storage.filesystem import refuse_remote

    try:
        base.mkdir(parents=True, exist_ok=True)
        refuse_remote(base)
        with tempfile.NamedTemporaryFile(dir=base, prefix=".doctor-"):
            pass
    except OSError as error:
        raise SeogaError(
            f"{base} cannot be written: {error.strerror or error}",
            "Give a folder of yours: --base-path, or SEOGA_BASE_PATH.",
        ) from error
    free = shutil.disk_usage(base).free / 2**30
    return f"{base} is writable, {free:.1f} GiB free"


def _database(base: Path, kind: Literal["queue", "embedding"]) -> str:
    from seoga.storage.probe import refuse_damaged

    path = base / f"{kind}.db"
    try:
        refuse_damaged(path, kind)
    except NotFound:
        return "none yet"
    return f"{path} is whole"


def _service(name: str, url: str) -> str:
    from seoga.contracts.http import Http

    http = Http(name, url)
    try:
        http.json("GET", "/ready")
    finally:
        http.close()
    return f"{url} answers"


def _embedder(stack: Stack) -> str:
    from seoga.models import EmbeddingSpec

    spec = EmbeddingSpec()
    card = stack.embedding.card(spec)
    vector = stack.embedding.embed_query("연차 휴가 규정", spec)
    return f"{card.provider} {card.model}, {len(vector)} dimensions"


def _formats(stack: Stack) -> str:
    formats = stack.extraction.describe()["formats"]
    ready = [name for name, found in formats.items() if found.get("available", True)]
    return ", ".join(sorted(ready))


def _passwords(stack: Stack) -> Iterator[Check]:
    """The file of passwords, where one is named: a bad one keeps only encrypted files closed."""
    try:
        found = stack.extraction.describe().get("passwords_file") or {}
    except SeogaError:
        # Told with the formats.
        return
    if path := found.get("path"):
        status = "fail" if "error" in found else "ok"
        yield Check("passwords", status, found.get("error", path), found.get("hint", ""))


def _program(program: str, use: str) -> Check:
    if place := shutil.which(program):
        return Check(program, "ok", place)
    return Check(program, "off", f"not installed, so no {use}")
