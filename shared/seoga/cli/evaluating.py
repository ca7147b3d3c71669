"""`eval`: how well a benchmark's questions are answered."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from seoga.cli.options import (
    AsJson,
    BasePath,
    Mode,
    chosen_settings,
    opened_engine,
    opened_stack,
)
from seoga.cli.output import emit, show
from seoga.cli.progress import ProgressView
from seoga.cli.stopping import stop_event
from seoga.errors import Cancelled

if TYPE_CHECKING:
    from collections.abc import Callable

    from seoga.kb import Kb
    from seoga.wiring import Stack

_CACHE = "eval"


def register(app: typer.Typer) -> None:
    """Adds the commands of this file."""
    app.command("eval")(evaluate)


def evaluate(
    folder: Annotated[
        Path, typer.Argument(help="Holds corpus.jsonl, queries.jsonl and qrels.jsonl.")
    ],
    *,
    mode: Mode = "auto",
    fusion: Annotated[
        Literal["convex", "rrf", "gated"] | None,
        typer.Option("--fusion", help="How the tracks are combined (default: convex)."),
    ] = None,
    beside: Annotated[
        list[Path] | None,
        typer.Option("--beside", help="Put this benchmark's corpus into the same index."),
    ] = None,
    base_path: BasePath = None,
    as_json: AsJson = False,
) -> int:
    """Run a benchmark folder through the real store and the real search."""
    from seoga.search.evaluation import evaluate as measure
    from seoga.search.request import SearchRequest

    chosen = chosen_settings(base_path)
    with opened_stack(chosen) as stack, indexing(stack) as index:
        figures = measure(
            [folder, *(beside or ())],
            SearchRequest("", mode=mode, fusion=fusion or ""),
            cache=chosen.cache_path / _CACHE,
            index=index,
            embedding=None if mode == "bm25" else stack.embedding,
        )
    if as_json:
        emit(figures)
    else:
        for name, value in figures.items():
            show(f"{name:<14} {value:.4f}" if isinstance(value, float) else f"{name:<14} {value}")
    return 0


@contextmanager
def indexing(stack: Stack) -> Iterator[Callable[[Kb], Any]]:
    """What brings a KB up to date here; Ctrl-C stops it, and with it the measurement."""
    with opened_engine(stack) as engine:

        def index(kb: Kb) -> None:
            with ProgressView() as view, stop_event() as cancel:
                engine.run_kb(kb, progress=view, cancel=cancel)
            if cancel.is_set():
                raise Cancelled("stopped before the measurement")

        yield index
