"""The git source: what is tracked at a branch, by blob id; nothing of a repository is ever run."""

from __future__ import annotations

import os
import unicodedata
from contextlib import closing
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest

from seoga.errors import ExtractionFailed, Reason
from seoga.models import Item, Source
from seoga_indexer.source import Connector, Means, SourceUnavailable, connector_for


def source(path: Path | str = "", **options: Any) -> Source:
    filters = {key: tuple(options.pop(key)) for key in ("include", "exclude") if key in options}
    return Source("git", "code", str(path), options=options, **filters)


def read(connector: Connector, item: Any) -> bytes:
    with connector.open(item) as local:
        return local.read_bytes()


def test_tracked_files_are_listed_with_their_blob_ids_and_read_from_the_objects(
    repo: Any, means: Means, listed: Any, contents: Any
) -> None:
    repo.commit(**{"README.md": "hello", "src/a.py": "print(1)\r\n"})
    repo.write("README.md", "not committed")
    repo.write("untracked.md", "x")
    files, problems = listed(source(repo.folder))
    assert files == {
        "README.md": repo.git("rev-parse", "HEAD:README.md"),
        "src/a.py": repo.git("rev-parse", "HEAD:src/a.py"),
    }
    assert problems == {}
    assert contents(source(repo.folder)) == {
        "README.md": b"hello",
        "src/a.py": b"print(1)\r\n",
    }
    assert list((means.cache / "items").iterdir()) == []


def test_the_date_of_a_file_is_that_of_the_commit_that_changed_it(repo: Any, means: Means) -> None:
    repo.commit("2020-01-01T00:00:00Z", **{"old.md": "1", "new.md": "1"})
    repo.commit("2021-06-01T00:00:00Z", **{"new.md": "2"})
    repo.git("checkout", "-q", "-b", "side")
    repo.commit("2022-01-01T00:00:00Z", **{"side.md": "1"})
    repo.git("checkout", "-q", "main")
    dates = {
        "GIT_AUTHOR_DATE": "2023-01-01T00:00:00Z",
        "GIT_COMMITTER_DATE": "2023-01-01T00:00:00Z",
    }
    repo.git("merge", "-q", "--no-ff", "-m", "merge", "side", **dates)
    with closing(connector_for(source(repo.folder), means)) as connector:
        found = {
            entry.path: connector.refresh(entry).mtime_ns // 1_000_000_000
            for entry in connector.items()
            if isinstance(entry, Item)
        }
    assert found == {"old.md": 1577836800, "new.md": 1622505600, "side.md": 1672531200}


def test_a_branch_is_read_whatever_is_checked_out(repo: Any, listed: Any, contents: Any) -> None:
    repo.commit(**{"a.md": "main"})
    repo.git("checkout", "-q", "-b", "feature/한글")
    repo.commit(**{"a.md": "feature", "b.md": "b"})
    repo.git("checkout", "-q", "main")
    assert contents(source(repo.folder)) == {"a.md": b"main"}
    found = contents(source(repo.folder, branch="feature/한글"))
    assert found == {"a.md": b"feature", "b.md": b"b"}
    with pytest.raises(SourceUnavailable, match="has no branch or tag 'nope'"):
        listed(source(repo.folder, branch="nope"))


def test_a_folder_of_a_checkout_gives_what_is_below_it(
    repo: Any, means: Means, contents: Any
) -> None:
    repo.commit("2020-01-01T00:00:00Z", **{"docs/설명/a.md": "a", "b.md": "b"})
    repo.commit("2021-01-01T00:00:00Z", **{"b.md": "b2"})
    below = source(repo.folder / "docs" / "설명")
    assert contents(below) == {"a.md": b"a"}
    with closing(connector_for(below, means)) as connector:
        (item,) = connector.items()
        assert isinstance(item, Item)
        assert connector.refresh(item).mtime_ns == 1577836800 * 10**9


def test_a_tag_can_be_named_where_a_branch_can(repo: Any, contents: Any) -> None:
    repo.commit(**{"a.md": "tagged"})
    repo.git("tag", "-a", "v1", "-m", "one")
    repo.commit(**{"a.md": "later"})
    for where in ({"path": str(repo.folder)}, {"url": f"file://{repo.folder}"}):
        path = where.pop("path", "")
        one = Source("git", "g", path, options=where | {"branch": "v1"})
        assert contents(one) == {"a.md": b"tagged"}


def test_a_folder_that_the_commit_has_no_more_is_said_as_that(repo: Any, listed: Any) -> None:
    repo.commit(**{"old/a.md": "a", "b.md": "b"})
    assert list(listed(source(repo.folder / "old"))[0]) == ["a.md"]
    repo.git("rm", "-rq", "old")
    repo.commit()
    (repo.folder / "old").mkdir(exist_ok=True)
    with pytest.raises(SourceUnavailable, match="is no folder of its last commit") as caught:
        listed(source(repo.folder / "old"))
    assert "renamed or removed" in caught.value.hint


