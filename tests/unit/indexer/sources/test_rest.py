"""Asking a server: what is tried again and for how long, what ends it, and where a key may go."""

from __future__ import annotations

import gzip
import io
import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from typing import Any

import pytest
from fake_server import Reply, Request, Scripted

from seoga.errors import ExtractionFailed, Reason
from seoga_indexer.source import SourceUnavailable
from seoga_indexer.sources._login import Login, Refused
from seoga_indexer.sources._rest import Denied, Missing, Rest

LOGIN = Login("wiki", "me", "s3cret-key", "Wiki")
GOOD = Reply({"fine": True})


@pytest.fixture
def serve() -> Iterator[Callable[..., Scripted]]:
    """Servers that give these replies in turn, the last one for ever."""
    with ExitStack() as opened:

        def start(*replies: Reply | Callable[[Request], Reply]) -> Scripted:
            left = list(replies)

            def says(request: Request) -> Reply:
                now = left.pop(0) if len(left) > 1 else left[0]
                return now(request) if callable(now) else now

            return opened.enter_context(closing(Scripted(says)))

        yield start


@pytest.fixture
def rest_of() -> Iterator[Callable[..., Rest]]:
    """Makes a Rest and closes it at the end."""
    with ExitStack() as opened:

        def make(*given: Any) -> Rest:
            return opened.enter_context(closing(Rest(*given)))

        yield make


class Pauses(list[float]):
    """Waits that take no time."""

    def __call__(self, seconds: float) -> bool:
        self.append(seconds)
        return False


def test_what_a_server_cannot_answer_now_is_asked_again(serve: Any, rest_of: Any) -> None:
    server = serve(Reply({}, 503), Reply({"cut": "off" * 99}, cut=9), Reply(b"", 502), GOOD)
    pauses = Pauses()
    assert rest_of(server.url, LOGIN, pauses).json("/x") == {"fine": True}
    assert len(pauses) == 3
    assert all(0.5 <= wait <= 60 for wait in pauses)
    assert pauses[2] >= 2.0


@pytest.mark.parametrize("form", ["seconds", "date"])
def test_a_rate_limit_waits_as_long_as_it_is_told(serve: Any, form: str, rest_of: Any) -> None:
    then = datetime.now(UTC) + timedelta(seconds=20)
    told = "20" if form == "seconds" else format_datetime(then, usegmt=True)
    server = serve(Reply({}, 429, {"Retry-After": told}), GOOD)
    pauses = Pauses()
    assert rest_of(server.url, LOGIN, pauses).json("/x")
    assert 15 <= pauses[0] <= 21


def test_a_wait_that_is_too_long_is_left_to_the_next_run(serve: Any, rest_of: Any) -> None:
    server = serve(Reply({}, 429, {"Retry-After": "86400"}))
    pauses = Pauses()
    with pytest.raises(SourceUnavailable, match="HTTP 429, and asks to wait 864"):
        rest_of(server.url, LOGIN, pauses).json("/x")
    assert pauses == []


def test_all_waits_of_a_run_together_are_bounded(serve: Any, rest_of: Any) -> None:
    server = serve(Reply({}, 429, {"Retry-After": "250"}))
    pauses = Pauses()
    rest = rest_of(server.url, LOGIN, pauses)
    for _ in range(5):
        with pytest.raises(SourceUnavailable):
            rest.json("/x")
    assert sum(pauses) <= 900


def test_a_dead_server_is_given_up_after_a_few_calls(free_port: int, rest_of: Any) -> None:
    pauses = Pauses()
    rest = rest_of(f"http://127.0.0.1:{free_port}", LOGIN, pauses)
    for _ in range(20):
        with pytest.raises(SourceUnavailable, match="ConnectError"):
            rest.json("/x")
    assert len(pauses) == 3 * 4


def test_errors_over_single_pages_do_not_give_the_server_up(serve: Any, rest_of: Any) -> None:
    server = serve(lambda request: GOOD if request.path == "/good" else Reply({}, 500))
    rest = rest_of(server.url, LOGIN, Pauses())
    for _ in range(5):
        with pytest.raises(SourceUnavailable, match="HTTP 500"):
            rest.json("/bad")
    assert len(server.seen) == 5 * 3
    assert rest.json("/good") == {"fine": True}


def test_a_refused_key_is_named_and_not_tried_again(serve: Any, rest_of: Any) -> None:
    server = serve(Reply({"message": "bad s3cret-key"}, 401))
    rest = rest_of(server.url, LOGIN, Pauses())
    for _ in range(3):
        with pytest.raises(Refused) as caught:
            rest.json("/x")
        said = caught.value.message + caught.value.hint
        assert "'Wiki' (WIKI_API_KEY)" in said
        assert "'wiki'" in said
        assert "s3cret-key" not in said
    assert len(server.seen) == 1


@pytest.mark.parametrize(
    "headers",
    [
        {"X-AUSERNAME": "anonymous"},
        {"X-Seraph-LoginReason": "AUTHENTICATED_FAILED"},
        {"X-Seraph-LoginReason": "AUTHENTICATION_DENIED"},
    ],
)
def test_an_answer_for_anonymous_is_a_refusal_where_a_key_was_sent(
    serve: Any, headers: dict[str, str], rest_of: Any
) -> None:
    server = serve(Reply({"results": []}, 200, headers))
    with pytest.raises(Refused, match="anonymous"):
        rest_of(server.url, LOGIN, Pauses()).json("/x")
    assert rest_of(server.url, Login("wiki"), Pauses()).json("/x") == {"results": []}


