"""REST over HTTPS for connectors: bounded retries and sizes, and a key that never changes host."""

from __future__ import annotations

import json
import re
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from functools import cached_property
from random import SystemRandom
from typing import TYPE_CHECKING, Any, BinaryIO, TypeVar
from urllib.parse import urljoin, urlsplit

from seoga import logs
from seoga.errors import ExtractionFailed, Reason
from seoga_indexer.source import SourceUnavailable
from seoga_indexer.sources._answers import AGAIN, Again, in_pieces, message_of, wait_of
from seoga_indexer.sources._login import Login, Refused

if TYPE_CHECKING:
    import httpx

T = TypeVar("T")

_TRIES = 5
_FIRST_WAIT_S, _LONGEST_WAIT_S = 0.5, 60.0
# A server that asks for more than this is asked again by the next run, not by this one.
_MOST_TOLD_S, _MOST_WAITED_S = 300.0, 900.0
_JSON_BYTES, _JSON_S, _FILE_S = 64 << 20, 300.0, 3600.0
_HOPS = 4
# So many calls in a row without an answer, after all their tries, end the asking.
_DEAD_AFTER = 3
# An error over one page is that page's own more often than the server's.
_TRIES_OF_ONE = 3
_ANONYMOUS = re.compile(r"AUTHENTICATED_FAILED|AUTHENTICATION_DENIED")
_random = SystemRandom()

log = logs.get("indexer")


class Missing(SourceUnavailable):
    """There is no such thing (any more), or this key must not know of it."""


class Denied(SourceUnavailable):
    """The key is good, and may not read this."""


