"""check_changes says what a run would do, and does nothing."""

from __future__ import annotations

import os
import unicodedata
from typing import Any

import pytest

from seoga.errors import InvalidArgument, NotFound


def test_a_kb_that_was_never_indexed_has_everything_to_add(place: Any) -> None:
    place.write("a.md", "one")
    report = place.engine.check_changes("kb")
    assert report.added == ("docs/a.md",)
    assert not report.is_clean
    assert not place.kb.db_path.exists()


def test_nothing_changed_is_clean(place: Any) -> None:
    place.write("a.md", "one")
    place.write("broken.md", "!corrupt")
    place.run()
    report = place.engine.check_changes("kb")
    assert report.is_clean
    assert report.counts["unchanged"] == 2
    assert report.failed == ("docs/broken.md: corrupt",)


def test_what_is_no_document_is_skipped_and_not_failed(place: Any) -> None:
    place.write("a.md", "one")
    os.mkfifo(place.docs / "pipe.md")
    (place.docs / "link.md").symlink_to("/etc/hostname")
    (place.docs / "loop.md").symlink_to("loop.md")
    place.run()
    report = place.engine.check_changes("kb")
    assert (report.failed, report.needs_action) == ((), ())
    assert report.skipped == (
        "docs/link.md: a link that leaves the source",
        "docs/loop.md: a link that leads to itself",
        "docs/pipe.md: a named pipe, no file",
    )
    assert report.is_clean


def test_a_file_with_a_twin_of_its_name_is_told_before_links_and_pipes(place: Any) -> None:
    os.mkfifo(place.docs / "a.md")
    for form in ("NFC", "NFD"):
        place.write(unicodedata.normalize(form, "각.md"), f"text of {form}")
    (warning,) = place.run().warnings
    assert "각.md: another entry has the same name in another Unicode form: rename one" in warning
    os.rename(place.docs / unicodedata.normalize("NFD", "각.md"), place.docs / "각 2.md")
    place.run()
    assert place.query("SELECT count(*) FROM chunks WHERE text LIKE 'text of NF_'") == [(2,)]


def test_added_modified_and_deleted_are_named(place: Any) -> None:
    for name in ("a", "b", "c"):
        place.write(f"{name}.md", name)
    place.run()
    place.write("a.md", "changed")
    (place.docs / "b.md").unlink()
    place.write("d.md", "new")
    os.utime(place.docs / "c.md", (1, 1))
    before = place.query("SELECT * FROM files")
    report = place.engine.check_changes("kb")
    assert (report.added, report.modified, report.deleted) == (
        ("docs/d.md",),
        ("docs/a.md",),
        ("docs/b.md",),
    )
    assert place.query("SELECT * FROM files") == before
    assert place.extraction.reads == ["a.md", "b.md", "c.md"] or len(place.extraction.reads) == 3


def test_no_provider_is_asked(place: Any) -> None:
    place.configure("hashing")
    place.write("a.md", "one")
    place.run()
    place.embedding.calls = 0
    place.embedding.card = lambda spec: pytest.fail("the provider was asked")
    assert place.engine.check_changes("kb").is_clean
    assert place.embedding.calls == 0


def test_an_emptied_root_needs_action(place: Any) -> None:
    place.write("a.md", "one")
    place.run()
    (place.docs / "a.md").unlink()
    report = place.engine.check_changes("kb")
    assert "empty" in report.needs_action[0]


def test_a_folder_that_cannot_be_looked_into_is_named_and_not_clean(
    place: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    place.write("open/a.md", "one")
    place.write("shut/b.md", "two")
    place.run()
    scandir = os.scandir

    # File permissions do not stop root, who runs many containers and this test there.
    def refused(path: Any) -> Any:
        if str(path).endswith("shut"):
            raise PermissionError(13, "Permission denied", str(path))
        return scandir(path)

    monkeypatch.setattr(os, "scandir", refused)
    report = place.engine.check_changes("kb")
    assert not report.is_clean
    assert report.needs_action == ("docs/shut: Permission denied",)
    assert report.deleted == ()


def test_a_file_that_cannot_be_opened_is_named_and_not_clean(
    place: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    shut = place.write("a.md", "one")
    place.run()
    os.utime(shut, (1, 1))

    def refused(path: Any) -> str:
        raise PermissionError(13, "Permission denied", str(path))

    monkeypatch.setattr("seoga_indexer.dryrun.content_hash", refused)
    report = place.engine.check_changes("kb")
    assert not report.is_clean
    assert report.needs_action == ("docs/a.md: Permission denied",)


def test_files_that_need_a_person_are_named_though_a_run_would_leave_them(place: Any) -> None:
    place.write("scan.md", "!needs_ocr")
    place.run()
    report = place.engine.check_changes("kb")
    assert report.needs_action == ("docs/scan.md: needs_ocr",)
    assert report.counts["needs_action"] == 1
    assert report.is_clean


def test_other_versions_and_models_are_stale(place: Any) -> None:
    place.configure("hashing")
    place.write("a.md", "one")
    place.run()
    place.extraction.version = "2"
    assert place.engine.check_changes("kb").stale == ("extraction",)
    assert place.engine.stale("kb") == {"extraction": 1}
    place.configure("openai")
    assert "model" in place.engine.check_changes("kb").stale
    assert set(place.engine.stale("kb")) == {"extraction", "model"}


@pytest.mark.parametrize("old", ["extraction", "chunking", "prompt", "contexts", "model"])
def test_what_is_old_is_named_and_made_anew_from_the_smallest_stage(place: Any, old: str) -> None:
    llm = {"provider": "openai", "model": "m1"}
    place.configure("hashing", contextualizer=llm)
    if old == "contexts":
        place.embedding.unanswered = {"words"}
    place.write("a.txt", "plain words")
    place.run()
    assert place.engine.stale("kb") == ({"contexts": 1} if old == "contexts" else {})
    place.embedding.unanswered = set()
    place.embedding.texts.clear()
    place.embedding.contexts = 0
    if old == "extraction":
        place.extraction.versions = {".txt": "2"}
    elif old == "prompt":
        place.embedding.prompt = "p2"
    elif old == "chunking":
        place.configure("hashing", contextualizer=llm, chunking={"targetChars": 700})
    elif old == "model":
        place.configure("openai", contextualizer=llm)
    assert set(place.engine.stale("kb")) == {old}
    place.embedding.prompt_word = "anew" if old == "prompt" else ""
    place.run()
    assert place.engine.stale("kb") == {}
    # (files read, contexts asked for, passages embedded): those before the old stage stay.
    made = (len(place.extraction.reads), place.embedding.contexts, len(place.embedding.texts))
    assert (
        made
        == {
            "extraction": (1, 1, 0),
            "chunking": (0, 1, 0),
            "prompt": (0, 1, 1),
            "contexts": (0, 1, 1),
            "model": (0, 0, 1),
        }[old]
    )


def test_contexts_that_come_out_the_same_keep_their_vectors(place: Any) -> None:
    place.configure("hashing", contextualizer={"provider": "openai", "model": "m1"})
    place.write("a.txt", "plain words")
    place.write("b.txt", "other words")
    place.run()
    place.embedding.texts.clear()
    place.run(partial="contextualization")
    assert place.embedding.contexts == 4
    assert place.embedding.texts == []
    place.check_whole()


def test_a_bad_id_never_touches_a_path(place: Any) -> None:
    with pytest.raises(InvalidArgument):
        place.engine.check_changes("../kb")
    with pytest.raises(NotFound):
        place.engine.check_changes("other")