def test_bare_repositories_worktrees_and_submodules_can_be_a_source(
    repo: Any, tmp_path: Path, listed: Any, contents: Any, new_repo: Any
) -> None:
    repo.commit(**{"a.md": "a"})
    bare, tree = tmp_path / "bare.git", tmp_path / "tree"
    repo.git("clone", "-q", "--bare", ".", str(bare))
    repo.git("worktree", "add", "-q", str(tree), "-b", "other")
    outer = new_repo(tmp_path / "outer")
    outer.commit(**{"o.md": "o"})
    outer.git("submodule", "--quiet", "add", str(bare), "inner")
    outer.commit()
    for place in (bare, tree, outer.folder / "inner"):
        assert contents(source(place)) == {"a.md": b"a"}
    files, problems = listed(source(outer.folder))
    assert list(files) == ["o.md"]
    assert problems == {"inner": "a submodule: add its repository as a source of its own"}


def test_links_are_said_and_never_followed(repo: Any, listed: Any) -> None:
    repo.commit(**{"a.md": "a"})
    (repo.folder / "out").symlink_to("/etc/passwd")
    (repo.folder / "in.md").symlink_to("a.md")
    repo.commit()
    files, problems = listed(source(repo.folder))
    assert list(files) == ["a.md"]
    assert set(problems) == {"out", "in.md"}
    assert all(detail.startswith("a link") for detail in problems.values())


def test_include_exclude_ignore_files_and_lock_files(repo: Any, listed: Any) -> None:
    names = ("a.md", "b.txt", "docs/c.md", "docs/draft/d.md", "poetry.lock", ".github/e.md")
    repo.commit(**dict.fromkeys(names, "x"), **{".gitignore": "x", "docs/.seogaignore": "draft/\n"})
    assert list(listed(source(repo.folder))[0]) == [
        ".github/e.md", "a.md", "b.txt", "docs/c.md",
    ]  # fmt: skip
    only = source(repo.folder, include=["*.md"], exclude=["docs/"])
    assert list(listed(only)[0]) == [".github/e.md", "a.md"]


def test_names_that_are_decomposed_or_not_utf8_are_stored_as_a_folder_would(
    repo: Any, contents: Any
) -> None:
    decomposed = unicodedata.normalize("NFD", "보고서.md")
    repo.commit(**{decomposed: "nfd", "b.md": "b"})
    (repo.folder / os.fsdecode("회의.md".encode("cp949"))).write_bytes(b"cp949")
    repo.commit()
    assert contents(source(repo.folder)) == {
        "보고서.md": b"nfd",
        "회의.md": b"cp949",
        "b.md": b"b",
    }


def test_two_forms_of_one_name_are_one_item_and_a_problem(repo: Any, listed: Any) -> None:
    for form in ("NFC", "NFD"):
        repo.write(unicodedata.normalize(form, "가.md"), form)
    repo.commit()
    files, problems = listed(source(repo.folder))
    assert list(files) == list(problems) == ["가.md"]
    assert "another Unicode form" in problems["가.md"]


def test_a_pointer_of_lfs_is_read_from_the_store_of_the_checkout_or_said(
    repo: Any, means: Means
) -> None:
    name = sha256(b"big").hexdigest()
    pointer = f"version https://git-lfs.github.com/spec/v1\noid sha256:{name}\nsize 3\n"
    repo.commit(**{"big.bin": pointer})
    with closing(connector_for(source(repo.folder), means)) as connector:
        (item,) = connector.items()
        with pytest.raises(OSError, match="git lfs pull"):
            read(connector, item)
        stored = repo.folder / ".git" / "lfs" / "objects" / name[:2] / name[2:4] / name
        stored.parent.mkdir(parents=True)
        stored.write_bytes(b"big")
        assert read(connector, item) == b"big"
        stored.write_bytes(bytes((1 << 20) + 1))
        with pytest.raises(ExtractionFailed) as caught:
            read(connector, item)
        assert caught.value.reason is Reason.TOO_LARGE
        stored.unlink()
        stored.symlink_to("/etc/passwd")
        with pytest.raises(OSError, match="git lfs pull"):
            read(connector, item)


def test_a_large_blob_is_known_by_its_size_before_it_is_read(repo: Any, means: Means) -> None:
    repo.commit(**{"large.bin": bytes(3 << 20)})
    with closing(connector_for(source(repo.folder), means)) as connector:
        (item,) = connector.items()
        assert isinstance(item, Item)
        assert item.size == 3 << 20
        assert len(read(connector, item)) == 3 << 20


