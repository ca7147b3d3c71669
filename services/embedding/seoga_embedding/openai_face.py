"""`/v1/embeddings` and `/v1/models` in OpenAI's form, for the models of this process."""

from __future__ import annotations

import base64
from typing import Annotated, Any, Literal

from fastapi import APIRouter
from fastapi.responses import JSONResponse, Response
from pydantic import BaseModel, Field

from seoga.contracts.embedding import Embedding, Passage
from seoga.errors import EmbeddingFailed
from seoga.models import EmbeddingSpec
from seoga_embedding.packing import tokens_of
from seoga_embedding.provider import ProviderInfo
from seoga_embedding.registry import MODELS, providers

_MOST = 2048
Texts = Annotated[list[str], Field(min_length=1, max_length=_MOST)]


class Asked(BaseModel):
    """What a client of the protocol sends; keys that it knows and we do not are ignored."""

    model: str
    input: Annotated[str, Field(min_length=1)] | Texts
    dimensions: int = 0
    encoding_format: Literal["float", "base64"] = "float"


def openai_routes(engine: Embedding) -> APIRouter:
    """The routes over an engine; a text longer than a window gets the mean of its windows."""
    router = APIRouter(prefix="/v1")

    @router.get("/models")
    def models() -> dict[str, Any]:
        data = [{"id": name, "object": "model", "owned_by": "seoga"} for name in _specs()]
        return {"object": "list", "data": data}

    @router.post("/embeddings")
    def embeddings(asked: Asked) -> Response:
        spec = _specs().get(asked.model)
        if spec is None:
            return _error(404, f"model {asked.model!r} is not here: {', '.join(_specs())}")
        if asked.dimensions not in (0, own := engine.card(spec).dimension):
            return _error(400, f"{asked.model} gives {own} dimensions, not {asked.dimensions}")
        texts = [asked.input] if isinstance(asked.input, str) else asked.input
        results = engine.embed_passages([Passage(text) for text in texts], spec)
        data = []
        for at, result in enumerate(results):
            if isinstance(result, EmbeddingFailed):
                return _error(400, f"'input[{at}]': {result.message}")
            vector = result.vectors.mean(axis=0)
            vector /= (vector @ vector) ** 0.5
            packed = base64.b64encode(vector.astype("<f4").tobytes()).decode("ascii")
            value = packed if asked.encoding_format == "base64" else vector.tolist()
            data.append({"object": "embedding", "index": at, "embedding": value})
        tokens = sum(map(tokens_of, texts))
        usage = {"prompt_tokens": tokens, "total_tokens": tokens}
        body = {"object": "list", "model": asked.model, "data": data, "usage": usage}
        return JSONResponse(body)

    return router


def _specs() -> dict[str, EmbeddingSpec]:
    """The models by the names a client may use: `builtin`, or the model's own."""
    return {
        name: EmbeddingSpec(info.name, info.default_model)
        for info in providers().values()
        if isinstance(info, ProviderInfo)
        for name in (info.name, *(row.model for row in MODELS[info.name]))
    }


def _error(status: int, message: str) -> Response:
    kind = "invalid_request_error"
    code = "model_not_found" if status == 404 else None
    error = {"message": message, "type": kind, "param": None, "code": code}
    return JSONResponse({"error": error}, status)
