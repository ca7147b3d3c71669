"""Embedding: passages and queries in, unit vectors out."""

# No postponed annotations here: FastAPI reads those of the routes, whose types are imported late.
from collections.abc import Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated, Any, Protocol

from pydantic import BaseModel, Field

from seoga.contracts.forecast import BatchReport, Forecast
from seoga.contracts.lent import from_header, lending, to_headers
from seoga.contracts.places import Places
from seoga.contracts.vectorwire import (
    Context,
    Excerpt,
    Passage,
    PassageVectors,
    Vector,
    context_to,
    error_of,
    pack,
    result_of,
    result_to,
    unpack,
    utf8,
)
from seoga.errors import EmbeddingFailed, ProviderFault
from seoga.models import ContextSpec, EmbeddingSpec, ModelCard, RerankSpec

if TYPE_CHECKING:
    from fastapi import APIRouter

__all__ = [
    "MOST_CANDIDATES",
    "MOST_EXCERPTS",
    "MOST_PASSAGES",
    "Context",
    "Embedding",
    "EmbeddingClient",
    "Excerpt",
    "Passage",
    "PassageVectors",
    "Vector",
    "of_provider",
    "routes",
]


class Embedding(Protocol):
    """The port of the embedding service."""

    def card(self, spec: EmbeddingSpec) -> ModelCard:
        """The identity of the model; may ask the provider once. Raises ConfigError for an
        unknown provider."""
        ...

    def embed_passages(
        self, passages: Sequence[Passage], spec: EmbeddingSpec
    ) -> list[PassageVectors | EmbeddingFailed]:
        """One result per passage, in order: its vectors, or the error that is about that passage
        alone.

        Raises EmbeddingFailed (auth, rate, outage) when the provider as a whole failed. Where it
        failed after a part was done, that part is returned, and the error stands in the place of
        each passage that was not reached: `of_provider` tells it from an error of the passage.
        """
        ...

    def embed_query(self, text: str, spec: EmbeddingSpec) -> Vector:
        """(d,) float32 of unit length. Raises EmbeddingFailed or ServiceUnavailable."""
        ...

    def embed_queries(self, texts: Sequence[str], spec: EmbeddingSpec) -> list[Vector]:
        """The same for many texts that nobody waits for, in order: a model of this process takes
        them at once, which costs a tenth."""
        ...

    def contextualize(
        self, excerpts: Sequence[Excerpt], spec: ContextSpec
    ) -> list[Context | EmbeddingFailed]:
        """One result an excerpt, in order: its context, or why it has none and stays as it is. An
        error that is `final` comes again without a call, unless `spec.forced`.

        Raises ConfigError, MissingDependency (no such model), and EmbeddingFailed when the provider
        as a whole failed before anything came back; see `embed_passages`.
        """
        ...

    def rerank(self, query: str, texts: Sequence[str], spec: RerankSpec) -> list[float]:
        """How well each of at most 100 texts answers the query, in order: more is better, on a
        scale of the model's own. Raises ConfigError, EmbeddingFailed."""
        ...

    def batch_contexts(self, spec: ContextSpec, *, send: bool) -> BatchReport:
        """Collects the batches that are ready, and with `send` sends what `contextualize` put
        aside for one (`spec.batch`). Raises ConfigError where the provider has none,
        EmbeddingFailed."""
        ...

    def prompt_id(self, spec: ContextSpec) -> str:
        """What names the words that an LLM is asked in: another id wherever the built-in prompt,
        its form or `spec.prompt` is another. Asks no provider."""
        ...

    def version(self, spec: EmbeddingSpec) -> str:
        """The version of the provider's server, "" where it tells none. Raises MissingDependency
        for one that is too old, EmbeddingFailed."""
        ...

    def forecast_passages(self, passages: Sequence[Passage], spec: EmbeddingSpec) -> Forecast:
        """What `embed_passages` would take. Calls no provider and needs no key. Raises
        ConfigError."""
        ...

    def forecast_contexts(self, excerpts: Sequence[Excerpt], spec: ContextSpec) -> Forecast:
        """What `contextualize` would take; kept answers cost nothing. Calls no provider and needs
        no key. Raises ConfigError."""
        ...

    def close(self) -> None:
        """Ends worker processes and connections."""
        ...


def of_provider(error: EmbeddingFailed) -> bool:
    """True for an error that says nothing of the passage it came with: another will meet it too."""
    return error.fault in (ProviderFault.AUTH, ProviderFault.RATE, ProviderFault.OUTAGE)


# Passages of one request: the body stays under 20 MB at the longest chunks there are.
MOST_PASSAGES = 1024
# An LLM takes seconds for each; a request must end within the client's time-out.
MOST_EXCERPTS = 64
# Texts to put in order for one query.
MOST_CANDIDATES = 100


