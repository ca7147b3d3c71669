"""`eval`: how well a benchmark's questions are answered."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from seoga.cli.options import AsJson, Mode, chosen_settings, opened_stack
from seoga.cli.output import emit, show


def register(app: typer.Typer) -> None:
    """Adds the commands of this file."""
    app.command("eval")(evaluate)


def evaluate(
    folder: Annotated[
        Path, typer.Argument(help="Holds corpus.jsonl, queries.jsonl and qrels.jsonl.")
    ],
    mode: Mode = "auto",
    as_json: AsJson = False,
) -> int:
    """Run a benchmark folder through the real store and the real search."""
    from seoga.search.evaluation import evaluate as measure

    with opened_stack(chosen_settings()) as stack:
        figures = measure(folder, mode, stack)
    if as_json:
        emit(figures)
    else:
        for name, value in figures.items():
            show(f"{name:<14} {value:.4f}" if isinstance(value, float) else f"{name:<14} {value}")
    return 0
