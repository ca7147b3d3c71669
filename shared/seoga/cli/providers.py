"""The checks of `doctor` on providers that knowledge bases name: are they there, do they read
Korean, and an old server or a missing model with its way out."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Final

from seoga.cli.doctor import Check, guarded
from seoga.contracts.embedding import Embedding, Excerpt, Passage, PassageVectors, Vector
from seoga.errors import EmbeddingFailed, SeogaError
from seoga.kb import list_kbs
from seoga.models import ContextSpec, EmbeddingSpec, RerankSpec

if TYPE_CHECKING:
    from seoga.wiring import Stack

# A question, what answers it, and what does not. NFD is how macOS writes Hangul.
_PROBES: Final = {
    "Hangul": ("연차 휴가는 며칠인가", "연차휴가는 십오일을 준다", "서버 인증서를 새로 만든다"),
    "NFD": ("회의록 저장", "회의록은 일 년 동안 저장한다", "창문을 닫고 불을 끈다"),
    "Latin": (
        "How many days of annual leave?",
        "Employees have fifteen days of annual leave.",
        "The certificate of the server is renewed.",
    ),
}
_EXCERPT: Final = Excerpt(
    "연차휴가는 십오일이다. Annual leave is fifteen days.", title="취업규칙", heading="휴가"
)


def provider_checks(stack: Stack) -> Iterator[Check]:
    """A check for each model that a knowledge base of the base path names."""
    embeddings: dict[EmbeddingSpec, list[str]] = {}
    llms: dict[ContextSpec, list[str]] = {}
    rerankers: dict[RerankSpec, list[str]] = {}
    for kb in list_kbs(stack.settings.base_path).kbs:
        if (spec := kb.embedding_spec()).provider and spec != EmbeddingSpec():
            embeddings.setdefault(spec, []).append(kb.name)
        if (llm := kb.context_spec()).provider:
            llms.setdefault(llm, []).append(kb.name)
        if (reranker := kb.rerank_spec()).provider:
            rerankers.setdefault(reranker, []).append(kb.name)
    for spec, names in embeddings.items():
        yield guarded(f"embedding of {_all(names)}", partial(_embedding, stack, spec))
    for llm, names in llms.items():
        yield guarded(f"contexts of {_all(names)}", partial(_contexts, stack, llm))
    for reranker, names in rerankers.items():
        yield guarded(f"reranking of {_all(names)}", partial(_reranking, stack, reranker))


def _all(names: list[str]) -> str:
    more = f" and {len(names) - 1} more" if len(names) > 1 else ""
    return names[0] + more


def _embedding(stack: Stack, spec: EmbeddingSpec) -> str:
    port = stack.embedding
    version = port.version(spec)
    card = port.card(spec)
    for script, probe in _PROBES.items():
        _probe(port, spec, script, probe)
    build = f", version {version}" if version else ""
    digest = f", digest {card.digest}" if card.digest else ""
    known = "" if card.verified else "; its threshold is unverified"
    return f"{card.provider} {card.model}{build}{digest}, {card.dimension} dimensions{known}"


def _probe(port: Embedding, spec: EmbeddingSpec, script: str, probe: tuple[str, str, str]) -> None:
    """Whether the answer is nearer to its question than something else is. Raises SeogaError."""
    question, answer, other = probe
    if script == "NFD":
        question = unicodedata.normalize("NFD", question)
    # As a search asks: composed.
    query = port.embed_query(unicodedata.normalize("NFC", question), spec)
    near, far = (
        float((_vectors(result) @ query).max())
        for result in port.embed_passages([Passage(answer), Passage(other)], spec)
    )
    if near <= far:
        raise SeogaError(
            f"{spec.provider} {spec.model} does not read {script}: a question is no nearer to its"
            f" answer ({near:.2f}) than to something else ({far:.2f})",
            "Take a model for several languages, such as bge-m3.",
        )


def _vectors(result: PassageVectors | EmbeddingFailed) -> Vector:
    if isinstance(result, EmbeddingFailed):
        raise result
    return result.vectors


def _contexts(stack: Stack, spec: ContextSpec) -> str:
    # What was answered before says nothing of today.
    asked = replace(spec, fresh=True, forced=True)
    (answer,) = stack.embedding.contextualize([_EXCERPT], asked)
    if isinstance(answer, EmbeddingFailed):
        raise answer
    count = len(answer.keywords.split(", ")) if answer.keywords else 0
    return f"{spec.provider} {spec.model} answers with a context and {count} keywords"


def _reranking(stack: Stack, spec: RerankSpec) -> str:
    for script in ("Hangul", "Latin"):
        question, answer, other = _PROBES[script]
        far, near = stack.embedding.rerank(question, [other, answer], spec)
        if near <= far:
            raise SeogaError(
                f"{spec.provider} {spec.model} does not read {script}: it puts an answer to a"
                f" question ({near:.3g}) behind something else ({far:.3g})",
                "Take a model for several languages, such as bge-reranker-v2-m3.",
            )
    named = f" {spec.model}" if spec.model else ""
    return f"{spec.provider}{named} puts answers first"
