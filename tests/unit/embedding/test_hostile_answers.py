"""Servers that answer to do harm: drips, floods, bombs, cuts, vectors that belong to nothing."""

from __future__ import annotations

import gzip
import json
import socket
import struct
import threading
import time
import tracemalloc
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager, suppress
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from typing import Any

import pytest

from seoga.errors import EmbeddingFailed, ProviderFault, SeogaError
from seoga.models import EmbeddingSpec
from seoga_embedding.engine import EmbeddingEngine
from seoga_embedding.provider import Call, Endpoint
from seoga_embedding.remote.faults import CallFailed, Reply, Trouble, retry_after
from seoga_embedding.remote.wire import Wire

from .conftest import bad, good, passages

Talk = Callable[[socket.socket, threading.Event], None]
PATIENCE_S = 0.5
SOON_S = 5.0
MODEL = "text-embedding-3-small"


@contextmanager
def server(talk: Talk, family: int = socket.AF_INET) -> Iterator[str]:
    """The address of one that says what `talk` does, after each request."""
    over = threading.Event()
    host = "::1" if family == socket.AF_INET6 else "127.0.0.1"
    threads = []
    with socket.create_server((host, 0), family=family) as listening:
        listening.settimeout(0.1)

        def answer(taken: socket.socket) -> None:
            taken.settimeout(1)
            with taken, suppress(OSError):
                while received(taken):
                    talk(taken, over)

        def accept() -> None:
            while not over.is_set():
                with suppress(OSError):
                    threads.append(threading.Thread(target=answer, args=(listening.accept()[0],)))
                    threads[-1].start()

        accepting = threading.Thread(target=accept)
        accepting.start()
        port = listening.getsockname()[1]
        try:
            yield f"http://[::1]:{port}" if ":" in host else f"http://{host}:{port}"
        finally:
            over.set()
            accepting.join(15)
    for thread in threads:
        thread.join(15)


def received(taken: socket.socket) -> bytes:
    """The body of a request; empty at the end."""
    came = b""
    while b"\r\n\r\n" not in came:
        piece = taken.recv(1 << 16)
        if not piece:
            return b""
        came += piece
    head, _, body = came.partition(b"\r\n\r\n")
    length = int(head.lower().split(b"content-length: ")[1].split(b"\r\n")[0])
    while len(body) < length:
        body += taken.recv(1 << 16)
    return body


def drip(before: bytes, piece: bytes) -> Talk:
    def talk(taken: socket.socket, over: threading.Event) -> None:
        taken.sendall(before)
        while not over.wait(0.05):
            taken.sendall(piece)

    return talk


def flood(before: bytes, piece: bytes) -> Talk:
    def talk(taken: socket.socket, over: threading.Event) -> None:
        taken.sendall(before)
        while not over.is_set():
            taken.sendall(piece)

    return talk


def says(content: bytes, *headers: str, status: str = "200 OK") -> Talk:
    head = "\r\n".join((f"HTTP/1.1 {status}", f"content-length: {len(content)}", *headers))

    def talk(taken: socket.socket, over: threading.Event) -> None:
        taken.sendall(head.encode() + b"\r\n\r\n" + content)

    return talk


def reset(taken: socket.socket, over: threading.Event) -> None:
    """Breaks off in the middle of the body, without a farewell."""
    taken.sendall(b'HTTP/1.1 200 OK\r\ncontent-length: 1000\r\n\r\n{"data": [')
    taken.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    taken.close()


CHUNKED = b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n"
CHUNK = b"10000\r\n" + b" " * 0x10000 + b"\r\n"
BOMB = gzip.compress(b" " * (100 << 20))


