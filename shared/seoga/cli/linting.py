"""`lint`: statements that contradict one another or lead nowhere, documents that are not found."""

from __future__ import annotations

from typing import Annotated

import typer

from seoga.cli.options import AsJson, BasePath, ConfigFile, KbPath, chosen_settings
from seoga.cli.output import emit, say, show
from seoga.cli.targets import chosen_kbs


def register(app: typer.Typer) -> None:
    """Adds the commands of this file."""
    app.command("lint")(lint)


def lint(
    *,
    path: KbPath = None,
    config: ConfigFile = None,
    base_path: BasePath = None,
    sample: Annotated[
        int, typer.Option("--sample", min=0, help="Documents to ask for by title; 0: none.")
    ] = 200,
    strict: Annotated[bool, typer.Option("--strict", help="Warnings count as errors.")] = False,
    as_json: AsJson = False,
) -> int:
    """Report broken or cyclic supersession, unknown statuses, undated decisions and documents that
    their own title does not find. Exit 1 when there are errors."""
    from seoga.search.lint import level_of
    from seoga.search.lint import lint as look_at

    kbs = [
        kb
        for kb in chosen_kbs(chosen_settings(base_path).base_path, path, config)
        if kb.db_path.exists()
    ]
    reports = [look_at(kb, sample) for kb in kbs]
    if as_json:
        emit({"kbs": [report.to_json() for report in reports]})
    for report in reports if not as_json else ():
        for one in report.problems:
            show(f"{level_of(one.kind)}: {one.document}: {one.message} [{one.kind}]")
        if report.asked < report.titled:
            say(f"{report.asked} of {report.titled} titles were asked for; --sample asks more.")
        warnings = len(report.problems) - report.errors
        show(f"{report.kb_id}: {report.errors} errors, {warnings} warnings")
    bad = any(report.errors or (strict and report.problems) for report in reports)
    return 1 if bad else 0
