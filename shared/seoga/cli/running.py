"""`run`: one folder, indexed and served in one process (this is `make run`)."""

from __future__ import annotations

import signal
import socket
import threading
from contextlib import suppress
from pathlib import Path
from types import FrameType
from typing import TYPE_CHECKING, Annotated, Any

import typer

from seoga.cli.indexing import kb_of_folder, run_lines
from seoga.cli.listening import listen, url_of
from seoga.cli.options import (
    BasePath,
    Host,
    Port,
    Tools,
    chosen_settings,
    named_path,
    opened_engine,
    opened_stack,
)
from seoga.cli.output import say, show, show_text
from seoga.cli.progress import ProgressView
from seoga.cli.serving import DEFAULT_TOOLS, connection_text
from seoga.errors import Busy, SeogaError, ServiceUnavailable
from seoga.exposure import refuse_open
from seoga.kb import Kb, list_kbs
from seoga.wiring import load

if TYPE_CHECKING:
    from seoga.contracts.indexing import Progress
    from seoga.wiring import Stack


_NAMED = 5


def register(app: typer.Typer) -> None:
    """Adds the commands of this file."""
    app.command("run")(run)


def run(
    docs: Annotated[
        Path,
        typer.Argument(parser=named_path, metavar="DOCS", help="The folder of documents."),
    ],
    port: Port = None,
    host: Host = None,
    base_path: BasePath = None,
    tools: Tools = DEFAULT_TOOLS,
) -> int:
    """Index a folder and serve it over MCP until Ctrl-C."""
    refuse_open(chosen_settings(base_path, host=host, port=port))
    load("seoga_gateway.server:choose")(tools)
    with listen_for(port, host, base_path) as held:
        bound = held.getsockname()[1]
        chosen = chosen_settings(base_path, host=host, port=bound)
        kb = kb_of_folder(chosen.base_path, docs)
        with opened_stack(chosen) as stack:
            first = FirstRun(stack, kb)
            show(f"Serving MCP at {url_of(held)}")
            show_text(connection_text(url_of(held), chosen.base_path, tools))
            _say_others(chosen.base_path, kb)
            first.start()
            try:
                _serve(stack, tools, first, held)
            finally:
                first.stop()
    return 0


def listen_for(port: int | None, host: str | None, base_path: Path | None) -> socket.socket:
    """The socket to serve on; raises SeogaError when it is taken."""
    chosen = chosen_settings(base_path, host=host, port=port)
    return listen(chosen.host, chosen.port)


def _say_others(base: Path, kb: Kb) -> None:
    """What else can be found through this server; not everybody expects it."""
    others = [other.name for other in list_kbs(base).kbs if other.id != kb.id]
    if others:
        more = f" and {len(others) - _NAMED} more" if len(others) > _NAMED else ""
        named = ", ".join(others[:_NAMED]) + more
        say(f"Searched too, as they are in {base}: {named}. --base-path gives this one its own.")


class FirstRun:
    """The index run in a thread beside the server."""

    def __init__(self, stack: Stack, kb: Kb) -> None:
        self._stack, self._kb = stack, kb
        self._cancel = threading.Event()
        self._text_done = threading.Event()
        self._failed: SeogaError | None = None
        self._thread = threading.Thread(target=self._work, name="first-run")
        if indexed_before(kb):
            self._text_done.set()

    def start(self) -> None:
        """Begins."""
        self._thread.start()

    def stop(self) -> None:
        """Asks the run to stop and waits for it; what is done stays."""
        self._cancel.set()
        self._thread.join()

    def ready(self) -> dict[str, Any]:
        """Raises ServiceUnavailable as long as there is nothing that a query could find."""
        if self._text_done.is_set():
            return {"kb_id": self._kb.id}
        if self._failed is not None:
            raise ServiceUnavailable(self._failed.message, self._failed.hint)
        raise ServiceUnavailable("the first run is still reading the documents", "Ask again soon.")

    def _work(self) -> None:
        try:
            with opened_engine(self._stack) as engine, ProgressView() as view:

                def follow(progress: Progress) -> None:
                    if progress.text_done and not self._text_done.is_set():
                        self._text_done.set()
                        say("Every document can be found by its words now.")
                    view(progress)

                result = engine.run_kb(self._kb, progress=follow, cancel=self._cancel)
        except Busy as error:
            # Another process indexes the same folder: what it commits can be found here.
            say(f"not indexing: {error.message}")
            self._text_done.set()
        except SeogaError as error:
            self._failed = error
            say(f"error: {error.message}")
            if error.hint:
                say(f"hint: {error.hint}")
        else:
            if result.status != "cancelled":
                self._text_done.set()
            for warning in result.warnings:
                say(f"warning: {warning}")
            for line in run_lines(result):
                say(line)


def indexed_before(kb: Kb) -> bool:
    """Whether an earlier run came far enough for queries to be answered."""
    from seoga.storage.database import reader
    from seoga.storage.reading import runs

    with suppress(SeogaError), reader(kb.db_path) as conn:
        return any(past["status"] == "done" for past in runs(conn, 100))
    return False


def _serve(stack: Stack, tools: str, first: FirstRun, held: socket.socket) -> None:
    import uvicorn

    from seoga.service import GRACE_S

    app = load("seoga_gateway.app:create")(stack, tools, first.ready)
    config = uvicorn.Config(app, log_config=None, timeout_graceful_shutdown=GRACE_S)
    # uvicorn raises a signal again once it has stopped; as an exception it lets us stop the run.
    signal.signal(signal.SIGTERM, _interrupt)
    with suppress(KeyboardInterrupt):
        uvicorn.Server(config).run(sockets=[held])


def _interrupt(_: int, __: FrameType | None) -> None:
    raise KeyboardInterrupt
