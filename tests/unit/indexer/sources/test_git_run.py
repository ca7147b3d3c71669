"""A git source in whole runs: what did not change is not read, renames move, nothing is lost."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest


@pytest.fixture
def repo(place: Any, tmp_path: Path) -> Path:
    """An empty repository, the only source of the KB."""
    folder = tmp_path / "repo"
    folder.mkdir()
    git(folder, "init", "-q", "-b", "main")
    configure(place, {"type": "git", "label": "code", "path": str(folder)})
    return folder


def configure(place: Any, *sources: dict[str, Any]) -> None:
    config = {"id": "kb", "sources": sources, "embedding": {"provider": ""}}
    (place.base / "kb" / "config.json").write_text(json.dumps(config))


def git(folder: Path, *command: str) -> None:
    identity = ("-c", "user.name=a", "-c", "user.email=a@example.org")
    clean = {"PATH": os.environ["PATH"], "GIT_CONFIG_GLOBAL": os.devnull}
    subprocess.run(["git", *identity, *command], cwd=folder, env=clean, check=True)


def commit(folder: Path, **files: str | None) -> None:
    for path, text in files.items():
        if text is None:
            (folder / path).unlink()
        else:
            (folder / path).write_text(text, encoding="utf-8")
    git(folder, "add", "-A")
    git(folder, "commit", "-q", "-m", "change")


def test_only_what_changed_is_read_again(place: Any, repo: Path) -> None:
    commit(repo, **{"a.md": "alpha", "b.md": "beta"})
    assert place.run().indexed == 2
    assert place.run().skipped == 2
    assert place.extraction.reads == []
    commit(repo, **{"b.md": "gamma", "c.md": "delta"})
    report = place.engine.check_changes("kb")
    assert (report.added, report.modified) == (("code/c.md",), ("code/b.md",))
    assert (place.run().indexed, sorted(place.extraction.reads)) == (2, ["b.md", "c.md"])
    assert place.found("gamma") == ["b.md"]
    assert place.found("beta") == []
    assert place.engine.check_changes("kb").is_clean


def test_a_rename_moves_and_a_deletion_removes(place: Any, repo: Path) -> None:
    commit(repo, **{"a.md": "alpha", "b.md": "beta"})
    place.run()
    (repo / "a.md").rename(repo / "z.md")
    commit(repo, **{"b.md": None})
    assert place.run().removed == 1
    assert place.extraction.reads == []
    assert place.found("alpha") == ["z.md"]
    assert place.found("beta") == []


def test_a_repository_that_is_gone_loses_nothing(place: Any, repo: Path) -> None:
    commit(repo, **{"a.md": "alpha"})
    place.run()
    shutil.move(repo, repo.with_name("elsewhere"))
    result = place.run()
    assert result.removed == 0
    assert "Source code" in result.warnings[0]
    assert place.found("alpha") == ["a.md"]
    repo.mkdir()
    assert place.run(accept_deletions=True).removed == 0
    assert place.found("alpha") == ["a.md"]


def test_a_folder_that_becomes_a_git_source_is_not_read_again(place: Any, repo: Path) -> None:
    commit(repo, **{"a.md": "alpha"})
    configure(place, {"label": "code", "path": str(repo)})
    place.run()
    configure(place, {"type": "git", "label": "code", "path": str(repo)})
    place.run()
    assert place.extraction.reads == []
    assert place.states() == {"a.md": "Ready"}


def test_a_pointer_of_lfs_waits_for_a_person_and_is_taken_when_it_is_there(
    place: Any, repo: Path
) -> None:
    name = "ab" * 32
    pointer = f"version https://git-lfs.github.com/spec/v1\noid sha256:{name}\nsize 3\n"
    commit(repo, **{"big.md": pointer})
    place.run()
    assert place.states() == {"big.md": "NeedsAction unreadable"}
    stored = repo / ".git" / "lfs" / "objects" / "ab" / "ab" / name
    stored.parent.mkdir(parents=True)
    stored.write_text("the real text")
    place.run()
    assert place.states() == {"big.md": "Ready"}
    assert place.found("real") == ["big.md"]
