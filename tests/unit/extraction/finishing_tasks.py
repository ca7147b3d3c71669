"""What the children of test_finishing are asked to do with what they read."""

from __future__ import annotations

import os
import signal
from collections.abc import Sequence
from typing import Any

from seoga.models import DocumentInfo, Section


def said(told: Any, info: DocumentInfo, sections: Sequence[Section]) -> list[Any]:
    return [told, info.to_json(), [section.to_json() for section in sections]]


def broken(told: Any, info: DocumentInfo, sections: Sequence[Section]) -> list[Any]:
    if told == "end":
        os.kill(os.getpid(), signal.SIGKILL)
    if told == "raise":
        raise ValueError(told)
    return [told] if told != "half" else ["\ud800"]
