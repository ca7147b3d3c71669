"""`exec`, `index`, `add`, `init`, `exec-queue`: bring an index up to date."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from seoga import models
from seoga.cli.options import (
    AcceptDeletions,
    AsJson,
    BasePath,
    ConfigFile,
    Force,
    KbPath,
    Partial,
    chosen_settings,
    named_path,
    opened_engine,
    opened_stack,
)
from seoga.cli.output import emit, say, show
from seoga.cli.progress import ProgressView
from seoga.cli.stopping import stop_event
from seoga.cli.targets import chosen_kbs, one_kb
from seoga.errors import Cancelled, InvalidArgument, NotFound
from seoga.kb import Kb, create_kb

if TYPE_CHECKING:
    from seoga.contracts.indexing import RunOptions, RunResult
    from seoga.settings import Settings

Folder = Annotated[
    Path, typer.Argument(parser=named_path, metavar="FOLDER", help="A folder of documents.")
]
Name = Annotated[str, typer.Option("--name", help="What to call it (default: the folder's name).")]


def register(app: typer.Typer) -> None:
    """Adds the commands of this file."""
    app.command("exec")(exec_)
    app.command("index")(index)
    app.command("add")(add)
    app.command("init")(init)
    app.command("exec-queue")(exec_queue)


def exec_(
    *,
    path: KbPath = None,
    config: ConfigFile = None,
    base_path: BasePath = None,
    force: Force = False,
    partial: Partial = None,
    accept_deletions: AcceptDeletions = False,
    estimate: Annotated[
        bool,
        typer.Option(
            "--estimate", help="Only say what it would take and cost: nothing is paid or written."
        ),
    ] = False,
    as_json: AsJson = False,
) -> int:
    """Index one knowledge base. No service is needed."""
    chosen = chosen_settings(base_path)
    kb = one_kb(chosen.base_path, path, config)
    options = run_options(force, partial, accept_deletions)
    if estimate:
        from seoga.cli.estimating import estimate_and_report

        return estimate_and_report(chosen, kb, options, as_json)
    return run_and_report(chosen, [kb], options, as_json)


def index(
    folder: Annotated[
        Path | None,
        typer.Argument(
            parser=named_path,
            metavar="FOLDER",
            help="A folder of documents (default: all knowledge bases).",
        ),
    ] = None,
    *,
    path: KbPath = None,
    config: ConfigFile = None,
    base_path: BasePath = None,
    force: Force = False,
    accept_deletions: AcceptDeletions = False,
    as_json: AsJson = False,
) -> int:
    """Index a folder of documents and stop; its knowledge base is made when there is none."""
    chosen = chosen_settings(base_path)
    if folder is None:
        kbs = chosen_kbs(chosen.base_path, path, config)
    else:
        kbs = [kb_of_folder(chosen.base_path, folder)]
    return run_and_report(chosen, kbs, run_options(force, None, accept_deletions), as_json)


def add(
    folder: Folder, name: Name = "", base_path: BasePath = None, as_json: AsJson = False
) -> int:
    """Make a knowledge base for a folder and queue its first run."""
    chosen = chosen_settings(base_path)
    kb = kb_of_folder(chosen.base_path, folder, name)
    status, worker = enqueue(chosen, kb)
    if as_json:
        emit({"kb_id": kb.id, "name": kb.name, "path": str(kb.folder), "status": status})
        return 0
    show(f"{kb.name}: knowledge base {kb.id} ({status})")
    if worker:
        say(f"The indexer takes it in its turn ({worker}); `seoga status` shows how far it is.")
    else:
        say("No indexer works this queue now: `seoga exec-queue` does it here.")
    return 0


def init(name: Name = "", base_path: BasePath = None) -> int:
    """Make a knowledge base for the current folder, without indexing it yet."""
    kb = kb_of_folder(chosen_settings(base_path).base_path, Path.cwd(), name)
    show(f"{kb.name}: knowledge base {kb.id}; index it with `seoga exec --path {kb.folder}`")
    return 0


def exec_queue(
    base_path: BasePath = None,
    queue_file: Annotated[
        Path | None,
        typer.Option(
            "--queue-file",
            parser=named_path,
            metavar="FILE",
            help="A JSON queue to drain as well.",
        ),
    ] = None,
    sweep_all: Annotated[
        bool, typer.Option("--sweep-all", help="Take deferred entries too.")
    ] = False,
    as_json: AsJson = False,
) -> int:
    """Work the queue until it is empty; exits 1 when an entry failed. No service is needed."""
    from seoga.wiring import load

    if base_path is None and queue_file is not None:
        base_path = queue_file.expanduser().absolute().parent
    chosen = chosen_settings(base_path)
    with opened_stack(chosen) as stack, stop_event() as cancel, ProgressView(as_json) as view:
        drain = load("seoga_indexer.orchestrator:drain")
        outcome = drain(
            stack, sweep_all=sweep_all, queue_file=queue_file, cancel=cancel, progress=view
        )
    for trouble in outcome["troubles"]:
        say(f"failed: {trouble['kb_id'] or 'no knowledge base'}: {trouble['error']}")
    if as_json:
        emit(outcome)
    else:
        counts = (f"{name}={outcome[name]}" for name in ("done", "failed", "cancelled", "rejected"))
        show("Queue: " + " ".join(counts))
    if cancel.is_set():
        return Cancelled.exit_code
    return 1 if outcome["troubles"] else 0


def kb_of_folder(base: Path, folder: Path, name: str = "") -> Kb:
    """The knowledge base whose only source is this folder. Raises NotFound for no folder."""
    real = folder.expanduser()
    if not real.is_dir():
        what = "is a file, not a folder" if real.is_file() else "does not exist"
        raise NotFound(f"{folder} {what}", "Give the folder that holds the documents.")
    try:
        str(real.resolve()).encode("utf-8")
    except UnicodeEncodeError as error:
        raise InvalidArgument(
            f"the name of the folder {folder} is not UTF-8", "Rename it."
        ) from error
    return create_kb(base, real, name)


def enqueue(chosen: Settings, kb: Kb) -> tuple[str, str]:
    """Queues a full run: the status that the queue gives, and who works it ("" for nobody)."""
    from seoga.storage.jobs import Queue

    queue = Queue(chosen.base_path / "queue.db")
    try:
        return queue.enqueue(kb.id).status, queue.state(kb.id).worker
    finally:
        queue.close()


def run_options(force: bool, partial: models.Partial | None, accept_deletions: bool) -> RunOptions:
    """What the command line asks of a run."""
    return {"force": force, "partial": partial, "accept_deletions": accept_deletions}


def run_and_report(chosen: Settings, kbs: list[Kb], options: RunOptions, as_json: bool) -> int:
    """Runs each knowledge base in turn and prints what came of it; the exit code of the worst."""
    code = 0
    with opened_stack(chosen) as stack, opened_engine(stack) as engine, stop_event() as cancel:
        for kb in kbs:
            if len(kbs) > 1:
                say(f"{kb.name} ({kb.id})")
            with ProgressView() as view:
                result = engine.run_kb(kb, **options, progress=view, cancel=cancel)
            report(result, as_json)
            code = max(code, result.exit_code)
            if cancel.is_set():
                break
    return code


def report(result: RunResult, as_json: bool) -> None:
    """The last lines of a run: one JSON object, or Run and State."""
    for warning in result.warnings:
        say(f"warning: {warning}")
    if as_json:
        emit(result.to_json())
        return
    for line in run_lines(result):
        show(line)


def run_lines(result: RunResult) -> tuple[str, ...]:
    """Calibration where there are vectors; Run says what this run did, State how the index stands
    now."""
    seconds = result.elapsed_ms / 1000
    calibration = (result.calibration,) if result.calibration else ()
    return (
        *calibration,
        f"Run: indexed={result.indexed} skipped={result.skipped} removed={result.removed}"
        f" chunks={result.chunks} elapsed={seconds:.1f}s",
        f"State: failed={result.failed} degraded={result.degraded} deferred={result.deferred}"
        f" needsAction={result.needs_action} unsupported={result.unsupported}",
    )
