"""What a run would do: scan and diff over a reader, without a write and without a provider call."""

from __future__ import annotations

from collections import Counter
from contextlib import ExitStack, closing
from dataclasses import dataclass, field

from seoga.contracts.indexing import ChangeReport
from seoga.errors import NotFound, Reason
from seoga.kb import Kb
from seoga.models import FileState, Item, Source
from seoga.storage.database import PASS_CACHE, open_reader
from seoga.storage.documents import DocumentStore
from seoga.storage.reading import index_info
from seoga.storage.records import KnownFile
from seoga.wiring import Stack
from seoga_indexer import versions
from seoga_indexer.changes import Change, Depth, Verdict, guard
from seoga_indexer.contextstage import identity_of
from seoga_indexer.pipeline import content_hash, sizes_of
from seoga_indexer.scan import SourceReport, doubt_of, scan_source
from seoga_indexer.source import SHUT, Connector, Problem, connector_for

_MOST_NAMED = 1000


_COUNTED = (
    "added",
    "modified",
    "deleted",
    "unchanged",
    "failed",
    "needs_action",
    "skipped",
    "pending",
    "stale",
)
# "unseen": what could not be looked at, so nobody knows whether it is clean. A file that needs a
# person's help and would be left as it is by a run does not count.
_DIRTY = ("added", "modified", "deleted", "unseen")


@dataclass(slots=True)
class _Findings:
    """Names by kind, the first of each; all of them are counted."""

    names: dict[str, list[str]] = field(default_factory=dict)
    counts: Counter[str] = field(default_factory=Counter)

    def add(self, kind: str, name: str) -> None:
        self.counts[kind] += 1
        named = self.names.setdefault(kind, [])
        if len(named) < _MOST_NAMED:
            named.append(name)

    def of(self, kind: str) -> tuple[str, ...]:
        return tuple(self.names.get(kind, ()))


def check(kb: Kb, stack: Stack) -> ChangeReport:
    """The report of `Indexing.check_changes`; works for a KB that was never indexed."""
    found = _Findings()
    with ExitStack() as opened:
        store = _reader(kb, opened)
        reports = [_check_source(source, store, found) for source in kb.sources()]
        stale = _noted(_outdated(kb, stack, store), store, found) if store else []
        if store:
            _orphans(kb, store, found, doubt_of(reports))
    return ChangeReport(
        kb_id=kb.id,
        added=found.of("added"),
        modified=found.of("modified"),
        deleted=found.of("deleted"),
        failed=found.of("failed"),
        counts={kind: found.counts[kind] for kind in _COUNTED},
        stale=tuple(stale),
        needs_action=found.of("needs_action"),
        skipped=found.of("skipped"),
        is_clean=not stale and not any(found.counts[kind] for kind in _DIRTY),
    )


def _reader(kb: Kb, opened: ExitStack) -> DocumentStore | None:
    try:
        reader = open_reader(kb.db_path, cache_kib=PASS_CACHE)
        return DocumentStore(opened.enter_context(closing(reader)))
    except NotFound:
        return None


def _check_source(source: Source, store: DocumentStore | None, found: _Findings) -> SourceReport:
    report = SourceReport(source.label)
    known = store.known if store else _nothing
    with closing(connector_for(source)) as connector:
        for change in scan_source(connector, report, known, _unreadable):
            _note(source.label, change, connector, found)
    for known_file in report.gone:
        found.add("deleted", f"{source.label}/{known_file.path}")
    report.settle((), accept=False)
    if report.trouble:
        _unseen(found, f"{source.label}: {report.trouble}")
    return report


def _note(label: str, change: Change, connector: Connector, found: _Findings) -> None:
    if change.problem is not None:
        _note_problem(label, change.problem, found)
    if change.item is None:
        return
    name = f"{label}/{change.item.path}"
    known = change.known
    if known is None:
        found.add("added", name)
        return
    try:
        modified = change.verdict is not Verdict.UNCHANGED and differs(
            change.item, known, connector
        )
    except FileNotFoundError:
        modified = False  # It went while we looked: the next scan tells.
    except OSError as error:
        _unseen(found, f"{name}: {error.strerror or error}")
        return
    if modified:
        found.add("modified", name)
    else:
        _note_unchanged(name, known, found)


def _note_unchanged(name: str, known: KnownFile, found: _Findings) -> None:
    found.counts["unchanged"] += 1
    if known.state is FileState.FAILED and known.reason != Reason.UNSUPPORTED:
        found.add("failed", f"{name}: {known.reason}")
    elif known.state is FileState.NEEDS_ACTION:
        found.add("needs_action", f"{name}: {known.reason}")


def _note_problem(label: str, problem: Problem, found: _Findings) -> None:
    name = f"{label}/{problem.path}: {problem.detail}"
    if problem.reason == Reason.UNREADABLE and problem.keep:
        _unseen(found, name)
    else:
        # As a run does: a link or a pipe is told, and no document that failed.
        found.add("skipped", name)
        found.counts["unseen"] += problem.subtree


def _unseen(found: _Findings, name: str) -> None:
    found.add("needs_action", name)
    found.counts["unseen"] += 1


def differs(item: Item, known: KnownFile, connector: Connector) -> bool:
    """Whether the content is another than the known one. Raises OSError."""
    if item.version not in ("", SHUT):
        # Fetching all that changed would be most of the work of a run.
        return item.version != known.version
    with connector.open(connector.refresh(item)) as local:
        return content_hash(local) != known.hash


def _orphans(kb: Kb, store: DocumentStore, found: _Findings, doubt: str) -> None:
    named = {source.label for source in kb.sources()}
    labels = store.labels()
    for label, count in labels.items():
        if label not in named:
            for known in store.known(label):
                found.add("deleted", f"{label}/{known.path}")
            if why := guard(sum(labels.values()), count, listed=1) or doubt:
                _unseen(found, f"{label}: the config names it no more, and {why}")


def stale(kb: Kb, stack: Stack) -> dict[str, int]:
    """What of an index was made with other versions than a run would use now: how many files by
    `extraction`, `chunking`, `prompt` and `contexts`, and `model` (0) for other vectors."""
    with ExitStack() as opened:
        store = _reader(kb, opened)
        return dict(_outdated(kb, stack, store)) if store else {}


def _outdated(kb: Kb, stack: Stack, store: DocumentStore) -> Counter[str]:
    """See `stale`. Asks no provider: the model is compared by the names that the config and the
    index have."""
    now = versions.current(
        stack.extraction.describe(),
        sizes_of(kb),
        identity_of(kb.context_spec(), stack, store),
    )
    outdated = versions.outdated(store, now)
    serving = index_info(store.conn)["embedding"]
    spec = kb.embedding_spec()
    if serving and (
        spec.provider != serving["provider"] or (spec.model and spec.model != serving["model"])
    ):
        outdated["model"] = 0
    return outdated


def _noted(outdated: Counter[str], store: DocumentStore, found: _Findings) -> list[str]:
    found.counts["stale"] = sum(outdated.values())
    found.counts["pending"] = int(index_info(store.conn)["chunks_pending"])
    waiting = found.counts["pending"] and "model" not in outdated
    return [*sorted(outdated), *(["embedding"] if waiting else [])]


def _unreadable(known: KnownFile) -> Depth:
    return Depth.CHUNK if known.reason == Reason.UNREADABLE else Depth.NOTHING


def _nothing(_: str, __: str) -> tuple[KnownFile, ...]:
    return ()
