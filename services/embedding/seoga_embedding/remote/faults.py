"""What a provider's error means, and what may be said of it: keys never leave this module."""

from __future__ import annotations

import json
import re
import time
from collections.abc import Mapping
from dataclasses import dataclass
from email.utils import parsedate_to_datetime
from enum import StrEnum
from typing import Any, Final

from seoga.errors import EmbeddingFailed, MissingDependency, ProviderFault, SeogaError
from seoga.text.secrets import without


class Trouble(StrEnum):
    """Classes of a failed call; each is handled its own way."""

    AUTH = "auth"  # the key is refused: no further call with it
    RATE = "rate"  # too fast: wait as told
    QUOTA = "quota"  # used up: waiting does not help
    OUTAGE = "outage"  # no answer, or the provider's own fault: a few tries
    INPUT = "input"  # a text is refused: narrow down to it
    SIZE = "size"  # the request as a whole is too large: halve it
    MODEL = "model"  # there is no such model
    TLS = "tls"  # its certificate is not trusted: no call until that can have changed
    REQUEST = "request"  # a parameter is refused: the same for every text
    OUTPUT = "output"  # an answer that cannot be used


_FAULTS: Final = {
    Trouble.AUTH: ProviderFault.AUTH,
    Trouble.RATE: ProviderFault.RATE,
    Trouble.QUOTA: ProviderFault.RATE,
    Trouble.OUTAGE: ProviderFault.OUTAGE,
    Trouble.TLS: ProviderFault.OUTAGE,
    Trouble.INPUT: ProviderFault.REJECTED,
    Trouble.SIZE: ProviderFault.REJECTED,
    Trouble.REQUEST: ProviderFault.REJECTED,
    Trouble.OUTPUT: ProviderFault.BAD_OUTPUT,
}


class CallFailed(Exception):
    """One call failed. `wait_s` is what the provider asks to wait, `at` which text it names."""

    def __init__(
        self,
        trouble: Trouble,
        message: str,
        hint: str = "",
        *,
        wait_s: float | None = None,
        at: int | None = None,
    ) -> None:
        # What a provider says is shown and stored: half a character could be neither.
        message = message.encode("utf-8", "replace").decode("utf-8")
        super().__init__(message)
        self.trouble, self.message, self.hint = trouble, message, hint
        self.wait_s, self.at = wait_s, at
        self.key_name = self.provider = ""
        # A page that says "forbidden": a firewall's, it may be, about what is sent.
        self.page = False

    def error(self) -> SeogaError:
        """The same as it leaves the service."""
        if self.trouble is Trouble.MODEL:
            return MissingDependency(self.message, self.hint)
        error = EmbeddingFailed(self.message, self.hint, fault=_FAULTS[self.trouble])
        if self.trouble is Trouble.AUTH:
            error.about_key(self.key_name, refused=True)
        return error

    def refused(self) -> EmbeddingFailed:
        """The same as the error of one passage."""
        return EmbeddingFailed(self.message, self.hint, fault=ProviderFault.REJECTED)


class Late(CallFailed):
    """No answer in time: it may have been too much at once."""


class NotMade(CallFailed):
    """A call that was not even made: there is no point in trying it again now."""


class LeftAlone(NotMade):
    """Not made because others failed: whether that was for what they asked, another may show."""


@dataclass(frozen=True, slots=True)
class Reply:
    """A response that is an error, whatever its status says."""

    status: int
    headers: Mapping[str, str]
    text: str
    code: str = ""
    message: str = ""


_KEYS = re.compile(
    r"(?i)(?:bearer\s+|\b(?:sk|gsk|pk|key|xai|hf)[-_]|AIza)[A-Za-z0-9_\-*.]{6,}|[A-Za-z0-9+/_-]{32,}"
)
_LOOKED_AT: Final = 4000
_QUOTA = re.compile(r"(?i)insufficient_quota|billing|credit|spend_limit|quota_exceeded|payment")
_AUTH = re.compile(
    r"(?i)api[ _-]?key[ _](?:not|in)[ _]?valid|invalid[ _]api[ _]key|api_key_invalid"
)
_RATE = re.compile(r"(?i)rate[ _-]?limit|resource_exhausted|too many requests|overloaded")
_MEMORY = re.compile(r"(?i)out of memory|failed to allocate|cudamalloc|\boom\b")
_SIZE = re.compile(
    r"(?i)per request|batch[ _]?size|too many (?:inputs|items|texts|requests in)|"
    r"(?:array|list|inputs?|batch|requests) (?:is |are )?(?:too (?:large|long)|(?:must|should|can)"
    r"[^.]{0,40}(?:at most|no more|larger than|up to))|at most \d+ (?:inputs|items|texts|requests)|"
    r"payload too large|request (?:entity )?too large"
)
_INPUT = re.compile(
    r"(?i)context (?:length|size|window)|max\w* (?:\w+ ){0,3}tokens|tokens? (?:limit|exceed)|"
    r"(?:input|text|prompt|string|content|sequence)\w* (?:\S+ ){0,4}(?:too long|exceed|"
    r"invalid|empty|larger|length)|too (?:long|many tokens)|\$\.input|input\[\d+\]|'input'|"
    r"unsupported value: nan|exceeds? the (?:available|maximum)|content_filter|invalid input"
)
_PARAMETER = re.compile(
    r"(?i)dimension|encoding_format|api[- ]?version|unknown (?:name|field|parameter)|"
    r"unrecognized|unsupported parameter|does not support|task_?type|not support"
)
_MODEL = re.compile(r"(?i)model[^.]{0,80}(?:not found|does not exist|not exist|unknown)|deployment")
_PAGE = re.compile(r"\s*<(?:!doctype|html|head|title|body)\b", re.I)
_AT = re.compile(r"(?:input|requests|inputs)(?:\[|/|\.)(\d+)")


