"""The HTTP face of the embedding engine."""

from __future__ import annotations

import sys

from fastapi import FastAPI

from seoga.contracts.embedding import routes
from seoga.service import build_app
from seoga.settings import settings
from seoga_embedding.engine import EmbeddingEngine
from seoga_embedding.openai_face import openai_routes

# An answer of a provider waits at most so long for a thread that computes: with Python's 5 ms the
# next call leaves late, a tenth of the time that a quick provider takes.
_SWITCH_S = 0.0005


def create() -> FastAPI:
    """The app of one web worker; the model for queries loads in the background at once."""
    sys.setswitchinterval(_SWITCH_S)
    engine = EmbeddingEngine(settings())
    engine.warm()
    return build_app(
        "embedding",
        routes=[routes(engine), openai_routes(engine)],
        ready=engine.ready,
        close=engine.close,
    )
