"""A run brings the index to what the sources hold, and does nothing twice."""

from __future__ import annotations

import os
import threading
import time
import unicodedata
from pathlib import Path
from typing import Any

import pytest

from seoga.contracts.indexing import Progress
from seoga.errors import Busy, ConfigError, InvalidArgument, LeaseLost
from seoga.storage.database import connect, open_writer
from seoga.storage.leases import WRITER, Lease

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


def test_every_file_has_a_row_with_its_reason(place: Any) -> None:
    place.write("zero.md", "")
    place.write("photo.bin", "not text")
    place.write("broken.md", "!corrupt")
    place.write("locked.md", "!encrypted")
    place.write("half.md", "good part\n\n!timeout")
    result = place.run()
    assert place.states() == {
        "zero.md": "Ready empty",
        "photo.bin": "Failed unsupported",
        "broken.md": "Failed corrupt",
        "locked.md": "NeedsAction encrypted",
        "half.md": "Degraded timeout",
    }
    assert (result.failed, result.unsupported, result.needs_action, result.degraded) == (1, 1, 1, 1)
    assert place.found("good") == ["half.md"]


def test_failing_files_are_not_tried_again_until_they_change(place: Any) -> None:
    place.write("broken.md", "!corrupt")
    assert place.run().exit_code == 1
    again = place.run()
    assert place.extraction.reads == []
    assert again.exit_code == 0
    assert again.failed == 1
    place.write("broken.md", "healed now")
    assert place.run().failed == 0
    assert place.found("healed") == ["broken.md"]


def test_a_file_that_turns_bad_loses_its_old_text(place: Any) -> None:
    place.write("a.md", "apple")
    place.run()
    place.write("a.md", "!encrypted")
    place.run()
    assert place.found("apple") == []
    place.check_whole()


def test_a_new_reader_heals_what_was_unsupported(place: Any) -> None:
    age(place.write("a.rst", "restructured"))
    place.run()
    place.extraction.extensions.append(".rst")
    place.run()
    assert place.found("restructured") == ["a.rst"]
    place.run()
    assert place.extraction.reads == []


def test_a_new_extraction_version_reads_everything_once(place: Any) -> None:
    age(place.write("a.md", "apple"))
    place.run()
    place.extraction.version = "2"
    place.run()
    assert place.extraction.reads == ["a.md"]
    place.run()
    assert place.extraction.reads == []


def test_force_reads_and_embeds_everything(place: Any) -> None:
    place.configure("hashing")
    age(place.write("a.md", "apple"))
    place.run()
    place.embedding.texts.clear()
    assert place.run(force=True).indexed == 1
    assert place.embedding.texts == ["apple"]
    place.check_whole()


def test_an_unreadable_file_is_needs_action_and_keeps_its_text(place: Any) -> None:
    path = place.write("a.md", "apple")
    place.run()
    path.write_text("apple and more")

    def refuse(_: Path, name: str) -> None:
        raise PermissionError(13, "Permission denied")

    place.extraction.before = refuse
    assert place.run().needs_action == 1
    assert place.states() == {"a.md": "NeedsAction unreadable"}
    assert place.found("apple") == ["a.md"]
    place.extraction.before = lambda path, name: None
    place.run()
    assert place.states() == {"a.md": "Ready"}
    assert place.found("more") == ["a.md"]


def test_a_file_that_vanishes_while_it_is_read_is_no_row(place: Any) -> None:
    path = place.write("a.md", "apple")
    place.write("b.md", "pear")
    place.extraction.before = lambda _, name: path.unlink(missing_ok=True)
    place.run()
    assert list(place.states()) == ["b.md"]


def test_a_file_written_while_it_is_read_is_stored_as_it_ends(place: Any) -> None:
    path = place.write("a.md", "half")
    place.extraction.before = lambda _, name: path.write_text("the whole text") and None
    place.run()
    assert place.found("whole") == ["a.md"]
    assert place.query("SELECT size FROM files") == [(14,)]


def test_an_error_of_ours_in_one_file_does_not_end_the_run(place: Any) -> None:
    place.write("a.md", "apple")
    place.write("b.md", "pear")

    def fail(_: Path, name: str) -> None:
        if name == "a.md":
            raise RuntimeError("boom")

    place.extraction.before = fail
    result = place.run()
    assert place.states() == {"a.md": "Failed internal", "b.md": "Ready"}
    assert result.exit_code == 0


def test_decomposed_names_and_text_are_found_composed(place: Any) -> None:
    name = unicodedata.normalize("NFD", "보고서.md")
    place.write(name, unicodedata.normalize("NFD", "회의 결과"))
    place.run()
    assert place.found("회의") == ["보고서.md"]
    place.run()
    assert place.extraction.reads == []


