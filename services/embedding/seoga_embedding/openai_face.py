"""`/v1/embeddings` and `/v1/models` in OpenAI's form, for the models of this process."""

from __future__ import annotations

import base64
from typing import Any, Literal

from fastapi import APIRouter
from fastapi.concurrency import run_in_threadpool
from fastapi.requests import Request
from fastapi.responses import JSONResponse, Response
from pydantic import BaseModel, ValidationError, field_validator

from seoga.contracts.embedding import Embedding, Passage
from seoga.errors import EmbeddingFailed, MissingDependency, SeogaError
from seoga.models import EmbeddingSpec
from seoga_embedding.packing import tokens_of
from seoga_embedding.provider import ProviderInfo
from seoga_embedding.registry import MODELS, open_provider, providers

_MOST = 2048
_TOKENS = (
    "token arrays cannot be read: tokens are those of another model. Send the text itself"
    " (LangChain: check_embedding_ctx_length=False)"
)


class Asked(BaseModel):
    """What a client of the protocol sends; keys that it knows and we do not are ignored."""

    model: str
    input: str | list[str]
    dimensions: int | None = None
    encoding_format: Literal["float", "base64"] = "float"

    @field_validator("input", mode="before")
    @classmethod
    def _texts(cls, value: object) -> object:
        items = value if isinstance(value, list) else [value]
        if any(isinstance(item, int | list) for item in items):
            raise ValueError(_TOKENS)
        if not 1 <= len(items) <= _MOST:
            raise ValueError(f"send 1 to {_MOST} texts, not {len(items)}")
        if "" in items:
            raise ValueError("a text is empty")
        return value


class Refused(Exception):
    """An answer that is an error, in OpenAI's form."""

    def __init__(self, status: int, message: str, param: str = "", code: str = "") -> None:
        super().__init__(message)
        self.status, self.message, self.param, self.code = status, message, param, code

    def response(self) -> Response:
        """`{"error": {…}}`."""
        kind = "invalid_request_error" if self.status < 500 else "server_error"
        error = {"message": self.message, "type": kind}
        told = {"param": self.param or None, "code": self.code or None}
        return JSONResponse({"error": {**error, **told}}, self.status)


def openai_routes(engine: Embedding) -> APIRouter:
    """The routes over an engine; a text longer than a window gets the mean of its windows."""
    router = APIRouter(prefix="/v1")

    @router.get("/models")
    def models() -> dict[str, Any]:
        return {"object": "list", "data": [_model(name) for name in _specs()]}

    @router.get("/models/{name}")
    def model(name: str) -> Response:
        if name not in _specs():
            return _unknown(name).response()
        return JSONResponse(_model(name))

    @router.post("/embeddings")
    async def embeddings(request: Request) -> Response:
        body = await request.body()
        try:
            return JSONResponse(await run_in_threadpool(_answer, engine, body))
        except Refused as refused:
            return refused.response()
        except SeogaError as error:
            return Refused(error.status, f"{error.message} {error.hint}".strip()).response()

    return router


def _answer(engine: Embedding, body: bytes) -> dict[str, Any]:
    asked = _read(body)
    spec = _specs().get(asked.model)
    if spec is None:
        raise _unknown(asked.model)
    if asked.dimensions not in (None, own := engine.card(spec).dimension):
        message = f"{asked.model} gives {own} dimensions, not {asked.dimensions}"
        raise Refused(400, message, "dimensions")
    texts = [asked.input] if isinstance(asked.input, str) else asked.input
    data = []
    for at, result in enumerate(engine.embed_passages([Passage(text) for text in texts], spec)):
        if isinstance(result, EmbeddingFailed):
            raise Refused(400, f"'input[{at}]': {result.message}", "input")
        vector = result.vectors.mean(axis=0)
        vector /= (vector @ vector) ** 0.5
        packed = base64.b64encode(vector.astype("<f4").tobytes()).decode("ascii")
        value = packed if asked.encoding_format == "base64" else vector.tolist()
        data.append({"object": "embedding", "index": at, "embedding": value})
    tokens = sum(map(tokens_of, texts))
    usage = {"prompt_tokens": tokens, "total_tokens": tokens}
    return {"object": "list", "model": asked.model, "data": data, "usage": usage}


def _read(body: bytes) -> Asked:
    try:
        return Asked.model_validate_json(body)
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False, include_context=False)[0]
        where = ".".join(str(part) for part in first["loc"])
        message = first["msg"].removeprefix("Value error, ")
        raise Refused(400, f"{where}: {message}" if where else message, where) from error


def _model(name: str) -> dict[str, Any]:
    return {"id": name, "object": "model", "created": 0, "owned_by": "seoga"}


def _unknown(name: str) -> Refused:
    message = f"model {name!r} is not here: {', '.join(_specs())}"
    return Refused(404, message, "model", "model_not_found")


def _specs() -> dict[str, EmbeddingSpec]:
    """The models that are installed, by the names a client may use: the provider's for its default
    one, or the model's own."""
    found = {}
    for info in providers().values():
        if isinstance(info, ProviderInfo):
            models = [row.model for row in MODELS[info.name]]
            specs = {name: EmbeddingSpec(info.name, name) for name in models}
            found[info.name] = specs[info.default_model]
            found |= specs
    return {name: spec for name, spec in found.items() if _is_installed(spec)}


def _is_installed(spec: EmbeddingSpec) -> bool:
    try:
        open_provider(spec)[0].digest()
    except MissingDependency:
        return False
    return True
