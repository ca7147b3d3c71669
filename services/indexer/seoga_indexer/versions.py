"""Which versions made the text of an index, and which files a new one wants done again."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from seoga.errors import Reason
from seoga.storage.documents import DocumentStore
from seoga.storage.records import KnownFile
from seoga.text.tokens import TOKENIZER_VERSION
from seoga_indexer.changes import Redo
from seoga_indexer.chunking import CHUNKER_VERSION
from seoga_indexer.preparing import Sizes

KEY = "versions"
# What a newly installed library, language or model may heal.
_HEALED = frozenset(
    {
        Reason.UNSUPPORTED,
        Reason.NEEDS_OCR,
        Reason.NO_TEXT,
        Reason.MISSING_MODEL,
        Reason.MISSING_DEPENDENCY,
    }
)

Versions = dict[str, Any]


def current(description: Mapping[str, Any], sizes: Sizes) -> Versions:
    """The versions of this program and of the extraction service (`Extraction.describe`)."""
    formats = description.get("formats", {})
    return {
        "tokenizer": TOKENIZER_VERSION,
        "chunker": CHUNKER_VERSION,
        "extraction": description.get("version", ""),
        "sizes": [sizes.target_chars, sizes.overlap_chars, sizes.max_chars],
        "formats": sorted(name for name, found in formats.items() if found.get("available")),
    }


def stored(store: DocumentStore) -> Versions:
    """What the index was made with; empty when it is new."""
    out: Versions = json.loads(store.meta(KEY, "{}"))
    return out


def stale(before: Versions, now: Versions) -> list[str]:
    """The parts whose change asks for all text again."""
    if not before:
        return []
    return [name for name in now if name != "formats" and before.get(name) != now[name]]


def redo_rule(before: Versions, now: Versions, force: bool) -> Redo:
    """Which known files are read again though nothing says that they changed."""
    everything = force or bool(stale(before, now))
    healed = before.get("formats") != now["formats"]

    def redo(known: KnownFile) -> bool:
        if everything or known.reason == Reason.UNREADABLE:
            return True
        return healed and known.reason in _HEALED

    return redo
