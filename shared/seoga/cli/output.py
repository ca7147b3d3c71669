"""What the command prints: results on stdout, everything else on stderr. Names come from folders,
configs and servers: no control character of theirs reaches the terminal."""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping
from typing import Any

from seoga.printable import printable


def emit(value: Mapping[str, Any]) -> None:
    """One JSON object on a line of stdout, UTF-8 unescaped."""
    # A lone surrogate of a file name that is no UTF-8 must not break the whole answer.
    text = json.dumps(value, ensure_ascii=False).encode("utf-8", "replace").decode("utf-8")
    _write(text)


def show(text: str) -> None:
    """A line for people on stdout."""
    _write(printable(text))


def show_text(text: str) -> None:
    """Several lines for people on stdout: text of documents, or what is to be copied."""
    _write("\n".join(printable(line, keep="\t") for line in text.split("\n")))


def say(text: str) -> None:
    """A line for people on stderr: progress, warnings, errors."""
    sys.stderr.write(printable(text) + "\n")
    sys.stderr.flush()


def _write(text: str) -> None:
    sys.stdout.write(text + "\n")
    sys.stdout.flush()
