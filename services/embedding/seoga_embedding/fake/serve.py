"""Serves the fake until it is stopped."""

from __future__ import annotations

import uvicorn

from seoga.settings import Settings
from seoga_embedding.fake.app import create


def serve(config: Settings) -> None:
    """Runs in this process on the configured address."""
    uvicorn.run(create(), host=config.host, port=config.port, log_level="warning")
