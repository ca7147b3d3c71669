"""Local files for what lies elsewhere: one an item, deleted after use."""

from __future__ import annotations

import re
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

# A killed process leaves its files behind; no item is read for as long as this.
_STALE_S = 24 * 3600
_SUFFIX = re.compile(r"\.\w{1,16}$", re.ASCII)


@contextmanager
def spooled(folder: Path, name: str) -> Iterator[Path]:
    """An empty file with the extension of `name`, gone when the context ends."""
    folder.mkdir(parents=True, exist_ok=True)
    suffix = _SUFFIX.search(name)
    with tempfile.NamedTemporaryFile(
        prefix="item-", suffix=suffix.group() if suffix else "", dir=folder
    ) as held:
        yield Path(held.name)


def sweep(folder: Path) -> None:
    """Deletes what killed processes left in a folder of spooled files."""
    now = time.time()
    for left in folder.glob("item-*"):
        with suppress(OSError):
            if now - left.stat().st_mtime > _STALE_S:
                left.unlink()
