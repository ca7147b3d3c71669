"""A URL as a bare repository in the cache: fetched, never checked out."""

from __future__ import annotations

import re
import shutil
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from hashlib import sha256

from seoga_indexer.source import Means, SourceUnavailable
from seoga_indexer.sources._login import Login
from seoga_indexer.sources.git.command import Git, GitFailed
from seoga_indexer.sources.git.repository import Repository, repository
from seoga_indexer.sources.git.tree import Tree

_PROTOCOLS = "http:https:ssh:git:file"
# As a checkout is looked at (see `repository`).
_NAMED = ("refs/heads/{}", "refs/tags/{}")
_NO_REF = "couldn't find remote ref"
_FETCH_S = 3600.0
_LOCK_LOOK_S = 0.2
_REFUSED = re.compile(
    r"authentication failed|could not read (?:username|password)|permission denied|error: 40[13]"
    r"|invalid credentials|access denied|repository not found|terminal prompts disabled",
    re.IGNORECASE,
)
_BROKEN = re.compile(r"bad object|corrupt|missing (?:blob|tree|commit)|unable to read|not a git")


class Clone:
    """The clone of one URL; processes and sources that share it take turns."""

    def __init__(self, url: str, means: Means, login: Login) -> None:
        self.url, self._means, self._login = url, means, login
        self._git = Git(means, login, _PROTOCOLS, url)
        self.folder = means.cache / "git" / f"{sha256(url.encode()).hexdigest()[:32]}.git"
        self._stop = threading.Event()

    def repository(self, branch: str) -> Repository:
        """The repository at what the branch is now. Raises SourceUnavailable."""
        commit = self.fetched(branch)
        # From here on everything is local: this one can ask no server any more.
        git = Git(self._means, Login(self._login.label))
        return repository(git, self.folder, self.folder, Tree(commit))

    def fetched(self, branch: str) -> str:
        """The commit (a hex id) that the branch has now; "" is the branch that the server names.

        Raises SourceUnavailable: refused, no such branch, no answer.
        """
        name = sha256(branch.encode()).hexdigest()[:16] if branch else "head"
        ref = f"refs/seoga/{name}"
        asked = [form.format(branch) for form in _NAMED] if branch else ["HEAD"]
        with self._turn():
            try:
                return self._fetch(asked, ref)
            except GitFailed as error:
                if not _BROKEN.search(str(error)):
                    raise self._unavailable(error, branch) from error
            # A cache that was damaged is made anew.
            shutil.rmtree(self.folder, ignore_errors=True)
            try:
                return self._fetch(asked, ref)
            except GitFailed as error:
                raise self._unavailable(error, branch) from error

    def _fetch(self, asked: Sequence[str], ref: str) -> str:
        """The commit of the first of these that the server has. Raises GitFailed."""
        if not (self.folder / "HEAD").is_file():
            self.folder.mkdir(parents=True, exist_ok=True)
            self._git.text(self.folder, "init", "--bare", "--quiet", "--template=", ".")
        for name in asked:
            try:
                self._git.text(
                    self.folder, "fetch", "--quiet", "--no-tags", "--no-recurse-submodules",
                    "--force", "--no-write-fetch-head", "--", self.url, f"+{name}:{ref}",
                    timeout=_FETCH_S,
                )  # fmt: skip
                break
            except GitFailed as error:
                if name == asked[-1] or _NO_REF not in str(error).lower():
                    raise
        return self._git.text(self.folder, "rev-parse", "--verify", f"{ref}^{{commit}}")

    def _unavailable(self, error: GitFailed, branch: str) -> SourceUnavailable:
        said = str(error)
        if _REFUSED.search(said):
            return self._login.refused(self.url, said)
        if _NO_REF in said.lower():
            name = f"no branch or tag {branch!r}" if branch else "no commit yet"
            return SourceUnavailable(f"{self.url} has {name}", "Check `branch` in the config.")
        return SourceUnavailable(
            f"{self.url} cannot be fetched: {said}", "Is the address right, and does it answer?"
        )

    @contextmanager
    def _turn(self) -> Iterator[None]:
        import fcntl

        self.folder.parent.mkdir(parents=True, exist_ok=True)
        with self.folder.with_suffix(".lock").open("w") as lock:
            deadline = time.monotonic() + _FETCH_S
            while not _taken(lock.fileno()):
                if self._stop.wait(_LOCK_LOOK_S) or time.monotonic() > deadline:
                    raise SourceUnavailable(f"{self.url} is being fetched by another process")
            try:
                yield
            finally:
                fcntl.flock(lock, fcntl.LOCK_UN)

    def close(self) -> None:
        """Ends a fetch, and waiting for one."""
        self._stop.set()
        self._git.close()


def _taken(file: int) -> bool:
    import fcntl

    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True
