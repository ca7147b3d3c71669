"""Which languages tesseract has: what it said last is kept as long as neither it nor its folder of
data changes, since a start of the program costs as much as a scan of ten thousand files."""

from __future__ import annotations

import json
import os
import re
import subprocess
from collections.abc import Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from seoga.settings import environment

_FOLDER = re.compile(r'in "(.+)"')
_PREFIX = "TESSDATA_PREFIX"


def asked(program: str) -> list[str]:
    """The lines that the program answers with: a title, then a language each.

    Raises OSError, subprocess.SubprocessError (it fails or does not answer).
    """
    command = [program, "--list-langs"]
    done = subprocess.run(command, capture_output=True, text=True, check=True, timeout=60)
    return done.stdout.splitlines()


def kept(file: Path, program: str) -> frozenset[str]:
    """The languages that were there when the program and its folder were as they are now; none
    where that is not known."""
    with suppress(OSError, ValueError, KeyError, TypeError):
        known: dict[str, Any] = json.loads(file.read_text(encoding="utf-8"))
        if known["stamp"] == _stamp(program, known["folder"]):
            return frozenset(known["languages"])
    return frozenset()


def keep(file: Path, program: str, lines: Sequence[str]) -> None:
    """Keeps an answer that says where the folder is; older versions do not."""
    found = _FOLDER.search(lines[0]) if lines else None
    if found is None:
        return
    with suppress(OSError):
        languages = sorted(languages_in(lines))
        known = {"folder": found[1], "stamp": _stamp(program, found[1]), "languages": languages}
        file.parent.mkdir(parents=True, exist_ok=True)
        new = file.with_name(f"{file.name}-{os.getpid()}")
        new.write_text(json.dumps(known), encoding="utf-8")
        new.replace(file)


def languages_in(lines: Sequence[str]) -> frozenset[str]:
    """The languages of an answer."""
    return frozenset(line.strip() for line in lines[1:])


def _stamp(program: str, folder: str) -> list[str]:
    """Changes with the program, with the variable that names another folder, and with every file
    that comes or goes there. Raises OSError."""
    return [program, environment().get(_PREFIX, ""), *map(_state, _watched(program, folder))]


def _watched(program: str, folder: str) -> Iterator[str]:
    yield program
    yield folder
    yield from sorted(entry.path for entry in os.scandir(folder) if entry.is_dir())


def _state(path: str) -> str:
    now = os.stat(path)
    return f"{path} {now.st_ino} {now.st_size} {now.st_mtime_ns}"
