"""The face of every service over a real server on loopback, and the client that talks to it."""

from __future__ import annotations

import socket
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager

import httpx
import pytest
import uvicorn
from fastapi import APIRouter, FastAPI

from seoga import __version__
from seoga.contracts.http import Http, readiness
from seoga.errors import Busy, InvalidArgument, ServiceUnavailable, StorageError
from seoga.service import build_app
from seoga.workload import WORKLOAD

BOTH = threading.Barrier(2, timeout=20)
router = APIRouter()


@router.get("/busy")
def busy() -> None:
    raise Busy("the KB is busy", "wait for the other run")


@router.get("/boom")
def boom() -> None:
    raise ValueError("a secret of the inside")


@router.get("/items/{number}")
def item(number: int) -> dict[str, int]:
    return {"number": number}


@router.post("/slow")
def slow() -> None:
    # So both are under way before either is answered.
    BOTH.wait()


@contextmanager
def serving(app: FastAPI) -> Iterator[str]:
    """The app on a free loopback port, for the time of the block."""
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


@pytest.fixture
def url() -> Iterator[str]:
    with serving(build_app("indexer", [router])) as address:
        yield address


def test_no_page_loads_scripts_from_another_host(url: str) -> None:
    for path in ("/docs", "/redoc"):
        assert httpx.get(f"{url}{path}").status_code == 404
    assert httpx.get(f"{url}/openapi.json").status_code == 200


def test_readiness_is_asked_within_its_time_and_told_in_words(url: str) -> None:
    def not_yet() -> dict[str, object]:
        raise StorageError("the base path is not writable")

    assert readiness(url, 5) == "ready"
    with serving(build_app("embedding", ready=not_yet)) as address:
        assert readiness(address, 5) == "not ready: the base path is not writable"
    with socket.create_server(("127.0.0.1", 0)) as silent:
        started = time.monotonic()
        address = f"http://127.0.0.1:{silent.getsockname()[1]}"
        assert readiness(address, 0.3) == "does not answer (ReadTimeout)"
        assert time.monotonic() - started < 5


def test_health_says_service_and_version(url: str) -> None:
    assert httpx.get(f"{url}/health").json() == {
        "status": "ok",
        "service": "indexer",
        "version": __version__,
    }


def test_an_error_arrives_as_its_own_class_with_its_hint(url: str) -> None:
    client = Http("indexer", url)
    with pytest.raises(Busy) as caught:
        client.json("GET", "/busy")
    assert caught.value.hint == "wait for the other run"
    client.close()


def test_an_unforeseen_error_tells_nothing_of_the_inside(url: str) -> None:
    answer = httpx.get(f"{url}/boom")
    assert answer.status_code == 500
    assert answer.json()["code"] == "internal"
    assert "secret" not in answer.text


def test_a_malformed_parameter_is_an_invalid_argument_naming_it(url: str) -> None:
    client = Http("indexer", url)
    with pytest.raises(InvalidArgument, match="number"):
        client.json("GET", "/items/seven")
    assert client.json("GET", "/items/7") == {"number": 7}
    client.close()


def test_a_worker_with_more_to_do_than_another_gives_connections_back(url: str) -> None:
    mine, other = WORKLOAD.claim(), WORKLOAD.claim()
    WORKLOAD.work_at(mine)
    try:
        with ThreadPoolExecutor(2) as pool:
            answers = list(pool.map(httpx.post, [f"{url}/slow"] * 2))
        alone = httpx.get(f"{url}/health")
    finally:
        WORKLOAD.work_at(None)
        WORKLOAD.release(mine)
        WORKLOAD.release(other)
    assert [answer.status_code for answer in answers] == [200, 200]
    assert [answer.headers.get("connection") for answer in answers].count("close") >= 1
    assert alone.headers.get("connection") != "close"


def test_metrics_count_by_route_template_and_status(url: str) -> None:
    for number in (1, 2):
        httpx.get(f"{url}/items/{number}")
    text = httpx.get(f"{url}/metrics").text
    line = 'seoga_http_requests_total{route="/items/{number}",service="indexer",status="200"}'
    assert line in text
    assert 'route="/items/1"' not in text


def test_ready_is_503_with_the_reason_until_the_service_can_work() -> None:
    def not_yet() -> dict[str, object]:
        raise StorageError("the base path is not writable", "mount it writable")

    with serving(build_app("gateway", ready=not_yet)) as address:
        answer = httpx.get(f"{address}/ready")
        assert answer.status_code == 503
        assert answer.json()["hint"] == "mount it writable"
        assert httpx.get(f"{address}/health").status_code == 200


def test_close_runs_when_the_service_stops() -> None:
    closed: list[bool] = []
    with serving(build_app("gateway", close=lambda: closed.append(True))):
        assert not closed
    assert closed == [True]


def test_a_silent_service_is_an_error_naming_it_and_its_url() -> None:
    listener = socket.create_server(("127.0.0.1", 0))
    port = listener.getsockname()[1]
    listener.close()
    client = Http("embedding", f"http://127.0.0.1:{port}")
    with pytest.raises(ServiceUnavailable, match="embedding service") as caught:
        client.json("GET", "/anything")
    assert "SEOGA_EMBEDDING_URL" in caught.value.hint
    client.close()


def test_another_version_is_refused_once_by_name() -> None:
    other = FastAPI()

    @other.get("/health")
    def health() -> dict[str, str]:
        return {"status": "ok", "version": "99.0"}

    with serving(other) as address:
        client = Http("extraction", address)
        with pytest.raises(ServiceUnavailable, match=r"99\.0"):
            client.json("GET", "/items/1")
        client.close()


def test_a_url_with_a_path_prefix_keeps_it() -> None:
    outer = FastAPI()
    outer.mount("/prefix", build_app("indexer", [router]))
    with serving(outer) as address:
        client = Http("indexer", f"{address}/prefix/")
        assert client.json("GET", "/items/3") == {"number": 3}
        client.close()
