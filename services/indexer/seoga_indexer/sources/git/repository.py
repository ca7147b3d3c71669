"""One commit of a repository, ready to be read; and how that is found in a local checkout."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from seoga.models import Source
from seoga.text.normal import nfc
from seoga_indexer.source import Means, SourceUnavailable
from seoga_indexer.sources._login import Login
from seoga_indexer.sources.git.blobs import Blobs
from seoga_indexer.sources.git.command import Git, GitFailed
from seoga_indexer.sources.git.dates import Dates
from seoga_indexer.sources.git.tree import Tree

_BRANCHES = ("refs/heads/{}", "refs/remotes/origin/{}", "refs/tags/{}")


@dataclass(frozen=True, slots=True)
class Repository:
    """`folder` is where git is run, `common` the folder with its objects."""

    git: Git
    folder: Path
    common: Path
    tree: Tree
    blobs: Blobs
    dates: Dates

    def close(self) -> None:
        """Ends its processes."""
        self.git.close()
        self.blobs.close()
        self.dates.close()


def repository(git: Git, folder: Path, common: Path, tree: Tree) -> Repository:
    """The repository at one commit."""
    blobs = Blobs(git, folder)
    dates = Dates(git, folder, tree.commit, nfc(tree.prefix))
    return Repository(git, folder, common, tree, blobs, dates)


def checkout(source: Source, means: Means) -> Repository:
    """The repository around `source.path`: a checkout, a folder in one, a worktree, a submodule or
    a bare repository. Raises SourceUnavailable."""
    folder = Path(source.path)
    if not folder.is_dir():
        raise SourceUnavailable(
            f"the folder {folder} cannot be read", "is the disk or network share mounted?"
        )
    git = Git(means, Login(source.label))
    try:
        lines = git.text(folder, "rev-parse", "--show-prefix", "--git-common-dir").split("\n")
    except GitFailed as error:
        raise SourceUnavailable(
            f"{folder} cannot be read as a git repository: {error}",
            "Give the folder of a checkout or of a bare repository.",
        ) from error
    prefix, common = lines[0], folder / lines[-1]
    commit = _commit(git, source)
    if prefix:
        _refuse_unknown(git, source, commit, prefix)
    return repository(git, folder, common, Tree(commit, prefix))


def _refuse_unknown(git: Git, source: Source, commit: str, prefix: str) -> None:
    """Raises SourceUnavailable for a folder that the commit has not: it was removed, or renamed."""
    try:
        kind = git.text(Path(source.path), "cat-file", "-t", f"{commit}:{prefix.rstrip('/')}")
    except GitFailed:
        kind = ""
    if kind != "tree":
        at = str(source.options.get("branch", "")) or "its last commit"
        raise SourceUnavailable(
            f"{source.path} is no folder of {at}",
            "Was it renamed or removed there? Name the folder that it is now.",
        )


def _commit(git: Git, source: Source) -> str:
    branch = str(source.options.get("branch", ""))
    for name in [form.format(branch) for form in _BRANCHES] if branch else ["HEAD"]:
        try:
            return git.text(
                Path(source.path), "rev-parse", "--verify", "--quiet", f"{name}^{{commit}}"
            )
        except GitFailed:
            continue
    what = f"no branch or tag {branch!r}" if branch else "no commit yet"
    raise SourceUnavailable(f"{source.path} has {what}", "Check `branch` in the config.")
