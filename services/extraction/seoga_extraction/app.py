"""The HTTP face of extraction: `POST /v1/extract?name=`, `GET /v1/formats`."""

from __future__ import annotations

import threading
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from fastapi import FastAPI

from seoga import logs
from seoga.contracts.extraction import routes
from seoga.errors import SeogaError, ServiceUnavailable
from seoga.service import build_app
from seoga.settings import settings
from seoga_extraction.engine import ExtractionEngine

log = logs.get("extraction")


class SelfTest:
    """What speech runs on, found out beside the start of the service."""

    def __init__(self, engine: ExtractionEngine, must_pass: bool) -> None:
        self._engine = engine
        self._must_pass = must_pass
        self._found: dict[str, Any] = {"device": "", "model": ""}
        self._trouble: SeogaError | None = None
        self._done = threading.Event()

    def start(self) -> None:
        """Returns at once; the test takes as long as a model takes to load."""
        threading.Thread(target=self._run, name="seoga-speech-test", daemon=True).start()

    def _run(self) -> None:
        try:
            self._found = self._engine.speech()
            log.info("speech is ready", **self._found)
        except SeogaError as error:
            self._trouble = error
            log.warning("speech is off", why=error.message, hint=error.hint)
        finally:
            self._done.set()

    def device(self) -> dict[str, Any]:
        """For /health: what speech runs on, or why on nothing; `testing` until that is known."""
        if not self._done.is_set():
            return {"speech": {"device": "", "state": "testing"}}
        if self._trouble is not None:
            return {"speech": {"device": "", "state": "off", "why": self._trouble.message}}
        return {"speech": {**self._found, "state": "on"}}

    def details(self) -> dict[str, Any]:
        """For /ready. Raises ServiceUnavailable where a GPU is required and was not found, or not
        yet: hours on a CPU are not what was asked for."""
        if self._must_pass and not self._done.is_set():
            raise ServiceUnavailable("The self-test of speech on the GPU is still running.")
        if self._trouble is None:
            return self._found
        if self._must_pass:
            raise ServiceUnavailable(self._trouble.message, self._trouble.hint)
        return {**self._found, "error": self._trouble.message, "hint": self._trouble.hint}


def create() -> FastAPI:
    """The app of this process's settings; children start with the first file, and one at once for
    the self-test of speech."""
    config = settings()
    engine = ExtractionEngine(config)
    speech = SelfTest(engine, config.require_gpu)

    @asynccontextmanager
    async def testing() -> AsyncIterator[None]:
        speech.start()
        yield

    def ready() -> dict[str, Any]:
        described = engine.describe()
        missing = {
            name: entry["why"]
            for name, entry in described["formats"].items()
            if not entry["available"]
        }
        found = speech.details()
        version = described["version"]
        return {"extraction_version": version, "formats_off": missing, "speech": found}

    # One more than there are parsers: a recording takes hours and has a process of its own.
    api = routes(engine, config.extract_workers + 1, config.max_file_mb)
    app = build_app("extraction", routes=[api], ready=ready, close=engine.close, lifespan=testing)
    app.state.health = speech.device
    return app