def failure(reply: Reply, key: str) -> CallFailed:
    """What a reply means. The message names the status and, without any key, what was said."""
    trouble = _trouble(reply)
    said = "" if trouble is Trouble.AUTH else safe(reply.message or reply.text, key)
    name = f"HTTP {reply.status}" + (f" {safe(reply.code, key)}" if reply.code else "")
    at = _AT.search(reply.message or reply.text) if trouble is Trouble.INPUT else None
    failed = CallFailed(
        trouble,
        f"answered {name}" + (f": {said}" if said else ""),
        _HINTS.get(trouble, ""),
        wait_s=retry_after(reply) if trouble in (Trouble.RATE, Trouble.OUTAGE) else None,
        at=int(at.group(1)) if at else None,
    )
    failed.page = reply.status == 403 and _PAGE.match(reply.text) is not None
    return failed


_HINTS: Final = {
    Trouble.AUTH: "Check the key in the environment of the embedding service.",
    Trouble.QUOTA: "The provider's quota or credit is used up; runs go on when there is more.",
    Trouble.REQUEST: "Check embedding.model, dimension and baseUrl.",
}


def _trouble(reply: Reply) -> Trouble:
    """By status first; where a status says too little, by the words of the body."""
    said = f"{reply.code} {reply.message or reply.text}"
    status = _status_inside(reply)
    if status in (401, 403) or _AUTH.search(said):
        return Trouble.AUTH
    if status in (402, 429):
        return Trouble.QUOTA if status == 402 or _QUOTA.search(said) else Trouble.RATE
    if status == 404:
        return Trouble.MODEL
    if status == 413 or _MEMORY.search(said):
        return Trouble.SIZE
    if status >= 500 or status in (408, 409, 425):
        # Ollama reports texts it cannot take as its own fault.
        return Trouble.INPUT if _INPUT.search(said) else Trouble.OUTAGE
    return _trouble_of_words(said)


def _trouble_of_words(said: str) -> Trouble:
    """The sense of a 400 or 422."""
    if _RATE.search(said):
        return Trouble.RATE
    for pattern, trouble in (
        (_SIZE, Trouble.SIZE),
        (_INPUT, Trouble.INPUT),
        (_MODEL, Trouble.MODEL),
        (_PARAMETER, Trouble.REQUEST),
    ):
        if pattern.search(said):
            return trouble
    return Trouble.INPUT


def _status_inside(reply: Reply) -> int:
    """The status, or what an error body under HTTP 200 says instead."""
    if reply.status >= 400:
        return reply.status
    if reply.code.isdigit():
        return int(reply.code)
    return 429 if _RATE.search(f"{reply.code} {reply.message}") else 400


def reply_of(status: int, headers: Mapping[str, str], text: str) -> Reply:
    """A response taken apart: OpenAI's, Azure's, Gemini's and Anthropic's `error` objects, and the
    bare texts of Ollama and TEI."""
    try:
        body = json.loads(text)
    except (ValueError, RecursionError):
        return Reply(status, headers, text)
    found = body.get("error", body) if isinstance(body, dict) else body
    if isinstance(found, dict):
        code = found.get("status") or found.get("code") or found.get("type") or ""
        inside = found.get("code") if status < 400 and isinstance(found.get("code"), int) else code
        message = found.get("message") or found.get("error") or text
        return Reply(status, headers, text, str(inside)[:80], str(message))
    return Reply(status, headers, text, "", str(found))


def is_error(body: Any) -> bool:
    """True for an error body under HTTP 200."""
    return isinstance(body, dict) and bool(body.get("error"))


def retry_after(reply: Reply) -> float | None:
    """Seconds that `Retry-After` (a number or a date) or its relatives ask for; None without."""
    milliseconds = reply.headers.get("retry-after-ms", "")
    if _is_number(milliseconds):
        return float(milliseconds) / 1000
    value = reply.headers.get("retry-after", "").strip()
    if _is_number(value):
        return float(value)
    try:
        return max(0.0, parsedate_to_datetime(value).timestamp() - time.time())
    except (TypeError, ValueError):
        # Gemini says it in the body: "retryDelay": "13s".
        delay = re.search(r'"retryDelay":\s*"(\d+(?:\.\d+)?)s"', reply.text)
        return float(delay.group(1)) if delay else None


def _is_number(value: str) -> bool:
    """Python also takes a superscript for a digit, and no number of it."""
    return value.isascii() and value.replace(".", "", 1).isdigit()


def safe(text: str, key: str) -> str:
    """At most 200 characters of what a provider said, one line, without anything like a key."""
    # Far more than is shown: looking for a key takes its time.
    text = " ".join(text.split())[:_LOOKED_AT]
    if key:
        text = text.replace(key, "…")
    words = " ".join(without(_KEYS.sub("…", text), key).split())
    return words if len(words) <= 200 else words[:200] + "…"
