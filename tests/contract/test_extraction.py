"""One contract, two adapters: the engine in this process, and its client over real HTTP."""

from __future__ import annotations

import os
import socket
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
import uvicorn

from seoga.contracts.extraction import Extraction, ExtractionClient, routes
from seoga.errors import ExtractionFailed, Reason, ServiceUnavailable
from seoga.models import DocumentInfo, Place, Section, SectionKind
from seoga.service import build_app
from seoga.settings import Settings
from seoga_extraction.engine import ExtractionEngine

HOSTILE = Path(__file__).parents[1] / "unit" / "extraction" / "hostile"
MAX_MB = 2


@contextmanager
def serving(engine: Extraction) -> Iterator[str]:
    app = build_app("extraction", routes=[routes(engine, 2, MAX_MB)], close=engine.close)
    listener = socket.create_server(("127.0.0.1", 0))
    server = uvicorn.Server(uvicorn.Config(app, log_level="warning", lifespan="on"))
    thread = threading.Thread(target=server.run, args=([listener],))
    thread.start()
    try:
        yield f"http://127.0.0.1:{listener.getsockname()[1]}"
    finally:
        server.should_exit = True
        thread.join(10)
        listener.close()


def engine_of(package: str = "seoga_extraction.formats") -> ExtractionEngine:
    return ExtractionEngine(
        Settings(extract_workers=2, max_file_mb=MAX_MB, extract_timeout_s=30), package
    )


@pytest.fixture(scope="module", params=["embedded", "http"])
def port(request: pytest.FixtureRequest) -> Iterator[Extraction]:
    """The port under test."""
    if request.param == "embedded":
        engine = engine_of()
        yield engine
        engine.close()
        return
    with serving(engine_of()) as url:
        client = ExtractionClient(url)
        yield client
        client.close()


def put(folder: Path, name: str, data: bytes) -> Path:
    path = folder / name
    path.write_bytes(data)
    return path


def failure(port: Extraction, path: Path, name: str = "") -> ExtractionFailed:
    with pytest.raises(ExtractionFailed) as failed:
        list(port.extract(path, name or path.name))
    return failed.value


def test_events_come_whole_and_in_order(port: Extraction, tmp_path: Path) -> None:
    path = put(tmp_path, "x", "---\ntags: [가]\n---\n# 제목\n\n본문\u2028줄\u0085끝".encode())
    assert list(port.extract(path, "폴더 이름/보고서 #1?.md")) == [
        DocumentInfo("markdown", "제목", {"tags": ["가"]}),
        Section("# 제목", SectionKind.HEADING, ("제목",), 1, Place(line_start=4, line_end=4)),
        Section(
            "본문\u2028줄\u0085끝", heading_path=("제목",), place=Place(line_start=6, line_end=6)
        ),
    ]


def test_text_is_stored_form_composed_and_without_nul(port: Extraction, tmp_path: Path) -> None:
    decomposed = "\u1112\u1161\u11ab\u1100\u1173\u11af"
    path = put(tmp_path, "a.md", f"# {decomposed}\n\n{decomposed}".encode())
    info, heading, body = port.extract(path, "a.md")
    assert isinstance(info, DocumentInfo)
    assert isinstance(heading, Section)
    assert isinstance(body, Section)
    assert (info.title, heading.heading_path, body.text) == ("한글", ("한글",), "한글")


def test_a_long_document_streams_and_arrives_whole(port: Extraction, tmp_path: Path) -> None:
    path = put(tmp_path, "a.txt", b"".join(b"paragraph %d\n\n" % n for n in range(60_000)))
    events = list(port.extract(path, "a.txt"))
    assert len(events) == 60_001
    assert events[-1] == Section("paragraph 59999", place=Place(line_start=119999, line_end=119999))


