"""What work would take, told beforehand: the same windows and batches, and no call at all."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from seoga.contracts.embedding import Excerpt, Passage
from seoga.contracts.forecast import Forecast
from seoga.models import ContextSpec, EmbeddingSpec
from seoga.storage.embedding import EmbeddingStore
from seoga_embedding.kept import Kept
from seoga_embedding.models import known_llm_price
from seoga_embedding.packing import bucket_of, pack, tokens_of
from seoga_embedding.passages import texts_of
from seoga_embedding.prompts import key_of, prompt_of
from seoga_embedding.provider import Limits, Prompt, RemoteInfo
from seoga_embedding.registry import find_chat, find_model, find_provider
from seoga_embedding.remote.endpoint import endpoint_of
from seoga_embedding.remote.sizes import Memory, Sizes, model_name

# Where nothing was measured: a call, a window of a model in this process, an answer of an LLM.
_CALL_S: Final = 0.5
_WINDOW_S: Final = 0.01
_ANSWER_S: Final = 2.0
# Two sentences and a dozen keywords.
_ANSWER_TOKENS: Final = 120


def of_passages(
    passages: Sequence[Passage], spec: EmbeddingSpec, store: EmbeddingStore
) -> Forecast:
    """See `Embedding.forecast_passages`."""
    info, row = find_provider(spec), find_model(spec)
    # As `embed_with` sends them: each text once.
    texts = [
        row.document_prefix + text
        for text in {text for passage in passages for text, _ in texts_of(passage, row)}
    ]
    tokens, asked = sum(map(tokens_of, texts)), tuple(range(len(passages)))
    if not isinstance(info, RemoteInfo):
        seconds = len(texts) * _WINDOW_S
        return Forecast(asked, tokens, seconds=seconds, price=0.0)
    endpoint = endpoint_of(info, spec, with_key=False)
    memory = Memory(store)
    name = model_name(info.name, endpoint, row.model)
    sizes = Sizes(name, memory, learns=info.limits.learns, fixed=spec.batch_size)
    limits = info.limits
    most = min(limits.texts, row.batch or limits.texts)
    batches = pack(texts, Limits(most, limits.tokens, limits.bytes, limits.learns), sizes.size)
    seconds, measured = _seconds(texts, batches, name, memory)
    price = row.price * tokens / 1_000_000 if row.price else _own(info)
    return Forecast(asked, tokens, 0, len(batches), seconds, measured, price)


def _own(info: RemoteInfo) -> float | None:
    """What needs no key takes no money; elsewhere nobody knows."""
    return None if info.preset else 0.0


def _seconds(
    texts: Sequence[str], batches: Sequence[Sequence[int]], name: str, memory: Memory
) -> tuple[float, bool]:
    """From what texts of each length took before."""
    profiles = memory.load(name)
    seconds, measured = 0.0, bool(batches)
    for batch in batches:
        profile = profiles.get(bucket_of(max(tokens_of(texts[at]) for at in batch)))
        each = (profile.ms or profile.before_ms) / 1000 if profile else 0.0
        measured = measured and bool(each)
        seconds += len(batch) * each or _CALL_S
    return seconds, measured


def of_contexts(
    excerpts: Sequence[Excerpt], spec: ContextSpec, store: EmbeddingStore, in_flight: int
) -> Forecast:
    """See `Embedding.forecast_contexts`."""
    info, _ = find_chat(spec.provider)
    endpoint = endpoint_of(info, spec, "contextualizer", with_key=False)
    all_prompts = [prompt_of(excerpt, spec.prompt) for excerpt in excerpts]
    keys = [key_of(info.name, endpoint, prompt) for prompt in all_prompts]
    kept = Kept(store)
    found = enumerate(None if spec.fresh else kept.answer(key) for key in keys)
    known = {at: (one.text, one.keywords) for at, one in found if one is not None}
    asked = tuple(
        at
        for at, key in enumerate(keys)
        if at not in known and (spec.forced or kept.given_up(key) is None)
    )
    prompts = [all_prompts[at] for at in asked]
    tokens = sum(map(_prompt_tokens, prompts))
    said = len(prompts) * _ANSWER_TOKENS
    price = known_llm_price(endpoint.model, tokens, said)
    return Forecast(
        asked=asked,
        tokens=tokens,
        tokens_out=said,
        calls=len(prompts),
        seconds=len(prompts) * _ANSWER_S / in_flight,
        price=_own(info) if price is None else price,
        kept=tuple((at, *said) for at, said in known.items()),
    )


def _prompt_tokens(prompt: Prompt) -> int:
    return tokens_of("\n".join((prompt.system, prompt.document, prompt.passage)))
