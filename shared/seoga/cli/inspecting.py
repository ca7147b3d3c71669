"""`status`, `doctor`: what is indexed, and what works on this machine."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import TYPE_CHECKING, Annotated, Any

import typer

from seoga.cli.options import (
    AsJson,
    BasePath,
    ConfigFile,
    KbPath,
    chosen_settings,
    opened_stack,
)
from seoga.cli.output import emit, show
from seoga.cli.targets import chosen_kbs, one_kb
from seoga.errors import InvalidArgument
from seoga.kb import Kb, list_kbs
from seoga.printable import sentences

if TYPE_CHECKING:
    from seoga.cli.doctor import Check
    from seoga.wiring import Stack


def register(app: typer.Typer) -> None:
    """Adds the commands of this file."""
    app.command("status")(status)
    app.command("doctor")(doctor)


def status(
    path: KbPath = None,
    config: ConfigFile = None,
    base_path: BasePath = None,
    as_json: AsJson = False,
) -> int:
    """What is indexed, what failed and why, and what is queued."""
    from seoga.cli.status import describe, lines

    settings = chosen_settings(base_path)
    base = settings.base_path
    if path is not None or config is not None:
        kbs, problems = [one_kb(base, path, config)], []
    else:
        listing = list_kbs(base)
        kbs = list(listing.kbs)
        problems = [sentences(problem.message, problem.hint) for problem in listing.problems]
    with opened_stack(settings) as stack:
        told = [describe(base, kb, partial(stale_parts, stack)) for kb in kbs]
    report: dict[str, Any] = {"base_path": str(base), "kbs": told, "problems": problems}
    if as_json:
        emit(report)
        return 0
    show(f"Base path: {base}")
    for kb in report["kbs"]:
        for line in lines(kb):
            show(line)
    for problem in problems:
        show(f"problem: {problem}")
    if not kbs:
        show("No knowledge base yet: `seoga index FOLDER` makes one.")
    return 0


def stale_parts(stack: Stack, kb: Kb) -> dict[str, int]:
    """Which versions of an index are old; in this process, so that nobody is asked over a wire."""
    from seoga.wiring import load

    found: dict[str, int] = load("seoga_indexer.dryrun:stale")(kb, stack)
    return found


def doctor(
    *,
    path: KbPath = None,
    config: ConfigFile = None,
    base_path: BasePath = None,
    deep: Annotated[
        bool, typer.Option("--deep", help="Compare every row of the indexes as well.")
    ] = False,
    repair: Annotated[
        bool, typer.Option("--repair", help="With --deep: mend what follows from the rest.")
    ] = False,
    as_json: AsJson = False,
) -> int:
    """Check what works on this machine, or (--deep) whether the indexes are whole."""
    from seoga.cli.doctor import checks

    if not deep and (repair or path is not None or config is not None):
        raise InvalidArgument("--path, --config and --repair belong to --deep", "Add --deep.")
    settings = chosen_settings(base_path)
    with opened_stack(settings) as stack:
        found: list[Check] = []
        kbs = chosen_kbs(settings.base_path, path, config) if deep else []
        whole = path is None and config is None
        for check in _deep_checks(stack, kbs, repair, whole) if deep else checks(stack):
            found.append(check)
            if not as_json:
                show(check.line())
    failed = any(check.status == "fail" for check in found)
    if as_json:
        emit({"ok": not failed, "checks": [check.to_json() for check in found]})
    return 1 if failed else 0


def _deep_checks(stack: Stack, kbs: list[Kb], repair: bool, whole: bool) -> Iterator[Check]:
    from seoga.cli.deepdoctor import deep_checks
    from seoga.cli.doctor import database_checks

    if whole:
        yield from database_checks(stack.settings.base_path)
    for kb in kbs:
        yield from deep_checks(stack, kb, mend=repair)
