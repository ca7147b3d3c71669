"""`doctor --deep`: does each index tell one story, and does it still tell that of its files?"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, Any

from seoga.cli.doctor import Check
from seoga.errors import NotFound, SeogaError
from seoga.kb import LABELS, Kb

if TYPE_CHECKING:
    from seoga.storage.audit import Fault
    from seoga.wiring import Stack

_MEND = "Run `seoga doctor --deep --repair`."
_SHOWN = 3
_WAITING = "SELECT count(*) FROM chunks WHERE state = 'PendingEmbedding'"
_ROUNDS = 3
_LARGE_WAL = 256 << 20


def deep_checks(stack: Stack, kb: Kb, *, mend: bool = False) -> Iterator[Check]:
    """What is wrong with the index of a KB, after mending it where asked; none raises."""
    try:
        if mend and (said := _mended(kb, stack.settings.lease_seconds)):
            yield Check(_of(kb, "repair"), "ok", said)
        yield from _contents(kb)
        yield _log(kb)
        yield _leftovers(kb)
        yield _sources(stack, kb)
    except NotFound:
        yield _unindexed(kb)
    except SeogaError as error:
        # What cannot be read as a whole, or could not be mended, is no matter of mending.
        ours = "doctor --deep" in error.hint
        hint = _anew(kb) if ours and (mend or "--repair" not in error.hint) else error.hint
        yield Check(_of(kb, "index"), "fail", error.message, hint)


def _unindexed(kb: Kb) -> Check:
    beside = [kb.folder / LABELS, *kb.folder.glob(f"{kb.db_path.name}.vectors-*")]
    if not kb.db_path.exists() or not any(file.exists() for file in beside):
        return Check(_of(kb, "index"), "off", "not indexed yet")
    why = f"{kb.db_path} is empty, though the knowledge base was indexed"
    hint = f"Restore a backup, or `seoga exec --path {kb.folder}` indexes it again."
    return Check(_of(kb, "index"), "fail", why, hint)


def _anew(kb: Kb) -> str:
    """The way out where the database itself is lost; a log of the old one must not meet the new."""
    return (
        f"Restore a backup, or move {kb.db_path}* away: `seoga exec --path {kb.folder}` then"
        " indexes all documents again."
    )


def _of(kb: Kb, what: str) -> str:
    """Two may have one name."""
    return f"{kb.name} ({kb.id}): {what}"


def _faults(kb: Kb) -> dict[str, list[Fault]]:
    from seoga.storage.audit import audit
    from seoga.storage.database import reader
    from seoga.text.tokens import index_text

    with reader(kb.db_path) as conn:
        return audit(conn, index_text)


def _contents(kb: Kb) -> Iterator[Check]:
    from seoga.storage.audit import documents_of
    from seoga.storage.database import reader

    found = _faults(kb)
    with reader(kb.db_path) as conn:
        for name, faults in found.items():
            told = [_named(str(fault), documents_of(conn, fault)) for fault in faults]
            derivable = all(fault.derivable for fault in faults)
            hint = _MEND if derivable else _anew(kb)
            whole = Check(_of(kb, name), "ok", "whole")
            yield Check(_of(kb, name), "fail", "; ".join(told), hint) if faults else whole


def _named(what: str, documents: list[str]) -> str:
    return f"{what} of {', '.join(documents)}" if documents else what


def _mended(kb: Kb, lease_seconds: float) -> str:
    """What was mended, "" for nothing. Raises Busy while a run has the KB."""
    from seoga.storage.database import open_writer, transaction
    from seoga.storage.documents import DocumentStore
    from seoga.storage.leases import Lease
    from seoga.storage.repair import repair
    from seoga.text.tokens import index_text

    _faults(kb)  # A database that is not there must not be made here.
    for left in _left(kb.folder):
        left.unlink(missing_ok=True)
    with closing(open_writer(kb.db_path)) as conn, Lease.acquire(kb.db_path, seconds=lease_seconds):
        told: dict[str, None] = {}
        files = 0
        # What one fault hid is found once that is mended.
        for _ in range(_ROUNDS):
            faults = _faults(kb)
            if not any(faults.values()):
                break
            told |= {str(fault): None for found in faults.values() for fault in found}
            with transaction(conn):
                files += repair(conn, faults, index_text)
        if told:
            DocumentStore(conn).make_matrices()
        waiting = conn.execute(_WAITING).fetchone()[0]
    missing = [f"{files:,} files are not found"] if files else []
    missing += [f"{waiting:,} passages are found by their words only"] if waiting else []
    until = f", until `seoga exec --path {kb.folder}` has made them again"
    return "; ".join([*told, " and ".join(missing) + until] if missing else told)


def _log(kb: Kb) -> Check:
    wal = kb.db_path.with_name(kb.db_path.name + "-wal")
    size = wal.stat().st_size if wal.exists() else 0
    if size > _LARGE_WAL:
        why = f"the log beside the database has {size >> 20} MiB: a reader never ends"
        return Check(_of(kb, "log"), "fail", why, "Restart the programs that read it.")
    return Check(_of(kb, "log"), "ok", f"{size / 2**20:.1f} MiB")


def _leftovers(kb: Kb) -> Check:
    left = [path.name for path in _left(kb.folder)]
    if left:
        return Check(_of(kb, "folder"), "fail", f"drafts left behind: {', '.join(left)}", _MEND)
    return Check(_of(kb, "folder"), "ok", "nothing left behind")


def _left(folder: Path) -> list[Path]:
    return sorted(folder.glob(".*.tmp"))


def _sources(stack: Stack, kb: Kb) -> Check:
    """Files against rows: what the next run would do is no fault of the index."""
    from seoga.wiring import ENGINES, load

    engine = load(ENGINES["indexing"])(stack)
    try:
        report: dict[str, Any] = engine.check_kb(kb).to_json()
    finally:
        engine.close()
    counts = report["counts"]
    told = ", ".join(_few(name, count, report) for name, count in counts.items() if count)
    stale = f"; stale: {', '.join(report['stale'])}" if report["stale"] else ""
    state = "up to date" if report["is_clean"] else "a run has work to do"
    return Check(_of(kb, "sources"), "ok", f"{state}: {told or 'no files'}{stale}")


def _few(kind: str, count: int, report: dict[str, Any]) -> str:
    """`3 added (docs/a.md, docs/b.md, …)`; what has no names is only counted."""
    names = report.get(kind) if kind != "stale" else None
    more = ", …" if names and count > _SHOWN else ""
    return f"{count:,} {kind}" + (f" ({', '.join(names[:_SHOWN])}{more})" if names else "")
