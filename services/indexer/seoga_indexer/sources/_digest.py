"""What a folder held when it was read: equal digests mean equal files under equal rules."""

from __future__ import annotations

import marshal
import os
import stat
from collections.abc import Iterable, Sequence

from xxhash import xxh3_128, xxh3_128_digest

# Another way to choose or to compare files is another digest.
_RULES = b"1"
_FORMAT = 2  # of marshal: the later ones depend on how often an object is referred to
_READ_BY_ALL = stat.S_IRUSR | stat.S_IRGRP | stat.S_IROTH


def stamp_of(*parts: object) -> bytes:
    """16 bytes for plain values (texts, numbers, tuples of them)."""
    return xxh3_128_digest(_RULES + repr(parts).encode("utf-8", "surrogatepass"))


def digest_of(entries: Sequence[os.DirEntry[str]], stamp: bytes) -> bytes:
    """16 bytes for name, mode, size and time of all entries; empty where these do not tell whether
    a file is the same: links, pipes, files that may not be read now. Reads the stamps of the
    entries, which keep them. Links, and what cannot be looked at, end it."""
    try:
        rows = [
            (entry.name, now.st_mode, now.st_size, now.st_mtime_ns)
            for entry in entries
            for now in (entry.stat(follow_symlinks=False),)
        ]
    except OSError:
        return b""
    modes = {row[1] for row in rows}
    shut = {mode for mode in modes if mode & _READ_BY_ALL != _READ_BY_ALL}
    if not all(stat.S_ISREG(mode) or stat.S_ISDIR(mode) for mode in modes):
        return b""
    if shut and not _may_read(entries, rows, shut):
        return b""
    if any(stat.S_ISDIR(mode) for mode in modes):
        # A folder has its own digest; its time and size say what changed in it.
        rows = [row if stat.S_ISREG(row[1]) else (row[0], row[1], 0, 0) for row in rows]
    digest = xxh3_128(stamp)
    digest.update(marshal.dumps(rows, _FORMAT))
    return digest.digest()


def _may_read(
    entries: Sequence[os.DirEntry[str]],
    rows: Iterable[tuple[str, int, int, int]],
    shut: set[int],
) -> bool:
    return all(
        os.access(entry.path, os.R_OK)
        for entry, row in zip(entries, rows, strict=True)
        if row[1] in shut and stat.S_ISREG(row[1])
    )
