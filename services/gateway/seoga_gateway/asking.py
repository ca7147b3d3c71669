"""Asks the person behind a search for a key that is missing or refused, where the client can.

Each question is a resolver of the SDK: it runs before the tool, and again in each round of a call.
What was answered travels sealed (AES-GCM) between the rounds and is remembered by nobody but the
gateway, for its caller.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Any

from mcp.server.elicitation import AcceptedElicitation, ElicitationResult
from mcp.server.mcpserver import Context
from mcp.server.mcpserver.resolve import Elicit, Resolve
from mcp_types.version import is_version_at_least
from pydantic import BaseModel, ConfigDict, Field, field_validator

from seoga_gateway.keyring import caller_of
from seoga_gateway.library import KeyNeed, Library

# From here on questions travel in results; before, a stream in the other direction must be open.
_ROUNDS = "2026-07-28"

Asking = Context[Library, Any]


class ApiKey(BaseModel):
    """The answer. Whatever comes is a key or none: an error would repeat what was typed."""

    model_config = ConfigDict(hide_input_in_errors=True)

    api_key: str = Field("", title="API key", description="Used for your searches, never stored.")

    @field_validator("api_key", mode="before")
    @classmethod
    def _text(cls, value: object) -> str:
        return value.strip()[:4096] if isinstance(value, str) else ""


Given = ElicitationResult[ApiKey]


@dataclass(frozen=True, slots=True)
class Wanted:
    """What is searched for, as far as keys depend on it."""

    query: str
    kb_id: str | None
    mode: str


def wanted(query: str, kb_id: str | None, search_mode: str) -> Wanted:
    """From the tool's arguments of these names."""
    return Wanted(query, kb_id, search_mode)


Search = Annotated[Wanted, Resolve(wanted)]


def ask_first(call: Asking, search: Search) -> Elicit[ApiKey] | None:
    """Asks for a key that is not there."""
    need = _need(call, search, {})
    if need is None or need.refused:
        return None
    return Elicit(f"Searching by meaning needs {_named(need)}. Without it, words only.", ApiKey)


First = Annotated[Given, Resolve(ask_first)]


def ask_again(call: Asking, search: Search, first: First) -> Elicit[ApiKey] | None:
    """Asks once more when the key that is there, or was given, is refused."""
    return _after(call, search, first, "Is it the right one?")


Again = Annotated[Given, Resolve(ask_again)]


def ask_last(call: Asking, search: Search, again: Again) -> Elicit[ApiKey] | None:
    """The last time."""
    return _after(call, search, again, "This is the last try.") if _key(again) else None


Last = Annotated[Given, Resolve(ask_last)]


def lent(call: Asking, search: Search, first: First, again: Again, last: Last) -> Mapping[str, str]:
    """What this search may use: keys that its caller gave now or before."""
    ring, caller = _library(call).keyring, caller_of(call.headers)
    key = next(filter(None, map(_key, (last, again, first))), "")
    need = _need(call, search, {}) if key else None
    if need is None:
        return ring.of(caller)
    keys = {need.variable: key}
    if _need(call, search, keys) is None:
        ring.keep(caller, keys)
    return {**ring.of(caller), **keys}


def _after(call: Asking, search: Wanted, given: Given, words: str) -> Elicit[ApiKey] | None:
    need = _need(call, search, {})
    if need is None or _declined(given):
        return None
    if key := _key(given):
        need = _need(call, search, {need.variable: key})
    if need is None or not need.refused:
        return None
    return Elicit(f"The provider refused {_named(need)}. {words}", ApiKey)


def _need(call: Asking, search: Wanted, keys: Mapping[str, str]) -> KeyNeed | None:
    """Which key a search lacks; None where it needs none, or nobody can be asked."""
    if search.mode == "bm25" or not _can_answer(call):
        return None
    library, caller = _library(call), caller_of(call.headers)
    known = library.keyring.of(caller)
    need = library.key_need(search.kb_id, search.query, {**known, **keys})
    if need is not None and need.refused and need.variable in known and not keys:
        library.keyring.forget(caller, need.variable)
    return need


def _can_answer(call: Asking) -> bool:
    able = call.client_capabilities
    if able is None or able.elicitation is None:
        return False
    if able.elicitation.form is None and able.elicitation.url is not None:
        return False
    version = call.protocol_version
    rounds = version is not None and is_version_at_least(version, _ROUNDS)
    return rounds or call.session.can_send_request


def _named(need: KeyNeed) -> str:
    return f"an API key ({need.variable}) for the knowledge base {need.kb_name!r}"


def _key(given: Given) -> str:
    data = given.data if isinstance(given, AcceptedElicitation) else None
    return data.api_key if isinstance(data, ApiKey) else ""


def _declined(given: Given) -> bool:
    """Asked and not answered; a resolver that did not ask gives no ApiKey."""
    if not isinstance(given, AcceptedElicitation):
        return True
    return isinstance(given.data, ApiKey) and not given.data.api_key


def _library(call: Asking) -> Library:
    return call.request_context.lifespan_context


Keys = Annotated[Mapping[str, str], Resolve(lent)]
