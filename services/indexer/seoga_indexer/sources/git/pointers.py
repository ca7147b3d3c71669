"""Files that Git LFS keeps apart: what the repository holds is only a pointer to them."""

from __future__ import annotations

import re
from pathlib import Path

from seoga.errors import ExtractionFailed, Reason

_POINTER = re.compile(
    rb"version https://git-lfs\.github\.com/spec/v1\n(?:[a-z0-9.-]+ .*\n)*?"
    rb"oid sha256:([0-9a-f]{64})\n"
)
_MOST = 1024


def stored_apart(local: Path, common: Path, max_bytes: int) -> Path | None:
    """Where the content of a pointer lies in the LFS store of a checkout, whose git folder is
    `common`; None when the file is no pointer.

    Raises OSError when the content was not downloaded, ExtractionFailed when it is too large.
    """
    if local.stat().st_size > _MOST or not (found := _POINTER.match(local.read_bytes())):
        return None
    name = found.group(1).decode("ascii")
    store = common / "lfs" / "objects"
    stored = store / name[:2] / name[2:4] / name
    # A store can be handed with the repository: nothing outside of it is read.
    if not stored.is_file() or not stored.resolve().is_relative_to(store.resolve()):
        raise OSError(
            "a pointer of Git LFS, and the file itself was not downloaded: run `git lfs pull` in a "
            "checkout and use that as the source"
        )
    if stored.stat().st_size > max_bytes:
        raise ExtractionFailed(
            f"larger than {max_bytes >> 20} MiB (in Git LFS)", reason=Reason.TOO_LARGE
        )
    return stored
