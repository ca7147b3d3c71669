"""After a run: the noise floor of the corpus, measured again only where vectors changed."""

from __future__ import annotations

from typing import TYPE_CHECKING

from seoga import logs
from seoga.contracts.stop import unless_stopped
from seoga.errors import Cancelled, SeogaError
from seoga.kb import Kb
from seoga.storage import generations
from seoga.storage.documents import DocumentStore
from seoga_indexer.ports import Ports

if TYPE_CHECKING:
    from seoga.search.calibrate import Embed

# Models in this process cost nothing to ask; of others `seoga calibrate` asks.
_OWN = ("builtin", "hashing")

log = logs.get("indexer")


def after_run(kb: Kb, store: DocumentStore, ports: Ports) -> str:
    """The sentence for the end of a run; "" where there are no vectors to compare, or when the run
    is stopped meanwhile. Never fails the run."""
    if generations.live(store.conn) is None:
        return ""
    # NumPy takes a tenth of a second to load, which a run without vectors has no use for.
    from seoga.search import calibrate

    try:
        found = calibrate.stored(store.conn)
        if not calibrate.is_fresh(store.conn, found):
            found = calibrate.calibrate(store.conn, _embed(kb, store, ports))
            if found is not None:
                store.set_meta(calibrate.KEY, calibrate.to_text(found))
        return calibrate.line_of(store.conn, found, kb.config.search.min_score)
    except Cancelled:
        return ""
    except SeogaError as error:
        log.warning("not calibrated", kb=kb.id, error=error.message)
        return ""


def _embed(kb: Kb, store: DocumentStore, ports: Ports) -> Embed | None:
    live = generations.live(store.conn)
    if live is None or live[1].provider not in _OWN:
        return None
    from seoga.search.query_vectors import spec_of

    spec = spec_of(kb, live[1])
    return lambda texts: unless_stopped(lambda: ports.embedding.embed_queries(texts, spec))
