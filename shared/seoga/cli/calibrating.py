"""`calibrate`: how alike passages are that have nothing to do with each other."""

from __future__ import annotations

from contextlib import closing
from typing import TYPE_CHECKING, Any

import typer

from seoga.cli.options import AsJson, BasePath, ConfigFile, KbPath, chosen_settings, opened_stack
from seoga.cli.output import emit, show
from seoga.cli.targets import one_kb
from seoga.errors import NotFound

if TYPE_CHECKING:
    from seoga.kb import Kb
    from seoga.wiring import Stack


def register(app: typer.Typer) -> None:
    """Adds the commands of this file."""
    app.command("calibrate")(calibrate)


def calibrate(
    path: KbPath = None,
    config: ConfigFile = None,
    base_path: BasePath = None,
    as_json: AsJson = False,
) -> int:
    """Measure the noise floor of a knowledge base and suggest a threshold; changes no setting."""
    chosen = chosen_settings(base_path)
    kb = one_kb(chosen.base_path, path, config)
    with opened_stack(chosen) as stack:
        found = _measured(kb, stack)
    if as_json:
        emit(found)
    else:
        for line in lines(found):
            show(line)
    return 0


def lines(found: dict[str, Any]) -> list[str]:
    """A calibration for people: the sentence of a run, then what stands behind it."""
    out = [
        str(found["line"]),
        f"  95 % interval of the p99: {found['low']:.3f} to {found['high']:.3f}",
    ]
    for band, best in found["best_of"].items():
        out.append(
            f"  best of {found['passages']:,} passages that do not answer, {band}:"
            f" median {best['p50']:.3f}, p99 {best['p99']:.3f}"
        )
    if not found["current"]:
        out.append("  The index has changed since: the next run measures again.")
    return out


def _measured(kb: Kb, stack: Stack) -> dict[str, Any]:
    from seoga.search import calibrate as noise
    from seoga.search.query_vectors import spec_of
    from seoga.storage import generations
    from seoga.storage.database import open_writer, reader
    from seoga.storage.documents import DocumentStore
    from seoga.storage.leases import WRITER, Lease

    with reader(kb.db_path) as conn:
        live = generations.live(conn)
    if live is None:
        raise NotFound(f"{kb.name} has no vectors to compare", "Index it with an embedder first.")
    spec = spec_of(kb, live[1])
    with closing(DocumentStore(open_writer(kb.db_path))) as store:
        lease = Lease.acquire(kb.db_path, WRITER, stack.settings.lease_seconds)
        with lease:
            store.lease = lease
            found = noise.calibrate(
                store.conn, lambda texts: stack.embedding.embed_queries(texts, spec)
            )
            if found is None:
                raise NotFound(f"{kb.name} has no two documents with vectors")
            store.set_meta(noise.KEY, noise.to_text(found))
        report = noise.report(store.conn, kb.config.search.min_score)
    return report or {}
