"""What a provider declares and can do; every module in `providers/` has one `PROVIDER`."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal, Protocol, TypeAlias

from seoga.models import EmbeddingSpec

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

Vector: TypeAlias = "NDArray[np.float32]"
Role = Literal["query", "document"]


@dataclass(frozen=True, slots=True)
class ModelRow:
    """What is known of one model.

    `dimension` is 0 where only the provider knows it; `sizes` are others that the model can be
    asked for. `window` is the most characters of the text that a vector covers (0: the whole
    passage in one); `heading_chars` is how much of the heading path stands before each window;
    `heading_penalty` is subtracted from the cosine of the heading's own vector (None: it has
    none); `threshold` is the cosine below which an answer is not one; `max_chars` bounds a query;
    `max_tokens` is what the model reads of one text; `batch` the most texts of a call (0: as the
    provider allows); `price` US dollars a million tokens.
    """

    model: str
    dimension: int
    threshold: float
    window: int = 0
    heading_chars: int = 400
    heading_penalty: float | None = None
    query_prefix: str = ""
    document_prefix: str = ""
    max_chars: int = 2000
    max_tokens: int = 8192
    batch: int = 0
    price: float = 0.0
    sizes: tuple[int, ...] = ()
    verified: bool = True


class Provider(Protocol):
    """A model in this process. Cheap to open: the model comes with the first `embed`."""

    def digest(self) -> str:
        """What tells two builds of a model apart; "" where unknown."""
        ...

    def embed(self, texts: Sequence[str], role: Role) -> Vector:
        """(n, d) float32, one row a text, in order. Raises EmbeddingFailed."""
        ...

    def close(self) -> None:
        """Frees the model."""
        ...


@dataclass(frozen=True, slots=True)
class ProviderInfo:
    """The declaration of a provider that computes here. `local`: documents go to child
    processes."""

    name: str
    default_model: str
    local: bool
    open: Callable[[EmbeddingSpec, ModelRow], Provider]


@dataclass(frozen=True, slots=True)
class Endpoint:
    """Where a provider is reached and as what. `url` is the base address without a slash at its
    end, `query` what stood behind its question mark. `key_name` is the variable that holds the key
    ("": none is needed); a key that is `lent` is forgotten with the call; `group`: the object of
    config.json that says all this."""

    url: str
    query: Mapping[str, str]
    model: str
    key: str
    dimension: int
    keep_alive: str
    num_ctx: int
    key_name: str = ""
    lent: bool = False
    group: str = "embedding"


@dataclass(frozen=True, slots=True)
class Call:
    """One HTTP request: `path` follows the base address, `body` is sent as JSON (None: a GET),
    `content` as it stands under its `content-type` header; `lines`: the answer is JSON Lines, and
    read as a list; an answer of more than `most_bytes` is none."""

    path: str
    body: Mapping[str, Any] | None = None
    headers: Mapping[str, str] = field(default_factory=dict)
    query: Mapping[str, str] = field(default_factory=dict)
    content: bytes | None = None
    lines: bool = False
    most_bytes: int = 64 << 20


@dataclass(frozen=True, slots=True)
class Answer:
    """What came back for some texts: a vector each, in their order (None: none came for it), and
    the tokens that the provider counted (0: it does not say)."""

    vectors: Sequence[Sequence[float] | Vector | None]
    tokens: int = 0


class UnusableAnswer(Exception):
    """A dialect cannot read the answer: it is not what the protocol says. Says what is odd."""


class Dialect(Protocol):
    """How one provider is spoken to: pure functions, no connection."""

    def embed_call(self, texts: Sequence[str], role: Role) -> Call:
        """The request for the vectors of these texts."""
        ...

    def read_vectors(self, body: Any, count: int) -> Answer:
        """The vectors in the JSON of an answer. Raises UnusableAnswer."""
        ...

    def plainer(self) -> Dialect | None:
        """The same, asking for nothing that servers of this protocol may not know; None where
        there is no such thing."""
        ...

    def digest_call(self) -> Call | None:
        """The request that tells which build of the model is there; None where there is none."""
        ...

    def read_digest(self, body: Any) -> str | None:
        """The digest in the answer to `digest_call`; None when the model is not there."""
        ...

    def version_call(self) -> Call | None:
        """The request that tells the version of the server; None where there is none."""
        ...

    def read_version(self, body: Any) -> str:
        """The version in the answer to `version_call`, "" where it says none."""
        ...


@dataclass(frozen=True, slots=True)
class Prompt:
    """What an LLM is asked: `system` is the same for all, `document` for all passages of one
    document, `passage` is the rest. In this order a provider can keep the beginning."""

    system: str
    document: str
    passage: str


@dataclass(frozen=True, slots=True)
class Reply:
    """What an LLM said, and the tokens that its provider counted."""

    text: str
    tokens_in: int = 0
    tokens_out: int = 0


class Chat(Protocol):
    """How the LLM of one provider is spoken to: pure functions, no connection."""

    def chat_call(self, prompt: Prompt) -> Call:
        """The request for an answer."""
        ...

    def read_reply(self, body: Any) -> Reply:
        """The answer in the JSON. Raises UnusableAnswer."""
        ...


class CrossEncoder(Protocol):
    """How a server that scores texts for a query is spoken to: pure functions, no connection."""

    def rerank_call(self, query: str, texts: Sequence[str]) -> Call:
        """The request for the scores of these texts."""
        ...

    def read_scores(self, body: Any, count: int) -> list[float]:
        """A score for each text, in their order. Raises UnusableAnswer."""
        ...


@dataclass(frozen=True, slots=True)
class BatchState:
    """A batch at its provider: `mark` is ours where the provider keeps one, `total` its requests,
    `created` a UNIX time; `files` are where results lie once it has `ended`."""

    id: str
    ended: bool
    total: int = 0
    created: float = 0.0
    mark: str = ""
    files: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class BatchResult:
    """A line of results: the `key` of its question, and its `reply`; where there is none, `again`
    when it may be asked again at once (expired, cancelled), else the `status` that a single call
    would have had and what was `said` (200: an answer that is odd)."""

    key: str
    reply: Reply | None = None
    again: bool = False
    status: int = 200
    said: Any = None


class Batches(Protocol):
    """How the batch API of one provider is spoken to: pure functions, no connection."""

    most: int

    def upload_call(self, asked: Sequence[tuple[str, Prompt]]) -> Call | None:
        """The request that brings the questions first; None where they come with the batch."""
        ...

    def create_call(self, asked: Sequence[tuple[str, Prompt]], mark: str, uploaded: Any) -> Call:
        """The request that makes a batch; `uploaded` is the answer to `upload_call`."""
        ...

    def status_call(self, batch_id: str) -> Call:
        """How far it is."""
        ...

    def list_call(self) -> Call:
        """The latest batches."""
        ...

    def read_state(self, body: Any) -> BatchState:
        """One batch. Raises UnusableAnswer."""
        ...

    def result_calls(self, state: BatchState) -> Sequence[Call]:
        """Where the results of an ended batch lie."""
        ...

    def read_result(self, line: Any) -> BatchResult:
        """A line of results. Raises UnusableAnswer where it names no question."""
        ...


# An answer is two sentences and a list; a model that thinks needs room for that too.
ANSWER_TOKENS = 1500


@dataclass(frozen=True, slots=True)
class Limits:
    """What one call may hold at most: texts, tokens (as counted here), bytes of its body.
    `learns`: better sizes are learned from how long the calls take."""

    texts: int = 2048
    tokens: int = 200_000
    bytes: int = 4_000_000
    learns: bool = True


@dataclass(frozen=True, slots=True)
class RemoteInfo:
    """The declaration of a provider behind HTTP.

    `default_url` is "" where every user has an address of their own; `preset` names the key in
    the environment ("": none is needed); a key may be missing where the address is the user's own
    and `key_optional`; ends of an address that are in `strip` are left out; `missing_model` is the
    way out when the model is not there ({model}, {group} of keys). `dialect` is None where it gives
    no vectors, `chat` where it has no LLM, `cross_encoder` where it scores no texts;
    `least_version` is the oldest server that speaks the protocol.
    """

    name: str
    default_model: str
    default_url: str
    preset: str
    dialect: Callable[[Endpoint, ModelRow], Dialect] | None = None
    chat: Callable[[Endpoint], Chat] | None = None
    batches: Callable[[Endpoint], Batches] | None = None
    cross_encoder: Callable[[Endpoint], CrossEncoder] | None = None
    limits: Limits = Limits()
    key_optional: bool = False
    strip: tuple[str, ...] = ()
    missing_model: str = "Check {group}.model."
    least_version: str = ""
