"""`prune-orphans`: removes what deleted knowledge bases leave behind (specification, section 9)."""

from __future__ import annotations

import shutil
import time
from contextlib import suppress
from pathlib import Path
from uuid import UUID

import typer

from seoga.cli.options import BasePath, chosen_settings
from seoga.cli.output import emit, say
from seoga.errors import NotFound, SeogaError
from seoga.kb import CONFIG, DATABASE, is_protected

# A knowledge base that is being made has a folder before it has a config.json.
LEAST_AGE_S = 5.0


def register(app: typer.Typer) -> None:
    """Adds the commands of this file."""
    app.command("prune-orphans")(prune_orphans)


def prune_orphans(base_path: BasePath = None) -> int:
    """Remove the folders of knowledge bases whose config.json was deleted."""
    base = chosen_settings(base_path).base_path
    if not base.is_dir():
        raise NotFound(f"{base} does not exist", "Give the base path with --base-path.")
    counts = {"scanned": 0, "orphans_found": 0, "cleaned": 0, "failed": 0}
    for folder in sorted(path for path in base.iterdir() if path.is_dir()):
        if is_protected(folder.name):
            continue
        counts["scanned"] += 1
        if (folder / CONFIG).exists():
            continue
        if not is_guid(folder.name) or folder.is_symlink():
            say(f"left alone (no {CONFIG}, not named by a GUID): {folder}")
            continue
        if time.time() - folder.stat().st_mtime < LEAST_AGE_S:
            say(f"left alone (changed less than {LEAST_AGE_S:.0f} s ago): {folder}")
            continue
        counts["orphans_found"] += 1
        counts["cleaned" if _remove(base, folder) else "failed"] += 1
    emit(counts)
    return 1 if counts["failed"] and not counts["cleaned"] else 0


def is_guid(name: str) -> bool:
    """Whether `name` is a GUID in its usual form of 36 characters."""
    try:
        return str(UUID(name)) == name.lower()
    except ValueError:
        return False


def _remove(base: Path, folder: Path) -> bool:
    try:
        if owner := _writer(folder):
            say(f"left alone (a run of {owner} still writes it): {folder}")
            return False
        shutil.rmtree(folder)
        _forget(base, folder.name)
    except (OSError, SeogaError) as error:
        say(f"could not be removed: {folder}: {error}")
        return False
    say(f"removed: {folder}")
    return True


def _writer(folder: Path) -> str:
    """Who holds the lease of an orphan's index; "" when nobody does or there is none to read."""
    from seoga.storage.database import reader
    from seoga.storage.leases import WRITER, holder

    with suppress(SeogaError), reader(folder / DATABASE) as conn:
        found = holder(conn, WRITER)
        return found.owner if found else ""
    return ""


def _forget(base: Path, kb_id: str) -> None:
    from seoga.storage.jobs import Queue

    if not (base / "queue.db").exists():
        return
    queue = Queue(base / "queue.db")
    try:
        queue.forget(kb_id)
    finally:
        queue.close()
