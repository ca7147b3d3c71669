"""The folder source lists what is there, in order, and goes on past what it cannot read."""

from __future__ import annotations

import os
import unicodedata
from pathlib import Path

import pytest

from seoga.errors import ConfigError, Reason
from seoga.models import Item, Source
from seoga_indexer.source import Problem, SourceUnavailable, connector_for


def write(root: Path, *paths: str, text: str = "x") -> None:
    for path in paths:
        target = root / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(text, encoding="utf-8")


def listing(root: Path, **kwargs: tuple[str, ...]) -> list[Item | Problem]:
    return list(connector_for(Source("folder", "docs", str(root), **kwargs)).items())


def paths(root: Path, **kwargs: tuple[str, ...]) -> list[str]:
    return [entry.path for entry in listing(root, **kwargs) if isinstance(entry, Item)]


def problems(root: Path) -> list[Problem]:
    return [entry for entry in listing(root) if isinstance(entry, Problem)]


def test_files_come_in_the_order_of_their_whole_paths(tmp_path: Path) -> None:
    write(tmp_path, "b.md", "a/z.md", "a b/c.md", "a.md", "a-1/x.md", "가/나.md", "Z.md")
    assert paths(tmp_path) == sorted(paths(tmp_path))
    assert len(paths(tmp_path)) == 7


def test_a_file_has_its_size_time_and_place(tmp_path: Path) -> None:
    write(tmp_path, "sub/one.md", text="hello")
    (item,) = listing(tmp_path)
    assert isinstance(item, Item)
    assert item.label == "docs"
    assert item.size == 5
    assert item.mtime_ns == (tmp_path / "sub/one.md").stat().st_mtime_ns
    assert item.local
    assert Path(item.local).read_text() == "hello"


def test_decomposed_names_are_listed_composed_and_still_open(tmp_path: Path) -> None:
    write(tmp_path, unicodedata.normalize("NFD", "한글 문서/보고서.md"), text="본문")
    (item,) = listing(tmp_path)
    assert isinstance(item, Item)
    assert item.path == "한글 문서/보고서.md"
    assert item.local
    assert Path(item.local).read_text(encoding="utf-8") == "본문"


def test_two_unicode_forms_of_one_name_are_one_item_and_one_problem(tmp_path: Path) -> None:
    for form in ("NFC", "NFD"):
        write(tmp_path, unicodedata.normalize(form, "각.md"))
    assert paths(tmp_path) == ["각.md"]
    assert [problem.path for problem in problems(tmp_path)] == ["각.md"]


def test_a_name_in_cp949_is_readable(tmp_path: Path) -> None:
    name = os.fsdecode("보고서.txt".encode("cp949"))
    (tmp_path / name).write_text("x")
    assert paths(tmp_path) == ["보고서.txt"]


def test_names_that_differ_in_case_or_spaces_stay_apart(tmp_path: Path) -> None:
    write(tmp_path, "README.md", "readme.md", "a b.md", "a_b.md")
    assert len(paths(tmp_path)) == 4


def test_hidden_temporary_and_lock_files_are_no_documents(tmp_path: Path) -> None:
    write(
        tmp_path, "a.md", ".hidden.md", ".git/config", "~$report.docx", "x.tmp", "y.part",
        "z.crdownload", "poetry.lock", "Thumbs.db", "node_modules/m/readme.md", ".~lock.a.odt#",
    )  # fmt: skip
    assert paths(tmp_path) == ["a.md"]


def test_include_and_exclude_are_gitignore_patterns(tmp_path: Path) -> None:
    write(tmp_path, "a.md", "b.txt", "old/c.md", "new/d.md", "new/e.py")
    assert paths(tmp_path, include=("*.md",), exclude=("old/",)) == ["a.md", "new/d.md"]
    assert paths(tmp_path, include=("**/*.py", "/b.txt")) == ["b.txt", "new/e.py"]


def test_seogaignore_holds_below_its_own_folder(tmp_path: Path) -> None:
    write(tmp_path, "a.log", "b.md", "sub/a.log", "sub/draft/x.md", "sub/keep.md", "draft/y.md")
    write(tmp_path, "sub/.seogaignore", text="# logs\n*.log\ndraft/\n")
    assert paths(tmp_path) == ["a.log", "b.md", "draft/y.md", "sub/keep.md"]


def test_decomposed_lines_of_seogaignore_match_composed_names(tmp_path: Path) -> None:
    write(tmp_path, "초안/a.md", "b.md")
    write(tmp_path, ".seogaignore", text=unicodedata.normalize("NFD", "초안/"))
    assert paths(tmp_path) == ["b.md"]


def test_a_link_out_of_the_root_is_not_followed(tmp_path: Path) -> None:
    root, outside = tmp_path / "root", tmp_path / "outside"
    write(outside, "secret.md", "deep/secret.md")
    write(root, "a.md")
    (root / "file.md").symlink_to(outside / "secret.md")
    (root / "folder").symlink_to(outside)
    assert paths(root) == ["a.md"]
    assert {problem.path for problem in problems(root)} == {"file.md", "folder"}


