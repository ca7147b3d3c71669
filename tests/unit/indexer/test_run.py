"""A run brings the index to what the sources hold, and does nothing twice."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

OLD = 1_600_000_000


def age(path: Path) -> None:
    """Makes a file older than the racy window."""
    os.utime(path, (OLD, OLD))


def test_a_first_run_makes_every_file_findable(place: Any) -> None:
    place.write("a.md", "첫째 문서는 사과를 말한다")
    place.write("sub/b.txt", "the second speaks of pears")
    result = place.run()
    assert (result.indexed, result.skipped, result.removed, result.chunks) == (2, 0, 0, 2)
    assert result.exit_code == 0
    assert place.states() == {"a.md": "Ready", "sub/b.txt": "Ready"}
    assert place.found("사과") == ["a.md"]
    place.check_whole()


def test_a_config_without_a_source_says_so_and_fails_while_the_index_holds_nothing(
    place: Any,
) -> None:
    place.configure(sourcePaths=[])
    result = place.run()
    assert "names no source" in " ".join(result.warnings)
    assert result.exit_code == 1
    place.configure()
    place.write("a.md", "apple")
    assert place.run().exit_code == 0
    assert place.found("apple") == ["a.md"]


def test_a_second_run_reads_nothing_and_skips_all(place: Any) -> None:
    age(place.write("a.md", "one"))
    age(place.write("b.md", "two"))
    place.run()
    before = place.content()
    result = place.run()
    assert (result.indexed, result.skipped) == (0, 2)
    assert place.extraction.reads == []
    assert place.content() == before
    assert result.exit_code == 0


def test_a_young_file_is_hashed_but_not_read_again(place: Any) -> None:
    place.write("a.md", "one")
    place.run()
    result = place.run()
    assert (result.indexed, result.skipped) == (0, 1)
    assert place.extraction.reads == []


def test_a_same_size_rewrite_with_the_same_time_is_seen(place: Any) -> None:
    path = place.write("a.md", "apple")
    stamp = path.stat()
    place.run()
    path.write_text("grape")
    os.utime(path, ns=(stamp.st_atime_ns, stamp.st_mtime_ns))
    result = place.run()
    assert result.indexed == 1
    assert place.found("grape") == ["a.md"]
    assert place.found("apple") == []


def test_a_new_time_with_the_same_content_only_touches_the_row(place: Any) -> None:
    path = place.write("a.md", "one")
    place.run()
    age(path)
    place.run()
    assert place.extraction.reads == []
    assert place.query("SELECT mtime_ns FROM files") == [(OLD * 10**9,)]


def test_an_edit_replaces_the_old_words(place: Any) -> None:
    place.write("a.md", "apple")
    place.run()
    place.write("a.md", "a much longer text about grapes")
    assert place.run().indexed == 1
    assert place.found("apple") == []
    assert place.query("SELECT count(*) FROM files") == [(1,)]
    place.check_whole()


def test_a_deleted_file_leaves_nothing_behind(place: Any) -> None:
    place.configure("hashing")
    place.write("a.md", "apple")
    place.write("b.md", "pear")
    place.run()
    (place.docs / "a.md").unlink()
    assert place.run().removed == 1
    assert place.found("apple") == []
    assert place.query("SELECT count(*) FROM vectors") == [(1,)]
    assert place.query("SELECT term FROM terms WHERE term = 'apple'") == []
    place.check_whole()


def test_the_last_file_can_go_when_that_is_accepted(place: Any) -> None:
    place.write("a.md", "apple")
    place.run()
    (place.docs / "a.md").unlink()
    refused = place.run()
    assert refused.removed == 0
    assert "empty" in refused.warnings[0]
    assert place.found("apple") == ["a.md"]
    assert place.run(accept_deletions=True).removed == 1
    assert place.content() == []


def test_a_missing_root_deletes_nothing_even_when_accepted(place: Any) -> None:
    place.write("a.md", "apple")
    place.run()
    place.docs.rename(place.docs.with_name("elsewhere"))
    result = place.run(accept_deletions=True)
    assert result.removed == 0
    assert "cannot be read" in result.warnings[0]
    assert place.found("apple") == ["a.md"]
    assert '"NeedsAction"' in place.query("SELECT value FROM meta WHERE key = 'sources'")[0][0]


def test_many_losses_at_once_wait_for_a_person(place: Any) -> None:
    for number in range(40):
        place.write(f"f{number:02}.md", f"text number {number}")
    place.run()
    for number in range(11):
        (place.docs / f"f{number:02}.md").unlink()
    assert place.run().removed == 0
    assert len(place.states()) == 40
    assert place.run(accept_deletions=True).removed == 11


def test_a_moved_folder_keeps_its_rows_and_is_no_loss(place: Any) -> None:
    place.configure("hashing")
    for number in range(30):
        place.write(f"old/f{number:02}.md", f"text number {number}")
    place.run()
    ids = place.query("SELECT id, text FROM chunks ORDER BY id")
    (place.docs / "old").rename(place.docs / "zz-new")
    calls = place.embedding.calls
    result = place.run()
    assert place.extraction.reads == []
    assert place.embedding.calls == calls
    assert (result.indexed, result.removed, result.warnings) == (0, 0, ())
    assert place.query("SELECT id, text FROM chunks ORDER BY id") == ids
    assert all(path.startswith("zz-new/") for path in place.states())
    place.check_whole()


def test_a_renamed_file_is_found_by_its_new_name(place: Any) -> None:
    place.write("budget.md", "some text")
    place.write("other.md", "other text")
    place.run()
    (place.docs / "budget.md").rename(place.docs / "forecast.md")
    place.run()
    assert place.found("forecast") == ["forecast.md"]
    assert place.found("budget") == []
    assert place.query("SELECT title FROM files ORDER BY path") == [("forecast",), ("other",)]


def test_two_files_with_one_content_both_stay(place: Any) -> None:
    place.write("a.md", "same words")
    place.run()
    place.write("b.md", "same words")
    assert place.run().indexed == 1
    assert place.found("same") == ["a.md", "b.md"]


def test_files_that_swap_their_names_end_as_they_are(place: Any) -> None:
    place.write("a.md", "apple apple")
    place.write("b.md", "pear")
    place.run()
    (place.docs / "a.md").rename(place.docs / "c")
    (place.docs / "b.md").rename(place.docs / "a.md")
    (place.docs / "c").rename(place.docs / "b.md")
    place.run()
    assert place.found("apple") == ["b.md"]
    assert place.found("pear") == ["a.md"]
    place.check_whole()


def test_a_source_taken_out_of_the_config_goes(place: Any, tmp_path: Path) -> None:
    other = tmp_path / "other"
    other.mkdir()
    (other / "x.md").write_text("extra")
    place.write("a.md", "apple")
    place.configure(sourcePaths=[str(place.docs), str(other)])
    place.run()
    assert place.found("extra") == ["x.md"]
    place.configure()
    assert place.run().removed == 1
    assert place.found("extra") == []


def test_an_emptied_list_of_sources_needs_a_person(place: Any) -> None:
    for number in range(11):
        place.write(f"f{number:02}.md", f"text number {number}")
    place.run()
    place.configure(sourcePaths=[])
    assert "names it no more" in place.engine.check_changes("kb").needs_action[0]
    refused = place.run()
    assert refused.removed == 0
    assert "the config names it no more, and 11 of 11 files" in refused.warnings[0]
    assert refused.to_json()["warnings"] == refused.warnings
    assert len(place.states()) == 11
    assert place.run(accept_deletions=True).removed == 11


def test_a_slip_in_a_path_takes_nothing_however_little_there_is(place: Any) -> None:
    for number in range(3):
        place.write(f"f{number}.md", f"text number {number}")
    place.run()
    for paths in ([str(place.docs) + "typo"], []):
        place.configure(sourcePaths=paths)
        assert any(
            "names it no more" in one for one in place.engine.check_changes("kb").needs_action
        )
        refused = place.run()
        assert (refused.removed, len(place.states())) == (0, 3)
        assert any("the config names it no more, and" in one for one in refused.warnings)
    place.configure()
    assert place.run().removed == 0
    assert place.extraction.reads == []


def test_the_order_of_sources_re_indexes_nothing(place: Any, tmp_path: Path) -> None:
    other = tmp_path / "other"
    other.mkdir()
    (other / "x.md").write_text("extra")
    place.write("a.md", "apple")
    place.configure(sourcePaths=[str(place.docs), str(other)])
    place.run()
    place.configure(sourcePaths=[str(other), str(place.docs)])
    result = place.run()
    assert place.extraction.reads == []
    assert result.removed == 0
