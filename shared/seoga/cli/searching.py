"""`search`: one question, asked of one knowledge base or of all."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Annotated

import typer

from seoga.cli.options import (
    AsJson,
    BasePath,
    ConfigFile,
    KbPath,
    Mode,
    chosen_settings,
    opened_stack,
)
from seoga.cli.output import emit, say, show, show_text
from seoga.cli.targets import chosen_kbs

if TYPE_CHECKING:
    from seoga.kb import Kb
    from seoga.models import Hit
    from seoga.search.engine import SearchAnswer, SearchRequest
    from seoga.settings import Settings


Exclude = Annotated[
    str, typer.Option("--exclude", help="Path segments to leave out, comma separated.")
]
Label = Annotated[str, typer.Option("--label", help="Only these sources, comma separated.")]
Glob = Annotated[str, typer.Option("--glob", help="Only paths like this, e.g. 'docs/**/*.md'.")]
FileTypes = Annotated[
    str, typer.Option("--type", help="Only these extensions or formats, comma separated.")
]
After = Annotated[str, typer.Option("--after", help="Only documents changed since (ISO date).")]
Before = Annotated[
    str, typer.Option("--before", help="Only documents changed until then (ISO date).")
]
Lang = Annotated[str, typer.Option("--lang", help="Only passages in this language: ko or en.")]
SearchAll = Annotated[
    bool, typer.Option("--all", help="Show what is retired or excluded by default, too.")
]
Superseded = Annotated[
    bool, typer.Option("--include-superseded", help="Show retired documents, too.")
]
Excluded = Annotated[
    bool, typer.Option("--include-excluded", help="Search folders that are skipped, too.")
]
AsOf = Annotated[
    str, typer.Option("--as-of", help="What was in force on a day, such as 2026-03-01.")
]
TopK = Annotated[int | None, typer.Option("--top-k", help="Results, 1 to 50 (default: the KB's).")]
Threshold = Annotated[
    float | None, typer.Option("--threshold", help="Least cosine (default: measured).")
]
Full = Annotated[bool, typer.Option("--full", help="Print whole passages, however long.")]
Explain = Annotated[
    bool, typer.Option("--explain", help="Show the numbers behind each hit and the rest.")
]

Rerank = Annotated[
    bool,
    typer.Option("--rerank/--no-rerank", help="Ask the reranker of the knowledge base, if any."),
]


def register(app: typer.Typer) -> None:
    """Adds the commands of this file."""
    app.command("search")(search)


def search(
    query: Annotated[str, typer.Argument(help="Words or a whole question.")],
    *,
    path: KbPath = None,
    config: ConfigFile = None,
    base_path: BasePath = None,
    mode: Mode = "auto",
    top_k: TopK = None,
    threshold: Threshold = None,
    exclude: Exclude = "",
    label: Label = "",
    glob: Glob = "",
    types: FileTypes = "",
    after: After = "",
    before: Before = "",
    lang: Lang = "",
    search_all: SearchAll = False,
    include_superseded: Superseded = False,
    include_excluded: Excluded = False,
    as_of: AsOf = "",
    full: Full = False,
    explain: Explain = False,
    rerank: Rerank = True,
    as_json: AsJson = False,
) -> int:
    """Search; every hit says why it is there and where it stands."""
    from seoga.search.engine import SearchRequest

    chosen = chosen_settings(base_path)
    kbs = chosen_kbs(chosen.base_path, path, config)
    request = SearchRequest(
        query=query.encode("utf-8", "replace").decode("utf-8"),
        top_k=kbs[0].config.search.top_k if top_k is None else top_k,
        mode=mode,
        threshold=threshold,
        search_all=search_all,
        include_superseded=include_superseded,
        include_excluded=include_excluded,
        explain=explain,
        rerank=rerank,
    )
    request = replace(request, labels=_names(label), exclude=_names(exclude), as_of=as_of)
    request = replace(request, path_glob=glob, file_types=_names(types), lang=lang)
    request = replace(request, modified_after=after, modified_before=before)
    answer = _answer(chosen, kbs, request)
    if as_json:
        emit(answer.to_json())
    else:
        _show(answer, full)
    return 0


def _answer(chosen: Settings, kbs: Sequence[Kb], request: SearchRequest) -> SearchAnswer:
    from seoga.search.engine import search as ask

    with opened_stack(chosen) as stack:
        # Words alone need no model: it is not even opened for them.
        models = request.mode != "bm25" or any(kb.rerank_spec().provider for kb in kbs)
        return ask(kbs, request, stack.embedding if models else None)


def hit_lines(hit: Hit, full: bool = True) -> list[str]:
    """The head line, the text, and an empty line."""
    from seoga.search.lines import body, head_line

    return [head_line(hit), body(hit, full), ""]


def _show(answer: SearchAnswer, full: bool) -> None:
    from seoga.search.explain import lines_of_hit, lines_of_search

    for warning in answer.warnings:
        say(f"warning: {warning}")
    for hit in answer.hits:
        head, *rest = hit_lines(hit, full)
        show(head)
        show_text("\n".join(rest))
        for line in lines_of_hit(hit.why) if hit.why else ():
            show(line)
    if answer.message:
        show(answer.message)
    for why in answer.why:
        for line in lines_of_search(why):
            show(line)


def _names(text: str) -> tuple[str, ...]:
    return tuple(name.strip() for name in text.split(",") if name.strip())
