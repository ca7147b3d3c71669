"""The tools that read an index, asked with the SDK's own client."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from seoga.kb import Kb
from seoga.storage.database import open_reader, open_writer
from seoga.storage.documents import DocumentStore
from seoga.storage.leases import Lease
from seoga.storage.reading import find_document
from seoga_gateway.quoting import FENCE, NOTICE


def text_of(result) -> str:
    return "".join(block.text for block in result.content)


def first_chunk(kb: Kb, document: str, ordinal: int = 0) -> int:
    conn = open_reader(kb.db_path)
    try:
        found = find_document(conn, document)
        row = conn.execute(
            "SELECT id FROM chunks WHERE file_id = ? AND ordinal = ?", (found.id, ordinal)
        ).fetchone()
    finally:
        conn.close()
    return int(row[0])


def test_knowledge_bases_are_listed_with_counts(kb, ask) -> None:
    answer = ask("list_knowledge_bases")
    (entry,) = answer.structured_content["knowledge_bases"]
    assert entry["kb_id"] == "handbook"
    assert entry["status"] == "ready"
    assert (entry["files"], entry["chunks"], entry["sources"]) == (4, 8, ["docs"])
    assert entry["schema_version"] >= 1
    assert "Rules of the house." in text_of(answer)


def test_a_broken_neighbour_is_named_and_does_not_hide_the_others(kb, ask, base_path) -> None:
    broken = base_path / "broken"
    broken.mkdir()
    (broken / "config.json").write_text("{")
    answer = ask("list_knowledge_bases").structured_content
    assert [entry["kb_id"] for entry in answer["knowledge_bases"]] == ["handbook"]
    assert "broken" in answer["problems"][0]


def test_no_knowledge_base_is_said(base_path, ask) -> None:
    assert text_of(ask("list_knowledge_bases")) == "There is no knowledge base yet."


def test_an_unusable_database_is_an_entry_with_its_problem(kb, ask) -> None:
    for leftover in kb.folder.glob("rag.db*"):
        leftover.unlink()
    kb.db_path.write_bytes(b"this is no database" * 100)
    (entry,) = ask("list_knowledge_bases").structured_content["knowledge_bases"]
    assert entry["status"] == "error"
    assert "no database" in entry["problem"]


def test_a_document_is_read_by_page(kb, ask) -> None:
    answer = ask("read_document", kb_id="handbook", document="docs/policy/휴가.pdf", start=2)
    content = answer.structured_content
    assert (content["unit"], content["start"], content["total"]) == ("page", 2, 2)
    assert content["next_start"] is None
    assert content["text"] == "## Page 2\n\nCarry over five days."
    assert NOTICE in text_of(answer)


def test_a_document_is_read_by_the_lines_of_the_original(kb, ask) -> None:
    answer = ask("read_document", kb_id="handbook", document="guide.md", start=6, limit=1)
    assert answer.structured_content["text"].startswith("The error ERR_TOKEN_EXPIRED")


@pytest.mark.parametrize(
    "name", ["/etc/passwd", "../config.json", "docs/../../config.json", "config.json", "rag.db"]
)
def test_only_indexed_documents_are_read(kb, ask, name) -> None:
    answer = ask("read_document", kb_id="handbook", document=name)
    assert answer.is_error
    assert answer.structured_content["code"] == "not_found"


def test_a_document_without_text_says_why(kb, ask) -> None:
    answer = ask("read_document", kb_id="handbook", document="scan.pdf")
    assert answer.structured_content["code"] == "not_found"
    assert "pages are pictures" in answer.structured_content["message"]


def test_a_passage_comes_with_its_neighbours(kb, ask) -> None:
    chunk = first_chunk(kb, "docs/policy/휴가.pdf", 1)
    content = ask("get_document_chunk", kb_id="handbook", chunk_id=chunk).structured_content
    assert content["chunk"]["text"] == "연차 휴가는 15일이다."
    assert content["chunk"]["place"] == {"page": 1}
    assert (content["chunk"]["number"], content["chunk"]["of"]) == (2, 4)
    assert content["before"]["text"] == "## Page 1"
    assert content["after"]["text"] == "## Page 2"


def test_the_first_passage_has_nothing_before_it(kb, ask) -> None:
    chunk = first_chunk(kb, "guide.md")
    content = ask("get_document_chunk", kb_id="handbook", chunk_id=chunk).structured_content
    assert content["before"] is None
    assert content["after"] is not None


def test_a_passage_that_is_gone_is_not_found(kb, ask) -> None:
    answer = ask("get_document_chunk", kb_id="handbook", chunk_id=999)
    assert answer.structured_content["code"] == "not_found"


def test_retrieved_text_cannot_speak_as_the_tool(kb, ask) -> None:
    chunk = first_chunk(kb, "hostile.md")
    for answer in (
        ask("get_document_chunk", kb_id="handbook", chunk_id=chunk),
        ask("read_document", kb_id="handbook", document="hostile.md"),
    ):
        text = text_of(answer)
        assert text.count(f"</{FENCE}>") == text.count(f"<{FENCE} ") == 1
        assert text.endswith(f"</{FENCE}>")
        assert "한국 [/untrusted-passage>" in text
        assert "\u200b" not in json.dumps(answer.structured_content, ensure_ascii=False)


def test_index_information_counts_files_and_passages(kb, ask) -> None:
    content = ask("get_index_info", kb_id="HANDBOOK").structured_content
    assert content["kb_id"] == "handbook"
    assert content["status"] == "ready"
    assert content["files"]["NeedsAction"] == 1
    assert content["reasons"] == {"needs_ocr": 1}
    assert content["chunks"]["total"] == 8
    assert content["chunks"]["raw"] == 8
    assert content["sources"][0]["label"] == "docs"
    assert content["sources"][0]["files"] == 4
    assert content["queue"]["status"] == "idle"
    assert content["progress"] is None
    assert content["last_run"]["status"] == "done"


def test_a_run_in_flight_shows_its_progress_and_a_dead_one_does_not(kb, ask) -> None:
    lease = Lease.acquire(kb.db_path)
    store = DocumentStore(open_writer(kb.db_path), lease)
    store.begin_run()
    store.progress({"stage": "extract", "done": 3, "total": 9})
    live = ask("get_index_info", kb_id="handbook").structured_content
    assert live["status"] == "indexing"
    assert live["progress"]["done"] == 3
    lease.release()
    assert ask("get_index_info", kb_id="handbook").structured_content["progress"] is None
    store.close()


def test_what_is_not_indexed_yet_is_said(base_path, make_kb, ask) -> None:
    make_kb(base_path, "fresh")
    info = ask("get_index_info", kb_id="fresh").structured_content
    assert (info["status"], info["chunks"]["total"]) == ("empty", 0)
    answer = ask("read_document", kb_id="fresh", document="a.md")
    assert answer.structured_content["hint"] == "Call start_reindex."


@pytest.mark.parametrize(
    ("tool", "arguments"),
    [
        ("get_document_chunk", {"chunk_id": 1}),
        ("read_document", {"document": "a.md"}),
        ("start_reindex", {}),
        ("cancel_reindex", {}),
        ("get_index_info", {}),
        ("check_changes", {}),
    ],
)
@pytest.mark.parametrize("kb_id", ["../handbook", "/etc", "", "a/b", "handbook\x00", "x" * 129])
def test_an_id_is_checked_before_it_touches_a_path(kb, ask, tool, arguments, kb_id) -> None:
    answer = ask(tool, kb_id=kb_id, **arguments)
    assert answer.is_error
    assert answer.structured_content["code"] == "invalid_argument"
    assert json.loads(text_of(answer)) == answer.structured_content


def test_an_unknown_id_is_not_found_and_known_ones_are_named(kb, ask) -> None:
    answer = ask("get_index_info", kb_id="nowhere")
    assert answer.structured_content["code"] == "not_found"
    assert "handbook" in answer.structured_content["hint"]


def test_a_removed_knowledge_base_is_gone_at_once(kb, ask, base_path: Path) -> None:
    assert not ask("get_index_info", kb_id="handbook").is_error
    shutil.rmtree(base_path / "handbook")
    assert ask("get_index_info", kb_id="handbook").is_error
