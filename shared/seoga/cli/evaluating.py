"""`eval`: how well questions are answered, and which way of searching answers them better."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from seoga.cli.options import (
    AsJson,
    BasePath,
    ConfigFile,
    KbPath,
    Mode,
    chosen_settings,
    opened_engine,
    opened_stack,
)
from seoga.cli.output import emit, say, show
from seoga.cli.progress import ProgressView
from seoga.cli.stopping import stop_event
from seoga.cli.targets import one_kb
from seoga.errors import Cancelled, InvalidArgument

if TYPE_CHECKING:
    from collections.abc import Callable

    from seoga.contracts.embedding import Embedding
    from seoga.kb import Kb
    from seoga.search.comparing import Ask, Judged, Scores
    from seoga.search.evalpage import Compared
    from seoga.search.request import SearchRequest
    from seoga.settings import Settings
    from seoga.wiring import Stack

_CACHE = "eval"
# Expected documents that are not there: so many are named.
_NAMED = 10

_FOLDER_HELP = (
    "A folder with corpus.jsonl, queries.jsonl and qrels.jsonl, or a table of your own questions"
    " (tabs: question, document, must_contain, type; a dash for the document of a question that is"
    " to be refused)."
)
Compare = Annotated[
    list[str] | None,
    typer.Option("--compare", help="Ask again so, e.g. mode=bm25 or mode=auto,fusion=rrf."),
]


def register(app: typer.Typer) -> None:
    """Adds the commands of this file."""
    app.command("eval")(evaluate)


def evaluate(
    folder: Annotated[
        Path,
        typer.Argument(help=_FOLDER_HELP),
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
    compare: Compare = None,
    report: Annotated[
        Path | None, typer.Option("--report", help="Write a page with tables and plots here.")
    ] = None,
    path: KbPath = None,
    config: ConfigFile = None,
    base_path: BasePath = None,
    as_json: AsJson = False,
) -> int:
    """Run a benchmark, or your own questions, through the real store and the real search."""
    from seoga.search.comparing import variants
    from seoga.search.request import SearchRequest

    _must_be_there(folder)
    chosen = chosen_settings(base_path)
    asked = variants(SearchRequest("", mode=mode, fusion=fusion or ""), compare or ())
    lost: list[str] = []
    with opened_stack(chosen) as stack:
        if folder.is_file():
            kb = one_kb(chosen.base_path, path, config)
            found, kinds, lost = _own(folder, kb, stack, asked)
        else:
            found, kinds = _benchmark([folder, *(beside or ())], chosen, stack, asked)
    measure = "mrr_at_10" if folder.is_file() else "ndcg_at_10"
    first = next(iter(found))
    if not (compare or report):
        _show(found[first].means, as_json, lost)
        return 0
    compared = _compared(folder.stem, measure, found, kinds)
    if report is not None:
        _write(report, compared)
    _show_compared(compared, as_json, lost)
    return 0


def _must_be_there(file: Path) -> None:
    if not file.exists():
        raise InvalidArgument(f"{file} is not there: neither a table nor a benchmark folder")


class _Outcome:
    """The scores of one way to search, with what is said of all questions together."""

    def __init__(self, scores: Scores, extra: Mapping[str, float]) -> None:
        from seoga.search.comparing import means

        self.scores, self.means = scores, {**means(scores), **extra}


def _benchmark(
    folders: list[Path], chosen: Settings, stack: Stack, asked: Mapping[str, SearchRequest]
) -> tuple[dict[str, _Outcome], dict[str, str]]:
    from seoga.search import evaluation
    from seoga.search.comparing import kind_of

    with indexing(stack) as index:
        prepared = evaluation.prepare(folders, chosen.cache_path / _CACHE, index)
    out = {}
    for name, request in asked.items():
        embedding = None if request.mode == "bm25" else stack.embedding
        scores, milliseconds = evaluation.ask(prepared, request, embedding)
        out[name] = _Outcome(scores, evaluation.latency(milliseconds))
    return out, {each: kind_of(text) for each, text in prepared.bench.queries.items()}


def _own(
    file: Path, kb: Kb, stack: Stack, asked: Mapping[str, SearchRequest]
) -> tuple[dict[str, _Outcome], dict[str, str], list[str]]:
    from seoga.search.comparing import ask_judged, kind_of, missing, read_judged

    judged = read_judged(file)
    lost = missing(judged, _documents(kb))
    _tell(judged, lost, kb)
    out = {}
    for name, request in asked.items():
        embedding = None if request.mode == "bm25" else stack.embedding
        scores = ask_judged(judged, request, _asking(kb, embedding), lost)
        out[name] = _Outcome(scores, {})
    kinds = {str(n): one.kind or kind_of(one.question) for n, one in enumerate(judged, 1)}
    return out, kinds, sorted(lost)


def _documents(kb: Kb) -> list[str]:
    from seoga.search.readers import reading

    with reading(kb.db_path) as conn:
        return [name for (name,) in conn.execute("SELECT label || '/' || path FROM files")]


def _tell(judged: Sequence[Judged], lost: frozenset[str], kb: Kb) -> None:
    """Names what is expected and not there: nothing finds it, which is no fault of a search."""
    if not lost:
        return
    out = sum(bool(one.documents) and lost.issuperset(one.documents) for one in judged)
    if out == len(judged):
        raise InvalidArgument(
            f"{kb.name} holds none of the documents of the table (first: {min(lost)})",
            "Documents are named as in a hit, label/path, or by the end of that.",
        )
    names = ", ".join(sorted(lost)[:_NAMED]) + (", ..." if len(lost) > _NAMED else "")
    some = "1 question is" if out == 1 else f"{out} questions are"
    say(f"Not in {kb.name}: {names}; {some} left out.")


def _asking(kb: Kb, embedding: Embedding | None) -> Ask:
    from seoga.search.engine import search

    return lambda request: search([kb], request, embedding)


def _compared(
    title: str, measure: str, found: Mapping[str, _Outcome], kinds: Mapping[str, str]
) -> Compared:
    from seoga.search.comparing import by_kind, difference
    from seoga.search.evalpage import Compared

    first = next(iter(found.values()))
    others = list(found.items())[1:]
    return Compared(
        title,
        measure,
        {name: one.means for name, one in found.items()},
        {name: by_kind(one.scores, kinds) for name, one in found.items()},
        {name: difference(first.scores, one.scores, measure) for name, one in others},
    )


def _write(file: Path, compared: Compared) -> None:
    from seoga.search.evalpage import page

    try:
        file.write_text(page(compared), encoding="utf-8")
    except OSError as error:
        raise InvalidArgument(f"{file} cannot be written: {error.strerror}") from error


def _show(figures: Mapping[str, float], as_json: bool, lost: Sequence[str] = ()) -> None:
    if as_json:
        emit({**figures, **({"missing": list(lost)} if lost else {})})
        return
    for name, value in figures.items():
        show(f"{name:<14} {value:.4f}" if isinstance(value, float) else f"{name:<14} {value}")


def _show_compared(found: Compared, as_json: bool, lost: Sequence[str]) -> None:
    from dataclasses import asdict

    from seoga.search.evalpage import difference_line

    if as_json:
        emit({**asdict(found), **({"missing": list(lost)} if lost else {})})
        return
    for name, figures in found.means.items():
        show(name)
        _show(figures, as_json=False)
        for kind, values in found.kinds[name].items():
            show(f"  {kind} ({values['questions']:.0f}): {values.get(found.measure, 0):.4f}")
    first = next(iter(found.means))
    for name, one in found.differences.items():
        show(difference_line(name, first, one))


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