def test_a_hostile_repository_runs_nothing(
    repo: Any, means: Means, tmp_path: Path, contents: Any
) -> None:
    trap = tmp_path / "trap"
    script = tmp_path / "script"
    script.write_text(f"#!/bin/sh\ntouch {trap}\n")
    script.chmod(0o755)
    repo.write(".gitattributes", "* filter=x diff=x")
    repo.commit(**{"a.md": "a"})
    for key in (
        "core.fsmonitor", "core.pager", "core.sshCommand", "core.gitProxy", "core.editor",
        "filter.x.smudge", "filter.x.process", "diff.x.textconv", "diff.x.command",
        "diff.external", "gpg.program", "alias.ls-tree", "pager.log", "pager.ls-tree",
        "credential.helper", "uploadpack.packObjectsHook", "core.askPass",
    ):  # fmt: skip
        repo.git("config", key, str(script))
    repo.git("config", "log.showSignature", "true")
    repo.git("config", "core.hooksPath", str(tmp_path))
    repo.git("config", "remote.origin.url", f"ext::{script}")
    repo.git("config", "remote.origin.uploadpack", str(script))
    repo.git("config", "remote.origin.promisor", "true")
    repo.git("config", "extensions.partialClone", "origin")
    for hook in ("post-checkout", "reference-transaction", "pre-auto-gc", "post-index-change"):
        (tmp_path / hook).write_bytes(script.read_bytes())
        (tmp_path / hook).chmod(0o755)
    with closing(connector_for(source(repo.folder), means)) as connector:
        (item,) = connector.items()
        assert isinstance(item, Item)
        assert read(connector, connector.refresh(item)) == b"a"
        # An object that a partial clone would fetch, with commands from that config.
        with pytest.raises(FileNotFoundError):
            read(connector, Item("code", "b.md", 0, 0, "0123456789" * 4))
    cloned = source(url=f"file://{repo.folder}", branch="main")
    assert contents(cloned) == {"a.md": b"a"}
    assert not trap.exists()


def test_a_branch_or_version_that_looks_like_an_option_is_only_a_name(
    repo: Any, means: Means, tmp_path: Path, listed: Any
) -> None:
    repo.commit(**{"a.md": "a"})
    trap = tmp_path / "trap"
    option = f"--upload-pack=touch {trap};"
    for one in (source(repo.folder, branch=option), source(url=str(repo.folder), branch=option)):
        with pytest.raises(SourceUnavailable):
            listed(one)
    with (
        closing(connector_for(source(repo.folder), means)) as connector,
        pytest.raises(FileNotFoundError),
    ):
        read(connector, Item("code", "a.md", 1, 0, "HEAD:a.md"))
    with pytest.raises(SourceUnavailable):
        listed(source(url=f"ext::touch {trap}"))
    assert not trap.exists()


def test_what_is_no_repository_is_unavailable_and_says_why(
    tmp_path: Path, listed: Any, new_repo: Any
) -> None:
    with pytest.raises(SourceUnavailable, match="cannot be read") as caught:
        listed(source(tmp_path / "gone"))
    assert "mounted" in caught.value.hint
    (tmp_path / "plain").mkdir()
    with pytest.raises(SourceUnavailable, match="as a git repository"):
        listed(source(tmp_path / "plain"))
    with pytest.raises(SourceUnavailable, match="no commit yet"):
        listed(source(new_repo(tmp_path / "young").folder))


def test_a_damaged_tree_is_unavailable_and_never_a_shorter_listing(repo: Any, listed: Any) -> None:
    repo.commit(**{"a.md": "a", "b/c.md": "c", "d.md": "d"})
    tree = repo.git("rev-parse", "HEAD:b")
    (repo.folder / ".git" / "objects" / tree[:2] / tree[2:]).unlink()
    with pytest.raises(SourceUnavailable, match="cannot be listed"):
        listed(source(repo.folder))


def test_without_git_the_error_says_what_to_install(repo: Any, means: Means, listed: Any) -> None:
    repo.commit(**{"a.md": "a"})
    lacking = Means(means.cache, means.api_key, lambda: {"PATH": "/nonexistent"}, 1)
    with pytest.raises(SourceUnavailable, match="git is not installed") as caught:
        listed(source(repo.folder), lacking)
    assert "apt-get install git" in caught.value.hint


def test_variables_of_git_in_our_environment_change_nothing(
    repo: Any, means: Means, contents: Any
) -> None:
    repo.commit(**{"a.md": "a"})
    strange = {"PATH": os.environ["PATH"], "GIT_DIR": "/nonexistent", "GIT_TRACE": "1"}
    other = Means(means.cache, means.api_key, lambda: strange, 1 << 20)
    assert contents(source(repo.folder), other) == {"a.md": b"a"}
