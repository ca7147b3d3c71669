"""The HTTP face of extraction: `POST /v1/extract?name=`, `GET /v1/formats`."""

from __future__ import annotations

from typing import Any

from fastapi import FastAPI

from seoga.contracts.extraction import routes
from seoga.service import build_app
from seoga.settings import settings
from seoga_extraction.engine import ExtractionEngine


def create() -> FastAPI:
    """The app of this process's settings; children start with the first file."""
    config = settings()
    engine = ExtractionEngine(config)

    def ready() -> dict[str, Any]:
        described = engine.describe()
        missing = {
            name: entry["why"]
            for name, entry in described["formats"].items()
            if not entry["available"]
        }
        return {"extraction_version": described["version"], "formats_off": missing}

    api = routes(engine, config.extract_workers, config.max_file_mb)
    return build_app("extraction", routes=[api], ready=ready, close=engine.close)