class EmbeddingClient:
    """The port over HTTP. Vectors travel as base64 of little-endian float32."""

    def __init__(self, base_url: str) -> None:
        # HTTP is only needed where services are apart; loading it costs half of a short command.
        from seoga.contracts.http import Http

        self._http = Http("embedding", base_url)

    def card(self, spec: EmbeddingSpec) -> ModelCard:
        """The identity of the model, as the service says it."""
        body = {"spec": asdict(spec)}
        answer = self._http.json(
            "POST", "/v1/card", json=body, headers=to_headers(), whom=whom(spec)
        )
        return ModelCard(**answer)

    def embed_passages(
        self, passages: Sequence[Passage], spec: EmbeddingSpec
    ) -> list[PassageVectors | EmbeddingFailed]:
        """One result per passage; more than 1,024 go in several requests, each whole."""
        out: list[PassageVectors | EmbeddingFailed] = []
        for first in range(0, len(passages), MOST_PASSAGES):
            part = passages[first : first + MOST_PASSAGES]
            # JSON as UTF-8 has no form for a lone surrogate; the engine replaces it the same way.
            sent = [{key: utf8(value) for key, value in asdict(p).items()} for p in part]
            body = {"spec": asdict(spec), "passages": sent}
            results = self._http.json("POST", "/v1/passages", json=body)["results"]
            if len(results) != len(part):
                raise EmbeddingFailed(
                    f"The embedding service gave {len(results)} results for {len(part)} passages.",
                    fault=ProviderFault.BAD_OUTPUT,
                )
            out += [result_of(data) for data in results]
        return out

    def embed_query(self, text: str, spec: EmbeddingSpec) -> Vector:
        """(d,) float32 of unit length."""
        body = {"spec": asdict(spec), "text": utf8(text)}
        answer = self._http.json(
            "POST", "/v1/query", json=body, headers=to_headers(), whom=whom(spec)
        )
        return unpack(answer["vector"])

    def embed_queries(self, texts: Sequence[str], spec: EmbeddingSpec) -> list[Vector]:
        """See `Embedding`; a call for each."""
        return [self.embed_query(text, spec) for text in texts]

    def contextualize(
        self, excerpts: Sequence[Excerpt], spec: ContextSpec
    ) -> list[Context | EmbeddingFailed]:
        """One result an excerpt; more than 64 go in several requests, each whole."""
        out: list[Context | EmbeddingFailed] = []
        for first in range(0, len(excerpts), MOST_EXCERPTS):
            part = excerpts[first : first + MOST_EXCERPTS]
            sent = [{key: utf8(value) for key, value in asdict(one).items()} for one in part]
            body = {"spec": asdict(spec), "excerpts": sent}
            results = self._http.json("POST", "/v1/contexts", json=body)["results"]
            if len(results) != len(part):
                raise EmbeddingFailed(
                    f"The embedding service gave {len(results)} results for {len(part)} excerpts.",
                    fault=ProviderFault.BAD_OUTPUT,
                )
            out += [error_of(data) or Context(**data) for data in results]
        return out

    def rerank(self, query: str, texts: Sequence[str], spec: RerankSpec) -> list[float]:
        """See `Embedding`."""
        body = {"spec": asdict(spec), "query": utf8(query), "texts": [utf8(one) for one in texts]}
        answer = self._http.json(
            "POST", "/v1/reranking", json=body, headers=to_headers(), whom=whom(spec)
        )
        scores = [float(one) for one in answer["scores"]]
        if len(scores) != len(texts):
            raise EmbeddingFailed(
                f"The embedding service gave {len(scores)} scores for {len(texts)} texts.",
                fault=ProviderFault.BAD_OUTPUT,
            )
        return scores

    def batch_contexts(self, spec: ContextSpec, *, send: bool) -> BatchReport:
        """See `Embedding`."""
        body = {"spec": asdict(spec), "send": send}
        return BatchReport(**self._http.json("POST", "/v1/contexts/batch", json=body))

    def prompt_id(self, spec: ContextSpec) -> str:
        """See `Embedding`."""
        answer = self._http.json("POST", "/v1/prompt", json={"spec": asdict(spec)})
        return str(answer["id"])

    def version(self, spec: EmbeddingSpec) -> str:
        """See `Embedding`."""
        answer = self._http.json("POST", "/v1/version", json={"spec": asdict(spec)})
        return str(answer["version"])

    def forecast_passages(self, passages: Sequence[Passage], spec: EmbeddingSpec) -> Forecast:
        """See `Embedding`; at most 1,024 passages."""
        sent = [{key: utf8(value) for key, value in asdict(one).items()} for one in passages]
        body = {"spec": asdict(spec), "passages": sent}
        return Forecast(**self._http.json("POST", "/v1/passages/forecast", json=body))

    def forecast_contexts(self, excerpts: Sequence[Excerpt], spec: ContextSpec) -> Forecast:
        """See `Embedding`; at most 64 excerpts."""
        sent = [{key: utf8(value) for key, value in asdict(one).items()} for one in excerpts]
        body = {"spec": asdict(spec), "excerpts": sent}
        return Forecast(**self._http.json("POST", "/v1/contexts/forecast", json=body))

    def close(self) -> None:
        """Closes the connections."""
        self._http.close()