def test_a_refusal_without_a_key_says_that_one_is_wanted(serve: Any, rest_of: Any) -> None:
    with pytest.raises(Refused, match="wants a login") as caught:
        rest_of(serve(Reply({}, 401)).url, Login("wiki"), Pauses()).json("/x")
    assert "apiKeyPreset" in caught.value.hint


@pytest.mark.parametrize(
    ("status", "kind"), [(403, Denied), (404, Missing), (410, Missing), (400, SourceUnavailable)]
)
def test_a_definite_answer_is_told_in_the_words_of_the_server(
    serve: Any, status: int, kind: type[Exception], rest_of: Any
) -> None:
    body = {"errorMessages": ["no\nsuch thing"], "errors": {"jql": "s3cret-key is bad"}}
    server = serve(Reply(body, status))
    with pytest.raises(kind, match=r"no such thing \*\*\* is bad"):
        rest_of(server.url, LOGIN, Pauses()).json("/x")
    assert len(server.seen) == 1


def test_a_login_page_is_no_answer(serve: Any, rest_of: Any) -> None:
    with pytest.raises(SourceUnavailable, match="text/html instead of JSON") as caught:
        rest_of(serve(Reply("<html>log in</html>")).url, LOGIN, Pauses()).json("/x")
    assert "baseUrl" in caught.value.hint
    with pytest.raises(SourceUnavailable, match="no object"):
        rest_of(serve(Reply([1])).url, LOGIN, Pauses()).json("/x")


def test_a_redirect_of_a_question_to_another_host_is_refused(serve: Any, rest_of: Any) -> None:
    thief = serve(GOOD)
    server = serve(Reply({}, 302, {"Location": f"{thief.url}/x"}))
    with pytest.raises(SourceUnavailable, match="redirects to http://127"):
        rest_of(server.url, LOGIN, Pauses()).json("/x")
    assert thief.seen == []


def test_a_redirect_on_the_same_server_keeps_the_key(serve: Any, rest_of: Any) -> None:
    server = serve(Reply({}, 301, {"Location": "/y?z=1"}), GOOD)
    assert rest_of(server.url, LOGIN, Pauses()).json("/x", {"a": "b"}) == {"fine": True}
    assert server.seen[1].path == "/y"
    assert server.seen[1].params == {"z": "1"}
    assert server.seen[1].headers["authorization"].startswith("Basic ")


def test_redirects_in_a_circle_end(serve: Any, rest_of: Any) -> None:
    with pytest.raises(SourceUnavailable, match="circle"):
        rest_of(serve(Reply({}, 302, {"Location": "/x"})).url, LOGIN, Pauses()).json("/x")


def test_a_file_may_lie_elsewhere_and_the_key_stays_here(serve: Any, rest_of: Any) -> None:
    store = serve(Reply(b"content"))
    server = serve(Reply({}, 302, {"Location": f"{store.url}/signed"}))
    to = io.BytesIO()
    rest_of(server.url, LOGIN, Pauses()).file("/download/a", to, 100)
    assert to.getvalue() == b"content"
    assert "authorization" in server.seen[0].headers
    assert "authorization" not in store.seen[0].headers


def test_a_file_over_the_limit_is_not_read_to_its_end(serve: Any, rest_of: Any) -> None:
    server = serve(Reply(bytes(5 << 20)))
    with pytest.raises(ExtractionFailed) as caught:
        rest_of(server.url, LOGIN, Pauses()).file("/a", io.BytesIO(), 1 << 20)
    assert caught.value.reason is Reason.TOO_LARGE


def test_a_file_that_is_cut_is_fetched_again_from_its_start(serve: Any, rest_of: Any) -> None:
    server = serve(Reply(b"0123456789", cut=4), Reply(b"0123456789"))
    to = io.BytesIO()
    rest_of(server.url, LOGIN, Pauses()).file("/a", to, 100)
    assert to.getvalue() == b"0123456789"


def test_an_answer_that_inflates_without_end_is_stopped(
    serve: Any, monkeypatch: pytest.MonkeyPatch, rest_of: Any
) -> None:
    monkeypatch.setattr("seoga_indexer.sources._rest._JSON_BYTES", 1 << 20)
    bomb = gzip.compress(b'{"a":"' + b"0" * (8 << 20) + b'"}')
    headers = {"Content-Encoding": "gzip", "Content-Type": "application/json"}
    with pytest.raises(SourceUnavailable, match="more than"):
        rest_of(serve(Reply(bomb, 200, headers)).url, LOGIN, Pauses()).json("/x")


def test_closing_ends_a_wait(serve: Any, rest_of: Any) -> None:
    server = serve(Reply({}, 429, {"Retry-After": "200"}))
    rest = rest_of(server.url, LOGIN)
    raised: list[SourceUnavailable] = []

    def ask() -> None:
        try:
            rest.json("/x")
        except SourceUnavailable as error:
            raised.append(error)

    thread = threading.Thread(target=ask)
    thread.start()
    while not server.seen:
        thread.join(0.01)
    rest.close()
    thread.join(20)
    assert not thread.is_alive()
    assert raised


def test_a_login_never_shows_its_key() -> None:
    assert "s3cret" not in repr(LOGIN)
    assert LOGIN.redacted(f"a {LOGIN.basic} b {LOGIN.key}") == "a *** b ***"
    assert LOGIN.redacted(f"a {LOGIN.basic[:12]} b") == "a … b"
