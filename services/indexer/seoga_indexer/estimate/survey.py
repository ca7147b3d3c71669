"""Which files a run would take up, by why: a scan and a diff over a reader."""

from __future__ import annotations

import json
from contextlib import ExitStack, closing
from dataclasses import dataclass, field

from seoga.kb import Kb
from seoga.models import Item
from seoga.storage.documents import REDO, DocumentStore
from seoga.storage.records import KnownFile
from seoga_indexer import versions
from seoga_indexer.changes import Change, Redo, Verdict
from seoga_indexer.dryrun import differs
from seoga_indexer.pipeline import content_hash
from seoga_indexer.recontext import is_due
from seoga_indexer.run import Order
from seoga_indexer.scan import SourceReport, scan_source
from seoga_indexer.source import Connector, connector_for


@dataclass(slots=True)
class Survey:
    """`new` must be read; `again` are known files whose content is the same and that start at a
    later stage, or at the first with `--force`; `copies` are new files with a known content."""

    new: list[Item] = field(default_factory=list)
    again: list[KnownFile] = field(default_factory=list)
    copies: list[KnownFile] = field(default_factory=list)
    changed: dict[tuple[str, str], KnownFile] = field(default_factory=dict)
    gone: set[int] = field(default_factory=set)
    unchanged: int = 0
    troubles: list[str] = field(default_factory=list)
    connectors: dict[str, Connector] = field(default_factory=dict)

    def file_ids(self) -> set[int]:
        """Known files whose chunks are not those of the index after the run, or are counted by
        the file."""
        changed = {known.id for known in self.changed.values()}
        return {known.id for known in self.again} | changed | self.gone


def look(kb: Kb, store: DocumentStore | None, redo: Redo, opened: ExitStack) -> Survey:
    """Lists every source and compares it with the index. Connectors stay open with `opened`."""
    found = Survey()
    for source in kb.sources():
        connector = opened.enter_context(closing(connector_for(source)))
        found.connectors[source.label] = connector
        report = SourceReport(source.label)
        known = store.known if store else _nothing
        twins: list[Item] = []
        for change in scan_source(connector, report, known, redo):
            _note(change, connector, found, twins)
        if report.trouble:
            found.troubles.append(f"source {source.label}: {report.trouble}")
        found.gone |= {one.id for one in report.gone}
        for item in twins:
            _settle(item, connector, store, found)
    return found


def redo_of(store: DocumentStore | None, now: versions.Versions, order: Order) -> Redo:
    """The rule of a run with these options (see `Run`), which would go on with one that was
    interrupted."""
    since = begun_at(store, "force") if order.force and store else ""
    return versions.redo_rule(now, since)


def begun_at(store: DocumentStore, what: str) -> str:
    """Since when a redo goes on that a run would resume; a year that no file was indexed in yet
    where it would begin: every one is done again."""
    begun = json.loads(store.meta(REDO, "{}"))
    return str(begun["since"]) if begun.get("what") == what else "9999"


def recontexted(store: DocumentStore) -> list[KnownFile]:
    """The files of `--partial contextualization`."""
    since = begun_at(store, "contextualization")
    files = (known for label in store.labels() for known in store.known(label))
    return [known for known in files if is_due(known, since)]


def _note(change: Change, connector: Connector, found: Survey, twins: list[Item]) -> None:
    item, known = change.item, change.known
    if item is None:
        return
    if known is None:
        twins.append(item)
    elif change.verdict is Verdict.UNCHANGED:
        found.unchanged += 1
    elif _same(item, known, connector):
        if change.verdict is Verdict.SUSPECT:
            found.unchanged += 1
        elif known.chunk_count:
            found.again.append(known)
        else:
            found.new.append(item)
    else:
        found.changed[(item.label, item.path)] = known
        found.new.append(item)


def _same(item: Item, known: KnownFile, connector: Connector) -> bool:
    try:
        return not differs(item, known, connector)
    except OSError:
        return True


def _settle(item: Item, connector: Connector, store: DocumentStore | None, found: Survey) -> None:
    """A new file: where its content is known, it moved or is a copy."""
    twin = None
    if store is not None and not connector.remote:
        try:
            with connector.open(connector.refresh(item)) as local:
                twin = store.first_with(content_hash(local))
        except OSError:
            return
    if twin is None or not twin.chunk_count:
        found.new.append(item)
    elif twin.id not in found.gone:
        found.copies.append(twin)
    else:
        found.gone.discard(twin.id)


def _nothing(_: str, __: str) -> tuple[KnownFile, ...]:
    return ()
