"""Structured logs on stderr; a request id follows one piece of work across services."""

from __future__ import annotations

import logging
import sys
from collections.abc import MutableMapping
from contextvars import ContextVar
from typing import Any

from seoga.printable import printable

request_id: ContextVar[str] = ContextVar("request_id", default="")

_LEVELS = {"debug": 10, "info": 20, "warning": 30, "error": 40}


def _add_request_id(_: Any, __: str, event: MutableMapping[str, Any]) -> MutableMapping[str, Any]:
    if current := request_id.get():
        event["request_id"] = current
    return event


def _plain(_: Any, __: str, event: MutableMapping[str, Any]) -> MutableMapping[str, Any]:
    """Names of files and folders end no line of the log and move no cursor."""
    for key, value in event.items():
        if isinstance(value, str) and key != "exception":
            event[key] = printable(value)
    return event


# Level and form that structlog was not told of yet: one pair or none.
_wanted: list[tuple[int, bool]] = []


def configure(level: str = "info", json: bool = False) -> None:
    """Logs of `level` and above go to stderr, as JSON lines or for people. Never to stdout:
    stdio MCP speaks there."""
    number = _LEVELS.get(level.lower(), 20)
    _wanted[:] = [(number, json)]
    logging.basicConfig(level=max(number, logging.WARNING), stream=sys.stderr, force=True)


class Logger:
    """A structlog logger from its first line on: most commands never write one, and the import
    costs a tenth of a second."""

    def __init__(self, part: str) -> None:
        self._part = part

    def __getattr__(self, method: str) -> Any:
        import structlog

        while _wanted:
            _configure(*_wanted.pop())
        return getattr(structlog.get_logger().bind(part=self._part), method)


def get(name: str) -> Logger:
    """A logger whose lines carry `part=name`."""
    return Logger(name)


def _configure(number: int, json: bool) -> None:
    import structlog

    renderer: Any = (
        structlog.processors.JSONRenderer(ensure_ascii=False)
        if json
        else structlog.dev.ConsoleRenderer(colors=sys.stderr.isatty())
    )
    structlog.configure(
        processors=[
            _add_request_id,
            structlog.processors.add_log_level,
            structlog.processors.TimeStamper(fmt="iso", utc=True),
            structlog.processors.format_exc_info,
            _plain,
            renderer,
        ],
        wrapper_class=structlog.make_filtering_bound_logger(number),
        logger_factory=structlog.PrintLoggerFactory(sys.stderr),
        cache_logger_on_first_use=False,
    )


# Until somebody configures otherwise: warnings only, and never on stdout.
configure("warning")
