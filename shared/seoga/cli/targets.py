"""Which knowledge bases a command speaks of."""

from __future__ import annotations

import os
from pathlib import Path

from seoga.cli.output import say
from seoga.errors import InvalidArgument, NotFound
from seoga.instances import FOUND, found_upwards, open_instance
from seoga.kb import CONFIG, Kb, find_kb, list_kbs, load_kb
from seoga.printable import sentences
from seoga.settings import project_dir


def one_kb(base: Path, path: Path | None, config: Path | None = None) -> Kb:
    """The knowledge base of `--path` (its folder, or its id) or `--config`, else the project
    instance found upwards; warnings go to stderr.

    Raises InvalidArgument where there is nothing to choose, NotFound, ConfigError.
    """
    if path is not None and config is not None:
        raise InvalidArgument("--path and --config were both given", "Give one of them.")
    kb = _chosen(base, path, config)
    if kb is None:
        raise InvalidArgument(
            "which knowledge base?", f"Give its folder with --path, or be where {FOUND} is."
        )
    return _with_warnings(kb)


def chosen_kbs(base: Path, path: Path | None, config: Path | None = None) -> list[Kb]:
    """The one of `--path` or `--config`, else the project instance found upwards, else all of the
    base path; raises NotFound for none."""
    if path is not None or config is not None:
        return [one_kb(base, path, config)]
    if (found := _chosen(base, None, None)) is not None:
        return [_with_warnings(found)]
    listing = list_kbs(base)
    for problem in listing.problems:
        say(f"warning: {sentences(problem.message, problem.hint)}")
    if not listing.kbs:
        raise NotFound(
            f"there is no knowledge base at {base}", "Make one with `seoga index FOLDER`."
        )
    return list(listing.kbs)


def config_file(named: Path) -> Path:
    """The file of `--config`: absolute; else below CLAUDE_PROJECT_DIR; else upwards from the
    working directory. Raises NotFound."""
    named = named.expanduser()
    if named.is_absolute():
        return named
    if (project := project_dir()) and (Path(project) / named).is_file():
        return Path(project) / named
    found = found_upwards(named, Path.cwd())
    if found is None:
        raise NotFound(
            f"there is no {named} here or in a folder above {Path.cwd()}",
            "Give --config a path from here, or an absolute one.",
        )
    return found


def reopened(base: Path, kb: Kb) -> Kb:
    """The same knowledge base as its file is now. Raises NotFound, ConfigError."""
    return load_kb(kb.folder) if kb.file is None else _opened(base, kb.file)


def _chosen(base: Path, path: Path | None, config: Path | None) -> Kb | None:
    if config is not None:
        return _opened(base, config_file(config))
    if path is not None:
        return _of_path(base, path.expanduser())
    found = found_upwards(FOUND, Path.cwd())
    return None if found is None else open_instance(found)


def _of_path(base: Path, path: Path) -> Kb:
    if path.is_file():
        return _opened(base, path)
    if not path.is_dir() and len(path.parts) == 1:
        return find_kb(base, str(path))
    for name in (Path(CONFIG), FOUND):
        if (path / name).is_file():
            return _opened(base, path / name)
    return load_kb(path)


def _opened(base: Path, file: Path) -> Kb:
    """Of the base path by its rules, from anywhere else as it is."""
    file = Path(os.path.abspath(file))
    folder = file.parent
    if file.name == CONFIG and os.path.realpath(folder.parent) == os.path.realpath(base):
        return load_kb(folder)
    return open_instance(file)


def _with_warnings(kb: Kb) -> Kb:
    for warning in kb.warnings:
        say(f"warning: {warning}")
    return kb
