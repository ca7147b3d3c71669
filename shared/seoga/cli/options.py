"""Options that several commands share, and the settings and stack they lead to."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from seoga import logs, models
from seoga.settings import Settings, settings, usable

if TYPE_CHECKING:
    from seoga.wiring import Stack


def named_path(text: str) -> Path:
    """A path of the command line. An empty one (of an unset variable, mostly) names nothing, and
    must not mean the working directory."""
    if not text.strip() or "\0" in text:
        raise typer.BadParameter("an empty path names nothing")
    return Path(text)


BasePath = Annotated[
    Path | None,
    typer.Option(
        "--base-path",
        parser=named_path,
        metavar="FOLDER",
        help="Folder of the knowledge bases (default: SEOGA_BASE_PATH).",
    ),
]
ConfigFile = Annotated[
    Path | None,
    typer.Option(
        "--config",
        parser=named_path,
        metavar="FILE",
        help="Configuration file of one knowledge base.",
    ),
]
KbPath = Annotated[
    Path | None,
    typer.Option(
        "--path",
        parser=named_path,
        metavar="FOLDER",
        help="Folder of one knowledge base (holds config.json).",
    ),
]
AsJson = Annotated[
    bool, typer.Option("--json", help="One JSON object on the last line of standard output.")
]
Force = Annotated[bool, typer.Option("--force", help="Redo everything.")]
AcceptDeletions = Annotated[
    bool,
    typer.Option("--accept-deletions", help="Believe a source that lost most of its files."),
]
Host = Annotated[str | None, typer.Option("--host", help="Address to listen on.")]
Port = Annotated[
    int | None, typer.Option("--port", min=0, max=65535, help="Port to listen on; 0: any free one.")
]
Tools = Annotated[str, typer.Option("--tools", help="Toolsets to offer, comma separated.")]


Partial = Annotated[
    models.Partial | None,
    typer.Option("--partial", help="Redo from this stage; keep extraction."),
]
SearchMode = Literal["auto", "bm25", "vector"]
Mode = Annotated[SearchMode, typer.Option("--mode", help="Which tracks to search.")]


def chosen_settings(base_path: Path | None = None, **changes: object) -> Settings:
    """The settings of this process with what the command line says; None changes nothing."""
    given = {"base_path": base_path, **changes}
    said = {name: value for name, value in given.items() if value is not None}
    if base_path is not None:
        said["base_path"] = base_path.expanduser().absolute()
    chosen = usable(settings().model_copy(update=said))
    # A command says itself what it does: its log speaks of troubles only, unless more is asked for.
    level = chosen.log_level if "log_level" in chosen.model_fields_set else "warning"
    logs.configure(level, chosen.log_json)
    return chosen


@contextmanager
def opened_stack(config: Settings) -> Iterator[Stack]:
    """The stack of these settings; what was used of it is closed at the end."""
    from seoga.wiring import build_stack

    stack = build_stack(config)
    try:
        yield stack
    finally:
        stack.close()


@contextmanager
def opened_engine(stack: Stack) -> Iterator[Any]:
    """The indexing engine in this process, whatever URL is set: what `exec` runs is run here."""
    from seoga.wiring import ENGINES, load

    if not stack.settings.indexer_url:
        yield stack.indexing
        return
    engine = load(ENGINES["indexing"])(stack)
    try:
        yield engine
    finally:
        engine.close()
