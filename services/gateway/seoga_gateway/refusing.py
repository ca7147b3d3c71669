"""What is no request of MCP gets an answer, too: the SDK drops it over stdio, and takes a request
whose id it does not like for a notification."""

from __future__ import annotations

from typing import Any, Final

from mcp_types import ErrorData, JSONRPCError
from mcp_types.jsonrpc import INVALID_PARAMS, INVALID_REQUEST, PARSE_ERROR
from pydantic_core import from_json

_ANSWERS: Final = frozenset(("result", "error"))


def refusal(body: bytes) -> JSONRPCError | None:
    """The error that answers a message which is no request, notification or answer; None for one
    that is. It has the id of the request where that could be read."""
    try:
        message = from_json(body)
    except ValueError as error:
        return _error(PARSE_ERROR, f"The message is not JSON: {error}"[:200])
    if not isinstance(message, dict):
        return _error(INVALID_REQUEST, "A message is one JSON object.")
    if "method" not in message and _ANSWERS & message.keys():
        return None
    return _fault(message)


def _fault(message: dict[str, Any]) -> JSONRPCError | None:
    given = message.get("id", 0)
    if isinstance(given, bool) or not isinstance(given, int | str):
        return _error(INVALID_REQUEST, "The id of a request is a whole number or a text.")
    known = message.get("id")
    if message.get("jsonrpc") != "2.0":
        return _error(INVALID_REQUEST, 'A message has "jsonrpc": "2.0".', known)
    if not isinstance(message.get("method"), str):
        return _error(INVALID_REQUEST, "The method of a request is a text.", known)
    if not isinstance(message.get("params"), dict | None):
        return _error(INVALID_PARAMS, "The params of a request are an object.", known)
    return None


def _error(code: int, message: str, known: int | str | None = None) -> JSONRPCError:
    return JSONRPCError(jsonrpc="2.0", id=known, error=ErrorData(code=code, message=message))