@pytest.mark.parametrize(
    ("name", "data", "reason"),
    [
        ("empty.md", b"", Reason.EMPTY),
        ("binary.txt", bytes(range(256)) * 20, Reason.BINARY),
        ("packed.md", b"\x1f\x8b\x08" + bytes(40), Reason.UNSUPPORTED),
        ("cut.docx", b"PK\x03\x04" + bytes(40), Reason.CORRUPT),
        ("broken.pdf", b"%PDF-1.7\nnothing else", Reason.CORRUPT),
        ("big.txt", b"words " * 600_000, Reason.TOO_LARGE),
    ],
)
def test_a_failure_is_the_same_class_with_its_reason(
    port: Extraction, tmp_path: Path, name: str, data: bytes, reason: Reason
) -> None:
    error = failure(port, put(tmp_path, name, data))
    assert error.reason is reason
    assert error.message


def test_files_that_cannot_be_opened_are_told_apart(port: Extraction, tmp_path: Path) -> None:
    assert failure(port, tmp_path / "gone.md").reason is Reason.VANISHED
    assert failure(port, tmp_path).reason is Reason.UNREADABLE
    os.mkfifo(tmp_path / "pipe.md")
    assert failure(port, tmp_path / "pipe.md").reason is Reason.UNREADABLE


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
def test_a_file_without_permission_is_unreadable(port: Extraction, tmp_path: Path) -> None:
    path = put(tmp_path, "a.md", b"text")
    path.chmod(0)
    assert failure(port, path).reason is Reason.UNREADABLE


def test_describe_names_version_and_formats(port: Extraction) -> None:
    described = port.describe()
    assert described["version"]
    pdf, markdown = described["formats"]["pdf"], described["formats"]["markdown"]
    assert (pdf["extensions"], pdf["available"], pdf["why"]) == ([".pdf"], True, "")
    assert pdf["version"]
    assert (pdf["cheap"], markdown["cheap"]) == (False, True)


def test_many_callers_at_once_are_all_served(port: Extraction, tmp_path: Path) -> None:
    path = put(tmp_path, "a.txt", b"".join(b"paragraph %d\n\n" % n for n in range(5_000)))
    counts: list[int] = []
    threads = [
        threading.Thread(target=lambda: counts.append(len(list(port.extract(path, "a.txt")))))
        for _ in range(12)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert counts == [5_001] * 12


def test_leaving_a_stream_frees_its_place(port: Extraction, tmp_path: Path) -> None:
    long = put(tmp_path, "long.txt", b"".join(b"paragraph %d\n\n" % n for n in range(100_000)))
    for _ in range(5):
        stream = iter(port.extract(long, "long.txt"))
        assert isinstance(next(stream), DocumentInfo)
        del stream
    path = put(tmp_path, "a.md", b"# T")
    started = time.monotonic()
    assert len(list(port.extract(path, "a.md"))) == 2
    assert time.monotonic() - started < 20


@pytest.mark.parametrize("way", ["embedded", "http"])
def test_an_error_in_mid_stream_comes_after_what_was_read(
    way: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PYTHONPATH", str(HOSTILE))
    path = put(tmp_path, "x", b"ATTACK segfault")
    engine = engine_of("seoga_hostile_formats")
    got: list[str] = []

    def read(port: Extraction) -> None:
        with pytest.raises(ExtractionFailed) as failed:
            got.extend(e.text for e in port.extract(path, "x") if isinstance(e, Section))
        assert failed.value.reason is Reason.CRASH
        fine = port.extract(put(tmp_path, "y", b"ATTACK fine"), "y")
        got.extend(getattr(event, "text", "info") for event in fine)

    if way == "embedded":
        read(engine)
        engine.close()
    else:
        with serving(engine) as url:
            client = ExtractionClient(url)
            read(client)
            client.close()
    assert got[-4:] == ["info", "before", "sent", "after"]


def test_a_service_that_is_not_there_is_said_so(tmp_path: Path) -> None:
    client = ExtractionClient("http://127.0.0.1:9")
    with pytest.raises(ServiceUnavailable, match="extraction"):
        list(client.extract(put(tmp_path, "a.md", b"# T"), "a.md"))
    client.close()


def test_no_upload_is_left_behind(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    uploads = tmp_path / "uploads"
    uploads.mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(uploads))
    with serving(engine_of()) as url:
        client = ExtractionClient(url)
        list(client.extract(put(tmp_path, "a.md", b"# T"), "a.md"))
        failure(client, put(tmp_path, "b.md", b""))
        client.close()
    assert not list(uploads.iterdir())
