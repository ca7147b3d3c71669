"""What tests of sources share: repositories written with git, and ways to look at a source."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest

from seoga.models import Item, Source
from seoga_indexer.source import Means, Problem, connector_for

# The servers that tests speak to are modules beside this one.
sys.path.insert(0, str(Path(__file__).parent))

Listed = Callable[..., tuple[dict[str, str], dict[str, str]]]
Contents = Callable[..., dict[str, bytes]]

CLEAN = {
    "PATH": os.environ["PATH"],
    "HOME": "/nonexistent",
    "GIT_CONFIG_NOSYSTEM": "1",
    "GIT_CONFIG_GLOBAL": os.devnull,
    "GIT_AUTHOR_NAME": "a",
    "GIT_AUTHOR_EMAIL": "a@example.org",
    "GIT_COMMITTER_NAME": "c",
    "GIT_COMMITTER_EMAIL": "c@example.org",
}


class Repo:
    """A repository that a test writes with plain git."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        folder.mkdir(parents=True, exist_ok=True)
        self.git("init", "-q", "-b", "main")

    def git(self, *command: str, **environment: str) -> str:
        done = subprocess.run(
            ["git", "-c", "protocol.file.allow=always", *command],
            cwd=self.folder,
            env=CLEAN | environment,
            capture_output=True,
            check=True,
        )
        return done.stdout.decode().strip()

    def write(self, path: str, text: str | bytes) -> None:
        target = self.folder / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(text if isinstance(text, bytes) else text.encode())

    def commit(self, date: str = "2024-01-01T00:00:00Z", **files: str | bytes) -> str:
        for path, text in files.items():
            self.write(path, text)
        self.git("add", "-A")
        dates = {"GIT_AUTHOR_DATE": date, "GIT_COMMITTER_DATE": date}
        self.git("commit", "-q", "--allow-empty", "-m", "change", **dates)
        return self.git("rev-parse", "HEAD")


@pytest.fixture
def new_repo() -> type[Repo]:
    """Makes an empty repository in a folder."""
    return Repo


@pytest.fixture
def repo(tmp_path: Path) -> Repo:
    return Repo(tmp_path / "repo")


@pytest.fixture
def means(tmp_path: Path) -> Means:
    keys = {"Forge": "s3cret-key"}
    return Means(
        tmp_path / "cache", lambda preset: keys.get(preset, ""), lambda: dict(os.environ), 1 << 20
    )


@pytest.fixture
def listed(means: Means) -> Listed:
    """Versions of the items and details of the problems of a source, by path."""

    def look(one: Source, lent: Means | None = None) -> tuple[dict[str, str], dict[str, str]]:
        with closing(connector_for(one, lent or means)) as connector:
            entries = list(connector.items())
        items = [entry for entry in entries if isinstance(entry, Item)]
        assert [item.path for item in items] == sorted(item.path for item in items)
        problems = {entry.path: entry.detail for entry in entries if isinstance(entry, Problem)}
        return {item.path: item.version for item in items}, problems

    return look


@pytest.fixture
def contents(means: Means) -> Contents:
    """The bytes of the items of a source, by path."""

    def look(one: Source, lent: Means | None = None) -> dict[str, bytes]:
        found = {}
        with closing(connector_for(one, lent or means)) as connector:
            for item in connector.items():
                if isinstance(item, Item):
                    with connector.open(item) as local:
                        found[item.path] = local.read_bytes()
        return found

    return look