def test_an_empty_folder_is_a_good_run(place: Any) -> None:
    result = place.run()
    assert (result.indexed, result.exit_code, result.warnings) == (0, 0, ())


def test_chunks_are_exact_slices_of_the_stored_text(place: Any) -> None:
    from contextlib import closing

    from seoga.storage.database import open_reader
    from seoga.storage.reading import document_text

    place.write(
        "a.md", "\n\n".join(f"문단 {number}. " + "가나다라 마바사. " * 40 for number in range(9))
    )
    place.run()
    with closing(open_reader(place.kb.db_path)) as conn:
        text, _ = document_text(conn, "docs", "a.md")
    rows = place.query('SELECT text, start, "end" FROM chunks')
    assert len(rows) > 3
    assert all(text[start:end] == chunk for chunk, start, end in rows)


def test_progress_is_told_and_text_is_done_before_vectors(place: Any) -> None:
    place.configure("hashing")
    place.write("a.md", "apple")
    seen: list[Progress] = []
    place.embedding.before = lambda: seen and None
    place.run(progress=seen.append)
    first = next(progress for progress in seen if progress.text_done)
    assert (first.done, first.total, first.chunks) == (1, 1, 1)
    assert place.query("SELECT 1 FROM meta WHERE key = 'progress'") == []


def test_a_run_that_is_cancelled_keeps_what_is_done(place: Any, cancel: threading.Event) -> None:
    for number in range(50):
        place.write(f"f{number:02}.md", f"text {number}")

    def stop_at(_: Path, name: str) -> None:
        if name == "f20.md":
            cancel.set()

    place.extraction.before = stop_at
    result = place.run(cancel=cancel)
    assert (result.status, result.exit_code) == ("cancelled", 2)
    done = len(place.states())
    assert 10 <= done < 50
    rest = place.run()
    assert len(place.extraction.reads) == 50 - done
    assert rest.skipped == done
    place.check_whole()


def test_a_cancel_file_stops_the_run_and_does_not_stop_the_next(place: Any) -> None:
    for number in range(50):
        place.write(f"f{number:02}.md", f"text {number}")
    seen = threading.Event()

    def drop_file(_: Path, name: str) -> None:
        (place.kb.folder / "cancel").touch()
        seen.wait(0.05)

    place.extraction.before = drop_file
    assert place.run().status == "cancelled"
    place.extraction.before = lambda path, name: None
    (place.kb.folder / "cancel").touch()
    assert place.run().status == "done"
    assert len(place.states()) == 50


def test_a_cancelled_scan_deletes_nothing(place: Any, cancel: threading.Event) -> None:
    for number in range(5):
        place.write(f"f{number}.md", f"text {number}")
    place.run()
    (place.docs / "f0.md").unlink()
    cancel.set()
    assert place.run(cancel=cancel).removed == 0
    assert len(place.states()) == 5


def test_a_second_run_at_the_same_time_is_refused(place: Any) -> None:
    place.write("a.md", "apple")
    place.run()
    open_writer(place.kb.db_path).close()
    with Lease.acquire(place.kb.db_path, WRITER, 30.0), pytest.raises(Busy):
        place.run()


def test_a_lost_lease_ends_the_run_before_it_writes(place: Any) -> None:
    place.write("a.md", "apple")
    place.run()
    place.write("b.md", "pear")

    def take_over(_: Path, name: str) -> None:
        conn = connect(place.kb.db_path)
        conn.execute("UPDATE leases SET token = token + 1, owner = 'other'")
        conn.close()

    place.extraction.before = take_over
    with pytest.raises(LeaseLost):
        place.run()
    assert list(place.states()) == ["a.md"]


def test_an_unknown_partial_is_refused_before_anything_happens(place: Any) -> None:
    with pytest.raises(InvalidArgument, match="embeding"):
        place.run(partial="embeding")
    assert not place.kb.db_path.exists()


def test_an_unknown_source_type_is_refused(place: Any) -> None:
    place.configure(sourcePaths=[], sources=[{"type": "confluence", "baseUrl": "https://x.test"}])
    with pytest.raises(ConfigError, match="confluence"):
        place.run()


def test_the_history_tells_how_runs_ended(place: Any, cancel: threading.Event) -> None:
    place.write("a.md", "apple")
    place.run()
    cancel.set()
    place.run(cancel=cancel)
    place.extraction.describe = lambda: 1 / 0
    with pytest.raises(ZeroDivisionError):
        place.run()
    assert place.query("SELECT status FROM runs ORDER BY id") == [
        ("done",),
        ("cancelled",),
        ("failed",),
    ]


def test_a_run_without_changes_is_quick(place: Any) -> None:
    for number in range(300):
        age(place.write(f"d{number % 7}/f{number}.md", f"text {number}"))
    place.run()
    started = time.monotonic()
    assert place.run().skipped == 300
    assert time.monotonic() - started < 2