def test_a_link_inside_the_root_is_followed(tmp_path: Path) -> None:
    write(tmp_path, "real/a.md")
    (tmp_path / "alias.md").symlink_to("real/a.md")
    (tmp_path / "view").symlink_to("real")
    assert paths(tmp_path) == ["alias.md", "real/a.md", "view/a.md"]


def test_a_loop_of_links_is_a_problem_and_the_scan_goes_on(tmp_path: Path) -> None:
    write(tmp_path, "a/one.md", "b/two.md", "z.md")
    (tmp_path / "a/up").symlink_to("..")
    (tmp_path / "self").symlink_to("self")
    assert paths(tmp_path) == ["a/one.md", "b/two.md", "z.md"]
    found = problems(tmp_path)
    assert [(one.path, one.reason, one.keep) for one in found] == [
        ("a/up", Reason.UNSUPPORTED, False),
        ("self", Reason.UNSUPPORTED, False),
    ]
    assert "leads to itself" in found[1].detail


def test_folders_that_link_to_one_another_end(tmp_path: Path) -> None:
    for index in range(6):
        write(tmp_path, f"d{index}/f.md")
    for index in range(6):
        for other in range(6):
            (tmp_path / f"d{index}/l{other}").symlink_to(f"../d{other}")
    assert len(paths(tmp_path)) <= 12


def test_a_broken_link_is_a_problem(tmp_path: Path) -> None:
    write(tmp_path, "a.md")
    (tmp_path / "gone.md").symlink_to("nowhere.md")
    assert paths(tmp_path) == ["a.md"]
    assert [problem.reason for problem in problems(tmp_path)] == [Reason.VANISHED]


def test_an_unreadable_folder_is_a_problem_of_its_whole_subtree(tmp_path: Path) -> None:
    if os.geteuid() == 0:
        pytest.skip("root reads every folder")
    write(tmp_path, "a.md", "shut/b.md", "z.md")
    (tmp_path / "shut").chmod(0)
    try:
        assert paths(tmp_path) == ["a.md", "z.md"]
        (problem,) = problems(tmp_path)
    finally:
        (tmp_path / "shut").chmod(0o755)
    assert (problem.path, problem.reason, problem.subtree) == ("shut", Reason.UNREADABLE, True)


def test_a_folder_that_vanishes_during_the_scan_is_a_problem_of_its_subtree(tmp_path: Path) -> None:
    write(tmp_path, "a.md", "b/c.md", "z.md")
    found = connector_for(Source("folder", "docs", str(tmp_path))).items()
    first = next(found)
    (tmp_path / "b/c.md").unlink()
    (tmp_path / "b").rmdir()
    rest = list(found)
    assert first.path == "a.md"
    assert [entry.path for entry in rest] == ["b", "z.md"]
    assert isinstance(rest[0], Problem)


def test_a_missing_root_is_said(tmp_path: Path) -> None:
    with pytest.raises(SourceUnavailable, match="cannot be read"):
        listing(tmp_path / "nowhere")


def test_a_root_that_is_a_file_is_said(tmp_path: Path) -> None:
    write(tmp_path, "a.md")
    with pytest.raises(SourceUnavailable, match="not a folder"):
        listing(tmp_path / "a.md")


def test_pipes_are_left_out(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    write(tmp_path, "a.md")
    assert paths(tmp_path) == ["a.md"]


def test_an_unknown_type_names_the_known_ones() -> None:
    with pytest.raises(ConfigError) as caught:
        connector_for(Source("ftp", "x"))
    assert "folder" in caught.value.hint


def test_a_bad_line_of_an_ignore_file_is_told_and_the_others_hold(tmp_path: Path) -> None:
    (tmp_path / ".seogaignore").write_text("!\n*.log\na\\\n", encoding="utf-8")
    (tmp_path / "a.log").write_text("x", encoding="utf-8")
    (tmp_path / "b.md").write_text("x", encoding="utf-8")
    found = list(connector_for(Source("folder", "s", str(tmp_path))).items())
    assert [one.path for one in found if isinstance(one, Item)] == ["b.md"]
    problems = [one for one in found if isinstance(one, Problem)]
    assert problems
    assert all("is no pattern" in one.detail for one in problems)


def test_a_pipe_with_the_name_of_the_ignore_file_blocks_nothing(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / ".seogaignore")
    (tmp_path / "b.md").write_text("x", encoding="utf-8")
    found = list(connector_for(Source("folder", "s", str(tmp_path))).items())
    assert [one.path for one in found if isinstance(one, Item)] == ["b.md"]


def test_a_root_that_vanishes_while_it_is_read_is_told(tmp_path: Path) -> None:
    root = tmp_path / "docs"
    root.mkdir()
    (root / "a.md").write_text("x", encoding="utf-8")
    listing = connector_for(Source("folder", "s", str(root))).items()
    assert isinstance(next(listing), Item)
    root.rename(tmp_path / "elsewhere")
    with pytest.raises(SourceUnavailable, match="vanished"):
        list(listing)