@pytest.mark.parametrize(
    ("talk", "trouble"),
    [
        (drip(b"HTTP/1.1 200 OK\r\n", b"x-a: b\r\n"), Trouble.OUTAGE),
        (drip(b"HTTP/1.1 200 OK\r\ncontent-length: 100000\r\n\r\n", b" "), Trouble.OUTAGE),
        (drip(CHUNKED, b"1\r\n \r\n"), Trouble.OUTAGE),
        (flood(b"HTTP/1.1 200 OK\r\n", b"x-a: b\r\n"), Trouble.OUTAGE),
        (flood(CHUNKED, CHUNK), Trouble.OUTPUT),
        (flood(CHUNKED.replace(b"200 OK", b"500 X"), CHUNK), Trouble.OUTAGE),
        (says(BOMB, "content-encoding: gzip"), Trouble.OUTPUT),
        (says(b"no gzip", "content-encoding: gzip"), Trouble.OUTPUT),
        (says(b"<html>", "content-type: text/html"), Trouble.OUTPUT),
        (says(b"[" * 100_000), Trouble.OUTPUT),
        (says(b""), Trouble.OUTPUT),
        (says(b"\xff\xfe\x00"), Trouble.OUTPUT),
        (reset, Trouble.OUTAGE),
        (says(b"{}", "location: http://127.0.0.1:1/", status="307 X"), Trouble.REQUEST),
        (says(b"HTTP", status="999 \xff"), Trouble.OUTAGE),
    ],
)
def test_an_answer_that_is_none_ends_the_call_soon_and_takes_little(
    talk: Talk, trouble: Trouble
) -> None:
    tracemalloc.start()
    try:
        with server(talk) as url, closing(Wire(Endpoint(url, {}, "m", "k", 0, "5m", 1))) as wire:
            started = time.monotonic()
            with pytest.raises(CallFailed) as caught:
                wire.send(Call("/v1/embeddings", {"input": ["x"]}, most_bytes=4 << 20), PATIENCE_S)
            assert time.monotonic() - started < SOON_S
        assert tracemalloc.get_traced_memory()[1] < 60 << 20
    finally:
        tracemalloc.stop()
    assert caught.value.trouble is trouble, caught.value.message


def test_a_slow_drip_ends_a_question_in_its_time(
    start: Callable[..., EmbeddingEngine],
) -> None:
    from seoga.contracts.deadline import within

    with server(drip(CHUNKED, b"1\r\n \r\n")) as url:
        engine, started = start(), time.monotonic()
        with pytest.raises(SeogaError), within(1):
            engine.embed_query("x", EmbeddingSpec("openai", MODEL, url))
        assert time.monotonic() - started < SOON_S


def vectors(*entries: tuple[Any, Any]) -> bytes:
    data = [{"index": index, "embedding": vector} for index, vector in entries]
    return json.dumps({"data": data}).encode()


def near(number: float) -> list[float]:
    """A vector that says which text it is of."""
    return [1.0, number, 0.0]


def assert_odd(error: EmbeddingFailed) -> None:
    assert error.fault is ProviderFault.BAD_OUTPUT, error.message


def embedded(engine: EmbeddingEngine, content: bytes, count: int = 3) -> list[Any]:
    with server(says(content)) as url:
        spec = EmbeddingSpec("openai", MODEL, url, dimension=3)
        return list(engine.embed_passages(passages(count), spec))


def test_vectors_in_another_order_stand_where_their_index_says(
    start: Callable[..., EmbeddingEngine],
) -> None:
    got = embedded(start(), vectors((2, near(2)), (0, near(0)), (1, near(1))))
    found = [round(float(one.vectors[0][1] / one.vectors[0][0])) for one in good(got)]
    assert found == [0, 1, 2]


@pytest.mark.parametrize(
    "content",
    [
        vectors((0, near(0)), (0, near(1)), (1, near(2))),
        vectors((0, near(0)), (1, near(1)), (3, near(2))),
        vectors((0, near(0)), (1, near(1)), (-1, near(2))),
        vectors((0, near(0)), (1, near(1)), ("2", near(2))),
        vectors((0, near(0)), (1, near(1)), (True, near(2))),
        vectors((0, near(0)), (1, near(1)), (2, [1.0, 2.0])),
        vectors((0, near(0)), (1, near(1)), (2, [1.0, 2.0, 3.0, 4.0])),
        vectors((0, near(0)), (1, near(1)), (2, "not base64!")),
        vectors((0, near(0)), (1, near(1)), (2, [[1.0], [2.0], [3.0]])),
        vectors((0, near(0)), (1, near(1)), (2, {"a": 1})),
        b'{"data": [1, 2, 3]}',
        b'{"data": null}',
        b'{"data": []}',
        b"[]",
        b"3",
    ],
)
def test_vectors_that_belong_to_nothing_are_of_no_passage(
    start: Callable[..., EmbeddingEngine], content: bytes
) -> None:
    try:
        got = embedded(start(), content)
    except EmbeddingFailed as error:
        assert_odd(error)
        return
    assert bad(got)
    for number, one in enumerate(got):
        if not isinstance(one, EmbeddingFailed):
            assert round(float(one.vectors[0][1] / one.vectors[0][0])) == number