class Rest:
    """One server at `base` (a path prefix is kept), asked as `login`. Thread-safe.

    `pause(seconds)` waits and says whether the connector was closed meanwhile.
    """

    def __init__(
        self, base: str, login: Login, pause: Callable[[float], bool] | None = None
    ) -> None:
        self.base = base.rstrip("/")
        self._login = login
        self._stop = threading.Event()
        self._pause = self._stop.wait if pause is None else pause
        self._waited = 0.0
        self._failed = 0
        self._end: SourceUnavailable | None = None
        if login.key and self._bare():
            log.warning("a key is sent without encryption: use https", server=self.host)

    def _bare(self) -> bool:
        parts = urlsplit(self.base)
        return parts.scheme == "http" and parts.hostname not in ("127.0.0.1", "localhost", "::1")

    @cached_property
    def _client(self) -> httpx.Client:
        import httpx

        from seoga.contracts.network import trusted

        timeout = httpx.Timeout(connect=10.0, read=60.0, write=60.0, pool=60.0)
        return httpx.Client(verify=trusted(), timeout=timeout)

    def json(
        self, path: str, params: Mapping[str, str] | None = None, body: Any = None
    ) -> dict[str, Any]:
        """The object that a GET (with a `body`, a POST) answers.

        Raises Refused, Denied, Missing, and SourceUnavailable for all that lasts through the tries.
        """
        return self._tried(lambda: self._json(path, params, body))

    def file(self, url: str, to: BinaryIO, most: int) -> None:
        """Copies what lies at a URL (absolute, or below the server) into a file.

        Raises like `json`, and ExtractionFailed (too_large) above `most` bytes.
        """

        def once() -> None:
            to.seek(0)
            to.truncate()
            with self._sent("GET", url, away=True) as response:
                for piece in in_pieces(response, _FILE_S, self._stop):
                    if to.tell() + len(piece) > most:
                        raise ExtractionFailed(
                            f"larger than {most >> 20} MiB", reason=Reason.TOO_LARGE
                        )
                    to.write(piece)

        self._tried(once)

    def _json(self, path: str, params: Mapping[str, str] | None, body: Any) -> dict[str, Any]:
        method = "GET" if body is None else "POST"
        with self._sent(method, path, params=params, json=body) as response:
            held = bytearray()
            for piece in in_pieces(response, _JSON_S, self._stop):
                held += piece
                if len(held) > _JSON_BYTES:
                    raise SourceUnavailable(
                        f"{self.host} answers more than {_JSON_BYTES >> 20} MiB to one question"
                    )
            kind = response.headers.get("content-type", "")
        if "json" not in kind:
            raise SourceUnavailable(
                f"{self.host} answers {path} with {kind or 'something'} instead of JSON",
                "Is baseUrl right, and does no login page stand before it?",
            )
        try:
            answer = json.loads(held)
        except ValueError as error:
            raise Again("its answer is cut off or no JSON", silent=False) from error
        if not isinstance(answer, dict):
            raise SourceUnavailable(f"{self.host} answers {path} with no object")
        return answer

    @property
    def host(self) -> str:
        """The server as errors name it."""
        parts = urlsplit(self.base)
        return f"{parts.scheme}://{parts.netloc}"

    def _tried(self, ask: Callable[[], T]) -> T:
        for number in range(1, _TRIES + 1):
            if self._end is not None:
                raise self._end
            try:
                answer = ask()
            except Again as error:
                self._wait(number, error)
            except Refused as error:
                # Every further call would be refused as well, and may lock the account.
                self._end = error
                raise
            else:
                self._failed = 0
                return answer
        raise AssertionError("the last try raises")

    def _wait(self, number: int, error: Again) -> None:
        """Before the next try; raises SourceUnavailable where there is none."""
        why = self._login.redacted(str(error))
        backoff = min(_LONGEST_WAIT_S, _FIRST_WAIT_S * 2**number) * _random.uniform(0.5, 1.0)
        wait = backoff if error.wait is None else error.wait + _random.uniform(0.0, 0.5)
        if wait > _MOST_TOLD_S or self._waited + wait > _MOST_WAITED_S:
            raise self._given_up(f"{why}, and asks to wait {wait:.0f} s")
        if number == (_TRIES if error.silent else _TRIES_OF_ONE):
            raise self._given_up(why, error.silent)
        self._waited += wait
        if self._pause(wait):
            raise self._given_up("stopped")

    def _given_up(self, why: str, silent: bool = True) -> SourceUnavailable:
        error = SourceUnavailable(
            f"{self.host} does not answer as it should: {why}",
            "What is indexed stays as it is; the next run asks again.",
        )
        self._failed += silent
        if self._failed >= _DEAD_AFTER or self._stop.is_set():
            self._end = error
        return error

    @contextmanager
    def _sent(
        self, method: str, url: str, away: bool = False, **options: Any
    ) -> Iterator[httpx.Response]:
        """A good answer, redirects followed; `away`: to another server too, without the key."""
        import httpx

        target = urljoin(self.host, url) if url.startswith("/") else url
        if url.startswith("/") and not url.startswith("//"):
            target = self.base + url
        try:
            for _ in range(_HOPS):
                with self._client.stream(
                    method, target, headers=self._headers(target), **options
                ) as response:
                    if not response.is_redirect:
                        self._check(response)
                        yield response
                        return
                    target = self._redirected(target, response, away)
                    options.pop("params", None)
        except httpx.TransportError as error:
            raise Again(f"{type(error).__name__} {error}".strip()[:200]) from error
        except (httpx.HTTPError, httpx.InvalidURL) as error:
            raise SourceUnavailable(f"{self.host} cannot be asked: {error}") from error
        raise SourceUnavailable(f"{self.host} redirects in a circle")

    def _headers(self, target: str) -> dict[str, str]:
        headers = {"Accept": "application/json, */*;q=0.5", "User-Agent": "seoga"}
        if self._login.key and self._own(target):
            # Cloud and passwords: user and key; Data Center's access tokens: the key alone.
            scheme = (
                f"Basic {self._login.basic}" if self._login.user else f"Bearer {self._login.key}"
            )
            headers["Authorization"] = scheme
        return headers

    def _own(self, target: str) -> bool:
        """Whether the key may go there: our server, or the same one on its TLS port."""
        ours, theirs = urlsplit(self.base), urlsplit(target)
        if (ours.scheme, ours.netloc) == (theirs.scheme, theirs.netloc):
            return True
        upgraded = ours.scheme == "http" and theirs.scheme == "https"
        return upgraded and ours.hostname == theirs.hostname and theirs.port in (None, 443)

    def _redirected(self, target: str, response: httpx.Response, away: bool) -> str:
        then = urljoin(target, response.headers["location"])
        there = urlsplit(then)
        if self._own(then):
            return then
        safe = there.scheme == "https" or urlsplit(target).scheme == "http" == there.scheme
        if away and safe and not there.username:
            return then
        raise SourceUnavailable(
            f"{self.host} redirects to {there.scheme}://{there.hostname}, which gets no key",
            "If the server has moved, put the new address into baseUrl.",
        )

    def _check(self, response: httpx.Response) -> None:
        status = response.status_code
        said = response.headers.get("x-seraph-loginreason", "")
        anonymous = response.headers.get("x-ausername") == "anonymous" or _ANONYMOUS.search(said)
        if self._own(str(response.url)):
            if status == 401:
                raise self._login.refused(self.host, "HTTP 401")
            if self._login.key and anonymous:
                # These servers then answer as to anybody: as if all private pages were gone.
                raise self._login.refused(self.host, "it takes the caller for anonymous")
        if status < 400:
            return
        if status in AGAIN:
            told = wait_of(response.headers.get("retry-after", ""))
            raise Again(f"HTTP {status}", told, silent=status != 500)
        raise self._fault(status, response)

    def _fault(self, status: int, response: httpx.Response) -> SourceUnavailable:
        said = self._login.redacted(message_of(response, self._stop))
        text = f"{self.host} answers HTTP {status}{': ' * bool(said)}{said}"
        if status == 403:
            denied = self._login.refused(self.host, text.removeprefix(f"{self.host} answers "))
            return Denied(denied.message, denied.hint)
        if status in (404, 410):
            return Missing(text, "Are baseUrl and what is asked for right, and may the key see it?")
        return SourceUnavailable(text, "Is what the config asks for right?")

    def close(self) -> None:
        """Ends waiting and asking."""
        self._stop.set()
        self._end = self._end or SourceUnavailable("stopped")
        if "_client" in self.__dict__:
            self._client.close()
