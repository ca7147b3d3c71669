"""Which knowledge bases a command speaks of."""

from __future__ import annotations

from pathlib import Path

from seoga.cli.output import say
from seoga.errors import InvalidArgument, NotFound
from seoga.kb import CONFIG, Kb, find_kb, list_kbs, load_kb


def one_kb(base: Path, path: Path | None, config: Path | None = None) -> Kb:
    """The knowledge base of `--path` (its folder, or its id) or `--config`; warnings go to stderr.

    Raises InvalidArgument when neither is given, NotFound, ConfigError.
    """
    if path is not None and config is not None:
        raise InvalidArgument("--path and --config were both given", "Give one of them.")
    if config is not None:
        path = config.expanduser().absolute().parent
    if path is None:
        raise InvalidArgument("which knowledge base?", "Give its folder with --path.")
    kb = _load(base, path.expanduser())
    for warning in kb.warnings:
        say(f"warning: {warning}")
    return kb


def chosen_kbs(base: Path, path: Path | None, config: Path | None = None) -> list[Kb]:
    """The one of `--path` or `--config`, else all of the base path; raises NotFound for none."""
    if path is not None or config is not None:
        return [one_kb(base, path, config)]
    listing = list_kbs(base)
    for problem in listing.problems:
        say(f"warning: {problem.message}")
    if not listing.kbs:
        raise NotFound(
            f"there is no knowledge base at {base}", "Make one with `seoga index FOLDER`."
        )
    return list(listing.kbs)


def _load(base: Path, path: Path) -> Kb:
    if path.name == CONFIG and path.is_file():
        path = path.parent
    if not path.is_dir() and len(path.parts) == 1:
        return find_kb(base, str(path))
    return load_kb(path)
