"""The HTTP face of the embedding engine."""

from __future__ import annotations

from fastapi import FastAPI

from seoga.contracts.embedding import routes
from seoga.service import build_app
from seoga.settings import settings
from seoga_embedding.engine import EmbeddingEngine
from seoga_embedding.openai_face import openai_routes


def create() -> FastAPI:
    """The app of one web worker; the model for queries loads in the background at once."""
    engine = EmbeddingEngine(settings())
    engine.warm()
    return build_app(
        "embedding",
        routes=[routes(engine), openai_routes(engine)],
        ready=engine.ready,
        close=engine.close,
    )
