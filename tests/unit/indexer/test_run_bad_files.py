"""Every file ends with a row, a state and a reason; a bad one hurts nothing but itself."""

from __future__ import annotations

import os
import threading
import unicodedata
from pathlib import Path
from typing import Any

import pytest

from seoga.errors import ExtractionFailed, Reason

OLD = 1_600_000_000


def age(path: Path) -> None:
    """Makes a file older than the racy window."""
    os.utime(path, (OLD, OLD))


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


def test_other_passwords_take_only_encrypted_files_again(place: Any) -> None:
    age(place.write("a.md", "apple"))
    age(place.write("locked.md", "!encrypted"))
    age(place.write("broken.md", "!corrupt"))
    place.run()
    place.run()
    assert place.extraction.reads == []
    place.extraction.passwords = "1700000000"
    place.run()
    assert place.extraction.reads == ["locked.md"]
    place.run()
    assert place.extraction.reads == []


def test_without_the_passwords_that_did_not_open_a_file_it_is_not_behind(place: Any) -> None:
    age(place.write("locked.md", "!encrypted"))
    place.extraction.passwords = "1700000000"
    place.run()
    place.extraction.passwords = ""
    place.run()
    assert place.extraction.reads == []
    place.extraction.version = "2"
    place.run()
    assert place.extraction.reads == ["locked.md"]
    place.extraction.passwords = "1700000000"
    place.run()
    assert place.extraction.reads == ["locked.md"]


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
    first, again = place.run(), place.run()
    assert first.needs_action == again.needs_action == 1
    # What stays shut is told each time, and is no failure of a run that finds nothing new.
    assert (first.exit_code, again.exit_code) == (1, 0)
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


def test_a_parser_that_was_killed_once_is_tried_once_more(place: Any) -> None:
    place.write("a.md", "text")
    real, tries = place.extraction.extract, []

    def killed_first(path: Path, name: str) -> Any:
        tries.append(name)
        if len(tries) == 1:
            raise ExtractionFailed("killed", reason=Reason.OUT_OF_MEMORY)
        return real(path, name)

    place.extraction.extract = killed_first
    result = place.run()
    assert (result.indexed, result.failed) == (1, 0)
    assert tries == ["a.md", "a.md"]


@pytest.mark.parametrize(("progress", "tries", "state"), [(1, 5, "Ready"), (0, 2, "Degraded")])
def test_a_parser_that_is_killed_again_and_again_is_tried_as_long_as_it_goes_further(
    place: Any, progress: int, tries: int, state: str
) -> None:
    place.write("a.md", "# a\n\none\n\ntwo\n\nthree\n\nfour\n\nfive")
    real, asked = place.extraction.extract, []

    def killed(path: Path, name: str) -> Any:
        asked.append(name)
        for number, event in enumerate(real(path, name)):
            # As of a scan whose pages so far are kept.
            if number > 1 + progress * len(asked):
                raise ExtractionFailed("killed", reason=Reason.OUT_OF_MEMORY)
            yield event

    place.extraction.extract = killed
    place.run()
    assert len(asked) == tries
    assert place.query("SELECT state FROM files") == [(state,)]


def test_recordings_keep_no_note_waiting(place: Any) -> None:
    place.extraction.extensions += [".rec"]
    place.extraction.apart.add(".rec")
    for number in range(20):
        place.write(f"a{number}.rec", f"long speech {number}")
    place.write("z.md", "a note")
    noted, heard = threading.Event(), []

    def before(path: Path, name: str) -> None:
        if name.endswith(".rec"):
            heard.append(noted.wait(20))
        else:
            noted.set()

    place.extraction.before = before
    result = place.run()
    assert (result.indexed, result.failed) == (21, 0)
    assert heard == [True] * 20
