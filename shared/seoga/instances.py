"""Project instances: knowledge bases that lie in a project (`.rag/config.json`) and are opened by
their file, whatever the folder is called (specification, section 2)."""

from __future__ import annotations

import os
from pathlib import Path

from seoga.errors import NotFound
from seoga.kb import CONFIG, DATABASE, Kb, read_labels
from seoga.kbconfig import parse_config

FOLDER = ".rag"
# What is looked for upwards from where a command is called.
FOUND = Path(FOLDER) / CONFIG
_OLD_FORM = ".json"


def open_instance(file: Path) -> Kb:
    """The knowledge base that a configuration file describes: called `serverName`, else `name`;
    indexed at `indexPath`, beside the file, else in `rag.db`. Raises NotFound, ConfigError."""
    file = Path(os.path.abspath(file))
    if not file.exists() or file.is_dir():
        raise NotFound(f"there is no configuration {file}", "Check --config.")
    config, warnings = parse_config(file)
    folder = file.parent
    project = folder.parent if folder.name == FOLDER else folder
    kb_id = config.server_name or config.name or config.id or project.name or FOLDER
    index = Path(os.path.normpath(folder / Path(config.index_path or DATABASE).expanduser()))
    if index.suffix == _OLD_FORM:
        index = index.with_suffix(".db")
    if not config.name:
        config = config.model_copy(update={"name": kb_id})
    return Kb(kb_id, folder, config, warnings, read_labels(folder), index, file)


def found_upwards(name: Path, start: Path) -> Path | None:
    """The file `name` in `start`, or in the nearest folder above that has it."""
    for folder in (start, *start.parents):
        if (folder / name).is_file():
            return folder / name
    return None


def old_index(kb: Kb) -> Path | None:
    """The JSON index that an older product left where this one would lie, if there is one."""
    old = kb.db_path.with_suffix(_OLD_FORM)
    return old if kb.index is not None and old.name == "index.json" and old.is_file() else None
