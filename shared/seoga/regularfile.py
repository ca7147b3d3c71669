"""Files that a person names, or that lie where anybody may write: only regular ones are opened. A
pipe, a socket or a device might block for ever, and has no end."""

from __future__ import annotations

import io
import os
import stat
from errno import EINVAL
from pathlib import Path
from typing import BinaryIO, TextIO

_KINDS = (
    (stat.S_ISFIFO, "a named pipe"),
    (stat.S_ISSOCK, "a socket"),
    (stat.S_ISCHR, "a device"),
    (stat.S_ISBLK, "a device"),
)


class NotRegular(OSError):
    """It is there, and no regular file; `strerror` says what it is."""


def open_bytes(path: Path) -> BinaryIO:
    """A regular file (or what a link leads to) for reading. Never blocks. Raises OSError
    (NotRegular among them)."""
    refuse_irregular(path)
    # It may have become another one since.
    descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    try:
        _refuse(os.fstat(descriptor).st_mode, path)
        return os.fdopen(descriptor, "rb")
    except BaseException:
        os.close(descriptor)
        raise


def open_text(path: Path, encoding: str = "utf-8", newline: str | None = None) -> TextIO:
    """The same as text."""
    return io.TextIOWrapper(open_bytes(path), encoding=encoding, newline=newline)


def text_of(path: Path, encoding: str = "utf-8") -> str:
    """All of a regular file. Raises OSError (NotRegular among them), UnicodeDecodeError."""
    with open_text(path, encoding) as stream:
        return stream.read()


def refuse_irregular(path: Path) -> None:
    """Raises NotRegular, and OSError where nothing can be said of it."""
    _refuse(os.stat(path).st_mode, path)


def _refuse(mode: int, path: Path) -> None:
    kind = next((name for test, name in _KINDS if test(mode)), "")
    if kind:
        raise NotRegular(EINVAL, f"it is {kind}, not a regular file", str(path))
