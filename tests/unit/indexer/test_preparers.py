"""Cutting and tokenising in child processes gives what it gives in this one, whatever happens."""

from __future__ import annotations

import contextlib
import os
import signal
import threading
from collections.abc import Iterator
from concurrent.futures import Future
from dataclasses import replace
from typing import cast

import psutil
import pytest

from seoga.errors import Reason
from seoga.models import DocumentInfo, FileState, Place, Section, SectionKind
from seoga.storage.packing import PackedFile
from seoga.storage.records import FileRow, PreparedFile
from seoga_indexer.channel import Stopped
from seoga_indexer.preparers import Preparers, PreparingFailed
from seoga_indexer.preparing import Draft, Sizes, packed, prepare


def draft(
    path: str = "a.md", text: str = "본문은 여기 있다. And some English.", **meta: str
) -> Draft:
    sections = (
        Section("# 제목", SectionKind.HEADING, ("제목",), 1, Place(line_start=1, line_end=1)),
        Section(text, SectionKind.PARAGRAPH, ("제목",), 0, Place(line_start=3, line_end=3), meta),
    )
    return Draft(
        FileRow("docs", path, 9, 1, 2), DocumentInfo("markdown", "제목"), sections, Sizes()
    )


@pytest.fixture
def preparers() -> Iterator[Preparers]:
    pool = Preparers(2, after=0)
    yield pool
    pool.close()


def children() -> list[psutil.Process]:
    return [
        each for each in psutil.Process().children() if "seoga_indexer.preparers" in each.cmdline()
    ]


def test_a_child_gives_the_same_as_this_process(preparers: Preparers) -> None:
    given = draft(audio="x")
    assert preparers.prepare(given) == packed(given)
    assert len(children()) == 1


def test_few_files_start_no_process() -> None:
    pool = Preparers(2)
    for number in range(5):
        assert isinstance(pool.prepare(draft(f"{number}.md")), PackedFile)
    assert children() == []
    pool.close()


def test_a_file_without_text_is_a_row_with_state_and_reason(preparers: Preparers) -> None:
    empty = Draft(FileRow("docs", "a", 9, 1, 2), DocumentInfo("text"), (), Sizes())
    row = preparers.prepare(empty)
    assert isinstance(row, FileRow)
    assert (row.state, row.reason) == (FileState.READY, Reason.EMPTY)


def test_a_stream_that_ended_early_leaves_a_degraded_file(preparers: Preparers) -> None:
    whole = draft()
    cut = Draft(whole.row, whole.info, whole.sections, whole.sizes, (Reason.TIMEOUT, "too slow"))
    prepared = preparers.prepare(cut)
    assert isinstance(prepared, PackedFile)
    assert prepared.row.state is FileState.DEGRADED
    assert (prepared.row.reason, prepared.row.detail) == (Reason.TIMEOUT, "too slow")


def test_a_killed_child_is_replaced_and_its_file_prepared(preparers: Preparers) -> None:
    preparers.prepare(draft())
    (child,) = children()
    os.kill(child.pid, signal.SIGKILL)
    assert preparers.prepare(draft("b.md")) == packed(draft("b.md"))


def test_threads_prepare_at_once_each_its_own_file(preparers: Preparers) -> None:
    results: dict[str, object] = {}

    def work(name: str) -> None:
        results[name] = preparers.prepare(draft(name, "가나다 라마바. " * 2000))

    threads = [threading.Thread(target=work, args=(f"{number}.md",)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    for name, result in results.items():
        assert isinstance(result, PackedFile)
        assert result.row.path == name


def test_close_ends_the_children(preparers: Preparers) -> None:
    preparers.prepare(draft())
    processes = children()
    preparers.close()
    assert not any(each.is_running() for each in processes)


def test_close_ends_a_child_at_work_and_whoever_waits_for_it(preparers: Preparers) -> None:
    preparers.prepare(draft())
    (child,) = children()
    # It stands still for as long as the document would take.
    os.kill(child.pid, signal.SIGSTOP)
    ended: Future[object] = Future()

    def work() -> None:
        try:
            ended.set_result(preparers.prepare(draft("b.md")))
        except Stopped as stopped:
            ended.set_exception(stopped)

    thread = threading.Thread(target=work, daemon=True)
    thread.start()
    with contextlib.suppress(TimeoutError):
        ended.result(timeout=0.3)
    preparers.close()
    with pytest.raises(Stopped):
        ended.result(timeout=20)
    assert not psutil.wait_procs([child], timeout=10)[1]
    assert children() == []


def test_front_matter_is_indexed_once_with_the_first_passage() -> None:
    meta = {"CIP": 94, "authors": ["Matthias Benkort"], "draft": True}
    whole = draft(text="한 문장이다. " * 400)
    said = Draft(whole.row, DocumentInfo("markdown", "", meta), whole.sections, whole.sizes)
    prepared = prepare(said)
    assert isinstance(prepared, PreparedFile)
    first, *others = [chunk.tokens.keywords for chunk in prepared.chunks]
    assert first.split() == ["94", "matthia", "benkort"]
    assert others
    assert not any(others)


def test_properties_of_other_formats_count_only_where_a_person_wrote_them() -> None:
    info = DocumentInfo("docx", "", {"author": "김서가", "charset": "utf-8"})
    whole = draft()
    prepared = prepare(Draft(whole.row, info, whole.sections, whole.sizes))
    assert isinstance(prepared, PreparedFile)
    assert prepared.chunks[0].tokens.keywords == "김서 서가"


def test_files_that_travel_together_are_told_apart(preparers: Preparers) -> None:
    broken = replace(draft("b.md"), sections=[Section(cast("str", 5))])
    first, failure, last = preparers.prepare_all([draft("a.md"), broken, draft("c.md")])
    assert (first, last) == (packed(draft("a.md")), packed(draft("c.md")))
    assert isinstance(failure, PreparingFailed)
