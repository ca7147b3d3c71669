"""What the children of test_finishing are asked to do with what they read."""

from __future__ import annotations

import os
import signal
from collections.abc import Sequence
from typing import Any

from seoga.contracts.extraction import Made
from seoga.models import DocumentInfo, Section


def said(told: Any, info: DocumentInfo, sections: Sequence[Section]) -> Made:
    texts = [section.text for section in sections]
    blobs = [text.encode() for text in texts]
    return Made([told, info.to_json(), [s.to_json() for s in sections]], texts, blobs)


def broken(told: Any, info: DocumentInfo, sections: Sequence[Section]) -> Made:
    if told == "end":
        os.kill(os.getpid(), signal.SIGKILL)
    if told == "raise":
        raise ValueError(told)
    if told == "zero":
        return Made(told, ["of one\0text"])
    return Made(told) if told != "half" else Made(told, ["\ud800"])