@pytest.mark.parametrize("odd", ["NaN", "Infinity", "1e999", "null", '"x"', "0.0"])
def test_a_vector_with_what_is_no_number_costs_its_own_passage(
    start: Callable[..., EmbeddingEngine], odd: str
) -> None:
    content = vectors((0, near(0)), (1, near(1)), (2, [7.5, 7.5, 7.5])).replace(
        b"7.5", odd.encode()
    )
    try:
        got = embedded(start(), content)
    except EmbeddingFailed as error:
        assert_odd(error)
        return
    assert len(good(got)) == 2
    assert isinstance(got[2], EmbeddingFailed)


@pytest.mark.parametrize(
    ("told", "least", "most"),
    [
        ("604800", 604800, 604800),
        ("9" * 400, 10**6, float("inf")),
        ("-5", 0, 0),
        ("soon", None, None),
        ("", None, None),
        ("²", None, None),
        (format_datetime(datetime.now(UTC) + timedelta(hours=9), usegmt=True), 30000, 32401),
        (format_datetime(datetime.now(UTC) - timedelta(days=9), usegmt=True), 0, 0),
        ("Fri, 31 Feb 9999 99:99:99 GMT", None, None),
    ],
    ids=["week", "endless", "past", "words", "none", "superscript", "later", "before", "no date"],
)
def test_a_wait_is_read_in_all_its_forms(told: str, least: Any, most: Any) -> None:
    seconds = retry_after(Reply(429, {"retry-after": told}, ""))
    if least is None:
        assert seconds is None
    else:
        assert seconds is None or least <= seconds <= most


@pytest.mark.parametrize("told", ["604800", "9" * 400])
def test_a_wait_of_a_week_ends_the_run_at_once(
    start: Callable[..., EmbeddingEngine], told: str
) -> None:
    with server(says(b"{}", f"retry-after: {told}", status="429 X")) as url:
        started = time.monotonic()
        with pytest.raises(EmbeddingFailed) as caught:
            start().embed_passages(passages(3), EmbeddingSpec("openai", MODEL, url))
        assert caught.value.fault is ProviderFault.RATE
        assert time.monotonic() - started < SOON_S


def test_an_address_may_be_an_ipv6_literal(start: Callable[..., EmbeddingEngine]) -> None:
    with suppress(OSError), server(says(vectors((0, near(0)))), socket.AF_INET6) as url:
        spec = EmbeddingSpec("openai", MODEL, f"{url}/some/path/?a=b", dimension=3)
        assert len(good(list(start().embed_passages(passages(1), spec)))) == 1


@pytest.mark.parametrize(
    "url",
    ["http://[::1", "http://exa mple", "http://a\nb", "http://\x00", "http://한글.invalid:1/ü"],
)
def test_an_address_that_leads_nowhere_is_a_clear_error(
    start: Callable[..., EmbeddingEngine], url: str
) -> None:
    with pytest.raises(SeogaError) as caught:
        start().embed_query("x", EmbeddingSpec("openai", MODEL, url))
    assert caught.value.message
    assert "\x00" not in caught.value.message


def test_a_proxy_of_the_environment_is_not_asked_about_this_machine(
    start: Callable[..., EmbeddingEngine], monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy"):
        monkeypatch.setenv(name, "http://127.0.0.1:1")
    with server(says(vectors((0, near(0))))) as url:
        spec = EmbeddingSpec("openai", MODEL, url, dimension=3)
        assert len(good(list(start().embed_passages(passages(1), spec)))) == 1


def test_another_size_in_the_middle_of_a_run_is_never_stored(
    start: Callable[..., EmbeddingEngine],
) -> None:
    answers = iter(range(100))

    def talk(taken: socket.socket, over: threading.Event) -> None:
        size = 3 if next(answers) < 2 else 5
        says(vectors((0, [1.0] * size)))(taken, over)

    engine = start(provider_calls=1)
    with server(talk) as url:
        spec = EmbeddingSpec("openai", MODEL, url, dimension=3, batch_size=1)
        got = list(engine.embed_passages(passages(6), spec))
    assert len(good(got)) == 2
    assert all(one.vectors.shape == (1, 3) for one in good(got))
    assert all("5 numbers where 3" in one.message for one in bad(got))


@pytest.mark.parametrize("count", [0, 1])
def test_nothing_and_one_passage_are_fine(
    start: Callable[..., EmbeddingEngine], count: int
) -> None:
    with server(says(vectors((0, near(0))))) as url:
        spec = EmbeddingSpec("openai", MODEL, url, dimension=3)
        assert len(start().embed_passages(passages(count), spec)) == count
