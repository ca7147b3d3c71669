"""The `seoga` command: every group registered, every error one line and an exit code."""

from __future__ import annotations

import gc
import re
import sys
from collections.abc import Sequence
from copy import copy
from io import TextIOWrapper
from typing import Annotated

import typer

from seoga import __version__
from seoga.cli import (
    calibrating,
    evaluating,
    extracting,
    indexing,
    inspecting,
    linting,
    pruning,
    running,
    searching,
    serving,
    transcribing,
    watching,
)
from seoga.cli.output import emit, say
from seoga.errors import Cancelled, InvalidArgument, SeogaError
from seoga.settings import one_thread_a_product

USAGE = 64
_COLLECT_AFTER = 10_000

app = typer.Typer(
    name="seoga",
    help="A self-hosted knowledge base that agents search over MCP.",
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    context_settings={"help_option_names": ["-h", "--help"]},
)
for group in (
    *(running, serving, indexing, pruning, searching, inspecting, evaluating, calibrating),
    *(extracting, transcribing, watching, linting),
):
    group.register(app)


@app.callback(invoke_without_command=True)
def root(
    context: typer.Context,
    version: Annotated[bool, typer.Option("--version", help="Print the version.")] = False,
) -> None:
    """A self-hosted knowledge base that agents search over MCP."""
    if version:
        typer.echo(f"seoga {__version__}")
    elif context.invoked_subcommand is None:
        typer.echo(context.get_help())


def main() -> None:
    """The entry point: never a stack trace, always an exit code of the specification (13)."""
    one_thread_a_product()
    # Imports stay, and a run makes rows by the ten thousand: Python's 700 would look through them
    # again and again.
    gc.freeze()
    gc.set_threshold(_COLLECT_AFTER)
    for stream in (sys.stdout, sys.stderr):
        # Korean must come out whole in the C locale of a container too.
        if isinstance(stream, TextIOWrapper):
            stream.reconfigure(encoding="utf-8", errors="replace")
    code = invoke(sys.argv[1:])
    # As at the start: the interpreter looks through all that is there before it ends.
    gc.freeze()
    sys.exit(code)


def invoke(arguments: Sequence[str]) -> int:
    """Runs one command line in this process; returns its exit code."""
    as_json = "--json" in arguments
    try:
        command = typer.main.get_command(_only_what(arguments))
        result = command.main(list(arguments), prog_name="seoga", standalone_mode=False)
    except SeogaError as error:
        return _fail(error, as_json)
    except typer.TyperException as error:
        message = error.format_message().replace("Value error, ", "")
        return _fail(InvalidArgument(message, _way_out(arguments, message)), as_json)
    except (typer.Abort, KeyboardInterrupt):
        return _fail(Cancelled("stopped"), as_json)
    except BrokenPipeError:
        # The reader of our output left (`seoga … | head`); nothing is wrong here.
        sys.stdout = None
        return 0
    except Exception as error:
        return _fail(_unforeseen(error), as_json)
    return _code(result)


def _only_what(arguments: Sequence[str]) -> typer.Typer:
    """The application with no other command than the one that is asked for, where that is plain:
    to read the options of all of them takes longer than many a command."""
    named = [one for one in app.registered_commands if arguments[:1] == [one.name]]
    if not named:
        return app
    narrow = copy(app)
    narrow.registered_commands = named
    return narrow


def _way_out(arguments: Sequence[str], message: str) -> str:
    """A word that begins with a dash is taken for an option; questions hold such words."""
    command = next((one for one in arguments if not one.startswith("-")), "")
    if command == "search" and re.match("No such option: -[^-]", message):
        rest = " ".join(one for one in arguments if one != command)
        return f"Words that begin with a dash go after two of them: seoga search -- {rest}"
    of = f" {command}" if command in _commands() else ""
    return f"See `seoga{of} --help` for what is allowed."


def _commands() -> set[str]:
    return {one.name for one in app.registered_commands if one.name}


def _code(result: object) -> int:
    # Interrupted by Ctrl-C, the framework hands back 130 instead of raising.
    return Cancelled.exit_code if result == 130 else result if isinstance(result, int) else 0


def _fail(error: SeogaError, as_json: bool) -> int:
    say(f"error: {_one_line(error.message)}")
    if error.hint:
        say(f"hint: {_one_line(error.hint)}")
    if as_json:
        emit(dict(error.shape()))
    return error.exit_code


def _unforeseen(error: Exception) -> SeogaError:
    """A fault of ours: one line here, the trace in the log at level debug."""
    from seoga import logs
    from seoga.settings import settings

    if isinstance(error, OSError):
        return SeogaError(f"{error.strerror or error}: {error.filename or ''}".rstrip(": "))
    logs.configure(settings().log_level, settings().log_json)
    logs.get("cli").debug("unforeseen error", exc_info=error)
    name = type(error).__name__
    return SeogaError(f"{name}: {error}", "SEOGA_LOG_LEVEL=debug shows where this happened.")


def _one_line(text: str) -> str:
    return " ".join(text.split())


if __name__ == "__main__":
    main()