class CardRequest(BaseModel):
    """Which model?"""

    spec: EmbeddingSpec


class PassagesRequest(CardRequest):
    """Passages to embed."""

    passages: Annotated[list[Passage], Field(max_length=MOST_PASSAGES)]


class PromptRequest(BaseModel):
    """Which LLM and prompt?"""

    spec: ContextSpec


class BatchRequest(PromptRequest):
    """Collect, and send too?"""

    send: bool


class ContextsRequest(PromptRequest):
    """Excerpts to set in their place."""

    excerpts: Annotated[list[Excerpt], Field(max_length=MOST_EXCERPTS)]


class RerankRequest(BaseModel):
    """Texts to put in order for a query."""

    spec: RerankSpec
    query: str
    texts: Annotated[list[str], Field(max_length=MOST_CANDIDATES)]


class QueryRequest(CardRequest):
    """A query to embed."""

    text: str


def whom(spec: EmbeddingSpec | ContextSpec | RerankSpec) -> str:
    """Who is behind a call: a provider, and where it is."""
    return f"{spec.provider} {spec.base_url}"


def routes(engine: Embedding) -> "APIRouter":
    """The port as routes. Questions, which somebody waits for, have threads of their own."""
    from fastapi import APIRouter, Header, Request, Response
    from pydantic_core import to_json

    router = APIRouter(prefix="/v1")
    questions, documents = Places(), Places()

    @router.post("/card")
    async def card(
        request: CardRequest, http: Request, x_seoga_lent_keys: Annotated[str, Header()] = ""
    ) -> dict[str, Any]:
        with lending(from_header(x_seoga_lent_keys)):
            found = await questions.work(
                whom(request.spec), http, lambda: engine.card(request.spec)
            )
        return found.to_json()

    @router.post("/version")
    async def version(request: CardRequest, http: Request) -> dict[str, str]:
        spec = request.spec
        return {"version": await questions.work(whom(spec), http, lambda: engine.version(spec))}

    @router.post("/passages")
    async def passages(request: PassagesRequest, http: Request) -> Response:
        def task() -> Response:
            results = engine.embed_passages(request.passages, request.spec)
            # Megabytes: made in this thread, not where all requests come in.
            body = to_json({"results": [result_to(result) for result in results]})
            return Response(body, media_type="application/json")

        return await documents.work(whom(request.spec), http, task)

    @router.post("/passages/forecast")
    def forecast_passages(request: PassagesRequest) -> dict[str, Any]:
        return asdict(engine.forecast_passages(request.passages, request.spec))

    _question_routes(router, engine, questions)
    _context_routes(router, engine, documents)
    return router


def _question_routes(router: "APIRouter", engine: Embedding, questions: Places) -> None:
    from fastapi import Header, Request

    @router.post("/query")
    async def query(
        request: QueryRequest, http: Request, x_seoga_lent_keys: Annotated[str, Header()] = ""
    ) -> dict[str, str]:
        spec = request.spec
        with lending(from_header(x_seoga_lent_keys)):
            vector = await questions.work(
                whom(spec), http, lambda: engine.embed_query(request.text, spec)
            )
        return {"vector": pack(vector)}

    @router.post("/reranking")
    async def rerank(
        request: RerankRequest, http: Request, x_seoga_lent_keys: Annotated[str, Header()] = ""
    ) -> dict[str, list[float]]:
        spec = request.spec
        with lending(from_header(x_seoga_lent_keys)):
            scores = await questions.work(
                whom(spec), http, lambda: engine.rerank(request.query, request.texts, spec)
            )
        return {"scores": scores}


def _context_routes(router: "APIRouter", engine: Embedding, documents: Places) -> None:
    from fastapi import Request

    @router.post("/contexts/batch")
    async def batch(request: BatchRequest, http: Request) -> dict[str, int]:
        spec, send = request.spec, request.send
        report = await documents.work(
            whom(spec), http, lambda: engine.batch_contexts(spec, send=send)
        )
        return asdict(report)

    @router.post("/prompt")
    def prompt(request: PromptRequest) -> dict[str, str]:
        return {"id": engine.prompt_id(request.spec)}

    @router.post("/contexts")
    async def contexts(request: ContextsRequest, http: Request) -> dict[str, Any]:
        spec, excerpts = request.spec, request.excerpts
        results = await documents.work(
            whom(spec), http, lambda: engine.contextualize(excerpts, spec)
        )
        return {"results": [context_to(one) for one in results]}

    @router.post("/contexts/forecast")
    def forecast_contexts(request: ContextsRequest) -> dict[str, Any]:
        return asdict(engine.forecast_contexts(request.excerpts, request.spec))
