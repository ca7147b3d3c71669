"""Which names are never documents, what a `.seogaignore` says, and how a name is stored."""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from dataclasses import dataclass
from fnmatch import translate
from typing import TYPE_CHECKING

from seoga.errors import Reason
from seoga.text.normal import nfc
from seoga_indexer.source import Problem

if TYPE_CHECKING:
    from pathspec import GitIgnoreSpec

IGNORE_FILE = ".seogaignore"

# Lock files, partial downloads and what desktops and NAS boxes leave behind: never documents.
_SKIPPED = (
    "~$*", "*.tmp", "*.temp", "*.part", "*.partial", "*.crdownload", "*.download", "*.lock",
    "*.lck", "*.swp", "*~", "thumbs.db", "desktop.ini", "@eadir", "#recycle", "$recycle.bin",
    "__pycache__", "node_modules", "system volume information",
)  # fmt: skip

SKIPPED = re.compile("|".join(map(translate, _SKIPPED)))


@dataclass(frozen=True, slots=True)
class Ignore:
    """The rules of one `.seogaignore`, which speak of paths below its own folder."""

    prefix: str
    spec: GitIgnoreSpec

    def matches(self, path: str) -> bool:
        """Whether they leave a path out (folders end in "/")."""
        return self.spec.match_file(path[len(self.prefix) :])


def patterns(lines: Sequence[str]) -> GitIgnoreSpec | None:
    """What these lines of a `.gitignore` match; None where there are none. Raises ValueError."""
    if not lines:
        return None
    from pathspec import GitIgnoreSpec

    return GitIgnoreSpec.from_lines(lines)


def stored_name(name: str) -> str:
    """A name of the disk as it is stored: NFC; bytes that are not UTF-8 are read as CP949."""
    try:
        name.encode()
    except UnicodeEncodeError:
        raw = os.fsencode(name)
        try:
            name = raw.decode("cp949")
        except UnicodeDecodeError:
            name = raw.decode("utf-8", "backslashreplace")
    return nfc(name)


def rules_of(text: str, prefix: str) -> tuple[tuple[Ignore, ...], list[Problem]]:
    """The rules of an ignore file in the folder `prefix` ("" or ending in "/"), and what is wrong
    with lines of it (those do nothing)."""
    from pathspec import GitIgnoreSpec

    lines, bad = [], []
    for number, line in enumerate(nfc(text).splitlines(), 1):
        try:
            GitIgnoreSpec.from_lines([line])
        except ValueError:
            detail = f"line {number} is no pattern and is ignored: {line[:80]}"
            bad.append(Problem(prefix + IGNORE_FILE, Reason.CORRUPT, detail, keep=False))
        else:
            lines.append(line)
    return (Ignore(prefix, GitIgnoreSpec.from_lines(lines)),), bad
