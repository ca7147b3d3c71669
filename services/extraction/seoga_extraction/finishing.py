"""Small files of cheap formats, many in one request: what a task makes of their events goes back
instead of the events.

What is out of the ordinary (an error, another format, too much text) gives None: such a file is
asked for again by itself, and what is wrong with it is found out and told there.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from importlib import import_module
from pathlib import Path
from typing import Any

from seoga.contracts.extraction import Made
from seoga.models import DocumentInfo, Section
from seoga_extraction.detect import choose
from seoga_extraction.format import Format, Input
from seoga_extraction.frames import Wrapped, wrap
from seoga_extraction.intake import check_file, cleaned, input_of
from seoga_extraction.lanes import Lane
from seoga_extraction.limits import MIB

Task = Callable[[Any, DocumentInfo, Sequence[Section]], Made | None]
# Format, seconds, bytes of a file.
Cost = tuple[str, float, int]

# What small files give at most before they count as out of the ordinary.
_MOST_CHARS = 2 * MIB


def finished(
    files: Sequence[tuple[str, str, Any]], task: str, known: Sequence[Format], lane: Lane
) -> tuple[list[Wrapped | None], list[Cost | None]]:
    """What `task` made of each file (path, name, what it is told); and what each cost."""
    module, _, name = task.partition(":")
    work: Task = getattr(import_module(module), name)
    made: list[Wrapped | None] = []
    costs: list[Cost | None] = []
    for path, called, told in files:
        started = time.monotonic()
        source = input_of(Path(path), called, lane)
        found = _read(source, known)
        result = None if found is None else _made(work, told, found)
        if found is None or result is None:
            made.append(None)
            costs.append(None)
            continue
        made.append(result)
        costs.append((found[0].format, time.monotonic() - started, source.size))
    return made, costs


def _read(source: Input, known: Sequence[Format]) -> tuple[DocumentInfo, list[Section]] | None:
    try:
        check_file(source)
        chosen = choose(source, known)
        if chosen.cheap and chosen.lane == source.lane:
            return _events(chosen, source)
    except Exception:  # it is told by the request for this file alone
        return None
    return None


def _events(chosen: Format, source: Input) -> tuple[DocumentInfo, list[Section]] | None:
    info, sections, chars = None, [], 0
    for event in map(cleaned, chosen.parse(source)):
        if isinstance(event, DocumentInfo):
            info = event
        elif event.text and not event.text.isspace():
            sections.append(event)
            chars += len(event.text)
            if chars > _MOST_CHARS:
                return None
    return None if info is None else (info, sections)


def _made(work: Task, told: Any, found: tuple[DocumentInfo, list[Section]]) -> Wrapped | None:
    try:
        result = work(told, *found)
        # A lone surrogate raises here: what is sent the other way gets a mark in its place.
        return None if result is None else wrap(result)
    except Exception:  # the same work fails again where its error can be told
        return None
