"""The tree of a commit: files with their blob ids; links, submodules and bad names are said."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from seoga.errors import Reason
from seoga.models import Item
from seoga_indexer.source import Problem
from seoga_indexer.sources._rules import stored_name
from seoga_indexer.sources.git.command import Git

_LINK, _SUBMODULE = b"120000", b"160000"
# What git keeps for itself.
_OWN = frozenset((".gitignore", ".gitattributes", ".gitmodules", ".gitkeep", ".mailmap"))


@dataclass(frozen=True, slots=True)
class Tree:
    """What is listed: the commit (a hex id), and the folder in it, "" or with a final slash."""

    commit: str
    prefix: str = ""


def entries(git: Git, folder: Path, tree: Tree, label: str) -> Iterator[Item | Problem]:
    """Every entry in the order of git, the version of an item being its blob id.

    Raises GitFailed when the listing ends early.
    """
    where = f"{tree.commit}:{tree.prefix}" if tree.prefix else tree.commit
    for record in git.records(folder, "ls-tree", "-r", "-l", "-z", "--full-tree", where):
        # `<mode> <type> <id> <size>\t<path>`
        head, _, raw = record.partition(b"\t")
        mode, _, blob, size = head.split()
        path = name_of(raw)
        if problem := _problem(mode, path):
            yield problem
        elif PurePosixPath(path).name not in _OWN:
            known = size.isdigit()
            yield Item(label, path, int(size) if known else 0, 0, blob.decode("ascii"))


def _problem(mode: bytes, path: str) -> Problem | None:
    if not all(part and part not in (".", "..") for part in path.split("/")):
        return Problem(path, Reason.CORRUPT, "a name that no file can have", keep=False)
    if mode == _SUBMODULE:
        detail = "a submodule: add its repository as a source of its own"
    elif mode == _LINK:
        detail = "a link: what it points to is read where it stands, if that is in the repository"
    else:
        return None
    return Problem(path, Reason.UNSUPPORTED, detail, keep=False)


def name_of(raw: bytes) -> str:
    """A path of git as it is stored."""
    return stored_name(os.fsdecode(raw))
