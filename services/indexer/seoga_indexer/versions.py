"""Which versions make the text of an index now, and which files they want done again."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from xxhash import xxh3_64_hexdigest, xxh3_128_digest

from seoga.errors import Reason
from seoga.storage.documents import DocumentStore
from seoga.storage.records import KnownFile
from seoga.text.tokens import TOKENIZER_VERSION
from seoga_indexer.changes import Depth, Redo
from seoga_indexer.chunking import CHUNKER_VERSION
from seoga_indexer.preparing import Sizes
from seoga_indexer.statements import STATEMENTS_VERSION

KEY = "versions"
# Ends what a row says of a file whose chunks did not all get the context they should have.
RAW = "+raw"
# The versions and the sizes in the name of a chunking; behind them stands what gave contexts.
_CUTTING = 6
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


@dataclass(frozen=True, slots=True)
class Versions:
    """`formats` are those that can be read now, with their versions; `nesting` those that read
    files inside with the others; `cheap` those of which nothing is kept; `passwords` says when
    they changed, not what they are."""

    extraction: str
    chunking: str
    formats: Mapping[str, str]
    nesting: frozenset[str]
    cheap: frozenset[str]
    every_format: str
    passwords: str = ""

    def reading(self, format_name: str, reason: str = "") -> str:
        """The version of extraction behind a file of this format that ended with this reason."""
        if reason == Reason.ENCRYPTED and self.passwords:
            return f"{self.extraction}.{self.every_format}.{self.passwords}"
        one = self.formats.get(format_name)
        if one is None or format_name in self.nesting or reason in _HEALED:
            return f"{self.extraction}.{self.every_format}"
        return f"{self.extraction}.{one}"

    def made(self, format_name: str, reason: str = "") -> str:
        """What the row of such a file says: its reading and its cutting."""
        return f"{self.reading(format_name, reason)}/{self.chunking}"

    def depth(self, known: KnownFile) -> Depth:
        """From which stage on a file must be done again, though nothing says that it changed."""
        # One that could not be read is looked at again; what is kept of it still counts.
        least = Depth.CHUNK if known.reason == Reason.UNREADABLE else Depth.NOTHING
        return max(least, self.behind(known.format, known.reason, known.made, known.chunk_count))

    def behind(self, format_name: str, reason: str, made: str, chunks: int) -> Depth:
        """The same by what made its text alone."""
        reading, _, chunking = made.partition("/")
        if reading != self.reading(format_name, reason) and not self._tried(reason, reading):
            return Depth.EXTRACT
        return Depth.CHUNK if chunks and chunking != self.chunking else Depth.NOTHING

    def _tried(self, reason: str, reading: str) -> bool:
        """Whether passwords that are not given now did not open the file: without any it stays
        as it is."""
        tried = f"{self.extraction}.{self.every_format}."
        return reason == Reason.ENCRYPTED and not self.passwords and reading.startswith(tried)

    def stamp(self) -> bytes:
        """16 bytes that change with whatever `depth` answers by."""
        said = (
            *(self.extraction, self.chunking, sorted(self.formats.items())),
            *(sorted(self.nesting), self.every_format, self.passwords),
        )
        return xxh3_128_digest(json.dumps(said).encode())

    def to_json(self) -> dict[str, Any]:
        """What the index shows of them."""
        return {
            "extraction": self.extraction,
            "chunking": self.chunking,
            "formats": dict(self.formats),
        }


def current(description: Mapping[str, Any], sizes: Sizes, context: str = "") -> Versions:
    """The versions of this program and of the extraction service (`Extraction.describe`).
    `context` names the LLM and the prompt that chunks get their context from, "" for none."""
    formats = {
        name: found
        for name, found in sorted(description.get("formats", {}).items())
        if found.get("available")
    }
    versions = {name: str(found.get("version", "1")) for name, found in formats.items()}
    cutting = (CHUNKER_VERSION, TOKENIZER_VERSION, STATEMENTS_VERSION)
    limits = (sizes.target_chars, sizes.overlap_chars, sizes.max_chars)
    return Versions(
        extraction=str(description.get("version", "")),
        chunking=".".join(map(str, (*cutting, *limits, *([context] if context else [])))),
        formats=versions,
        nesting=frozenset(name for name, found in formats.items() if found.get("nests")),
        cheap=frozenset(name for name, found in formats.items() if found.get("cheap")),
        every_format=xxh3_64_hexdigest(json.dumps(versions).encode())[:8],
        passwords=str(description.get("passwords", "")),
    )


def with_contexts(made: str, identity: str) -> str:
    """What a row says that was made so, once its chunks have their contexts from `identity`."""
    reading, _, chunking = made.removesuffix(RAW).partition("/")
    return f"{reading}/{'.'.join((*chunking.split('.')[:_CUTTING], identity))}"


def quick(description: Mapping[str, Any]) -> frozenset[str]:
    """The extensions of files that extraction reads at once, of cheap formats."""
    formats = description.get("formats", {}).values()
    return frozenset(
        hint for found in formats if found.get("cheap") for hint in found.get("extensions", ())
    )


def apart(description: Mapping[str, Any]) -> frozenset[str]:
    """The extensions of files that extraction reads in a process of their own: recordings."""
    formats = description.get("formats", {}).values()
    return frozenset(
        hint for found in formats if found.get("lane") for hint in found.get("extensions", ())
    )


def stored(store: DocumentStore) -> dict[str, Any]:
    """What the last complete run was made with; empty when there was none."""
    out: dict[str, Any] = json.loads(store.meta(KEY, "{}"))
    return out


def outdated(store: DocumentStore, now: Versions) -> Counter[str]:
    """How many files a run would do again for its versions, by what is old of them: `extraction`
    (a parser), `chunking` (the chunker or its sizes), `prompt` (the LLM or what it is asked), or
    `contexts` (some are still to be asked for)."""
    found: Counter[str] = Counter()
    for making in store.makings():
        depth = now.behind(making.format, making.reason, making.made, making.chunks)
        if depth is Depth.EXTRACT:
            found["extraction"] += making.files
        elif depth:
            found[_old_part(making.made.partition("/")[2], now.chunking)] += making.files
    return found


def _old_part(made: str, now: str) -> str:
    (cut, asked), (cut_now, asked_now) = _parts(made.removesuffix(RAW)), _parts(now)
    if cut != cut_now:
        return "chunking"
    return "prompt" if asked != asked_now else "contexts"


def _parts(chunking: str) -> tuple[list[str], list[str]]:
    """How a text was cut, and by whom its chunks were set in their place."""
    parts = chunking.split(".")
    return parts[:_CUTTING], parts[_CUTTING:]


def redo_rule(now: Versions, forced_since: str = "", depth: Depth = Depth.EXTRACT) -> Redo:
    """From which stage on known files are done again. `forced_since`: when a run began that does
    all of them again from `depth` on; those indexed since then are done."""

    # Files of one making share the answer, and there are few of them.
    depths: dict[tuple[str, str, str, bool], Depth] = {}

    def behind(known: KnownFile) -> Depth:
        making = (known.format, known.reason, known.made, known.chunk_count > 0)
        if making not in depths:
            depths[making] = now.depth(known)
        return depths[making]

    def forced(known: KnownFile) -> Depth:
        done = known.indexed_at > forced_since
        return behind(known) if done else max(depth, behind(known))

    return forced if forced_since else behind
