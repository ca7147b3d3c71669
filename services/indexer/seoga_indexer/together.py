"""Small files that extraction reads at once: looked at together, finished where they are read.

Whatever is out of the ordinary goes the long way (`pipeline.index_files`), which knows all cases.
"""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

from xxhash import xxh3_128_hexdigest

from seoga.contracts.extraction import Finishing
from seoga.errors import Cancelled
from seoga.models import Item
from seoga.storage.records import FileRow
from seoga_indexer.changes import Depth
from seoga_indexer.finishing import TASK, taken, told_of
from seoga_indexer.outcome import Outcome, Text, Twin, Work
from seoga_indexer.pipeline import Bench, index_files, row_of

# A larger file is not worth waiting for by those beside it.
SMALL_BYTES = 1 << 16


class _Waiting(NamedTuple):
    """A file that is to be read: as it was listed last, and its row."""

    work: Work
    item: Item
    row: FileRow


def index_together(works: Iterable[Work], bench: Bench) -> list[Outcome]:
    """As `index_files`."""
    group, finisher = list(works), bench.extraction
    if len(group) < 2 or not isinstance(finisher, Finishing):
        return index_files(group, bench)
    outcomes: list[Outcome] = []
    waiting: list[_Waiting] = []
    rest: list[Work] = []
    with ExitStack() as claims:
        for work in group:
            found = _looked_at(work, bench, claims)
            if isinstance(found, _Waiting):
                waiting.append(found)
            elif isinstance(found, Twin):
                outcomes.append(found)
            else:
                rest.append(work)
        if bench.cancelled():
            raise Cancelled("stopped before reading")
        files = [
            (Path(one.item.local), one.row.path, told_of(one.row, bench.sizes)) for one in waiting
        ]
        for one, made in zip(waiting, finisher.finish(files, TASK), strict=True):
            if made is None or not _steady(one.item, bench):
                # Its content is claimed here.
                rest.append(replace(one.work, settled=True))
            else:
                outcomes.append(Text(taken(made, one.row, bench.cache.versions)))
        return outcomes + index_files(rest, bench)


def _looked_at(work: Work, bench: Bench, claims: ExitStack) -> _Waiting | Twin | None:
    """None for a file that has to go the long way."""
    known, local = work.known, work.item.local
    if not local or work.redo is Depth.CHUNK:
        return None
    try:
        item = bench.refresh(work.item)
        if not 0 < item.size <= SMALL_BYTES:
            return None
        row = row_of(item, _hash_of(local))
    except OSError:
        return None
    if known is not None and not work.redo and known.hash == row.hash:
        return None
    if not work.settled:
        first = claims.enter_context(bench.cache.claim(row.hash, row.path))
        if not first or (known is None and bench.is_known(row.hash)):
            return Twin(work, row)
    return _Waiting(work, item, row)


def _hash_of(path: str) -> str:
    """As `pipeline.content_hash`, of a small file with half the calls. Raises OSError, also for one
    that is not small any more."""
    with open(path, "rb", buffering=0) as file:
        data = file.read(SMALL_BYTES + 1)
    if len(data) > SMALL_BYTES:
        raise OSError("it has grown")
    return xxh3_128_hexdigest(data)


def _steady(item: Item, bench: Bench) -> bool:
    try:
        later = bench.refresh(item)
    except OSError:
        return False
    return (later.size, later.mtime_ns) == (item.size, item.mtime_ns)
