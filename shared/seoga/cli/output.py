"""What the command prints: results on stdout, everything else on stderr."""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping
from typing import Any


def emit(value: Mapping[str, Any]) -> None:
    """One JSON object on a line of stdout, UTF-8 unescaped."""
    # A lone surrogate of a file name that is no UTF-8 must not break the whole answer.
    text = json.dumps(value, ensure_ascii=False).encode("utf-8", "replace").decode("utf-8")
    show(text)


def show(text: str) -> None:
    """A line for people on stdout."""
    sys.stdout.write(text + "\n")
    sys.stdout.flush()


def say(text: str) -> None:
    """A line for people on stderr: progress, warnings, errors."""
    sys.stderr.write(text + "\n")
    sys.stderr.flush()
