"""What is known of the models behind HTTP: the registry of product section 7.

Sizes, limits and prefixes are the providers' own (their documentation and model cards, November
2026). Thresholds are starting points: bge-m3's comes from the specification, the others from the
usual range of cosines of the family; `seoga eval` and the calibration of a knowledge base measure.
Prices are list prices in US dollars a million tokens.
"""

from __future__ import annotations

from typing import Final

from seoga_embedding.provider import ModelRow

# A model that reads 512 tokens covers about so many characters of Korean, heading included.
_SHORT: Final = 380
_SHORT_HEADING: Final = 100
UNKNOWN_THRESHOLD: Final = 0.4

_ROWS: Final = (
    ModelRow("text-embedding-3-small", 1536, 0.30, max_tokens=8191, price=0.02, sizes=(512,)),
    ModelRow("text-embedding-3-large", 3072, 0.30, max_tokens=8191, price=0.13, sizes=(256, 1024)),
    ModelRow("text-embedding-ada-002", 1536, 0.75, max_tokens=8191, price=0.10),
    ModelRow(
        "gemini-embedding-2",
        3072,
        0.45,
        query_prefix="task: search result | query: ",
        document_prefix="title: none | text: ",
        max_tokens=8192,
        price=0.20,
        sizes=(768, 1536),
    ),
    ModelRow("gemini-embedding-001", 3072, 0.55, max_tokens=2048, price=0.15, sizes=(768, 1536)),
    ModelRow("bge-m3", 1024, 0.55),
    ModelRow(
        "nomic-embed-text",
        768,
        0.55,
        query_prefix="search_query: ",
        document_prefix="search_document: ",
        max_tokens=2048,
    ),
    ModelRow(
        "mxbai-embed-large",
        1024,
        0.50,
        window=_SHORT,
        heading_chars=_SHORT_HEADING,
        query_prefix="Represent this sentence for searching relevant passages: ",
        max_tokens=512,
    ),
    ModelRow(
        "multilingual-e5-small",
        384,
        0.80,
        window=_SHORT,
        heading_chars=_SHORT_HEADING,
        query_prefix="query: ",
        document_prefix="passage: ",
        max_tokens=512,
    ),
    ModelRow(
        "multilingual-e5-large",
        1024,
        0.80,
        window=_SHORT,
        heading_chars=_SHORT_HEADING,
        query_prefix="query: ",
        document_prefix="passage: ",
        max_tokens=512,
    ),
    ModelRow(
        "embeddinggemma",
        768,
        0.45,
        query_prefix="task: search result | query: ",
        document_prefix="title: none | text: ",
        max_tokens=2048,
    ),
    ModelRow("snowflake-arctic-embed2", 1024, 0.35, query_prefix="query: ", max_tokens=8192),
    ModelRow(
        "all-minilm",
        384,
        0.35,
        window=_SHORT // 2,
        heading_chars=_SHORT_HEADING // 2,
        max_tokens=256,
    ),
)
KNOWN: Final = {row.model: row for row in _ROWS}


def known_row(model: str) -> ModelRow | None:
    """The row of a model by any of its usual names: `BAAI/bge-m3`, `bge-m3:latest`,
    `models/gemini-embedding-001`, `text-embedding-bge-m3`."""
    name = model.strip().lower().rsplit("/", 1)[-1].partition(":")[0].partition("@")[0]
    for candidate in (name, name.removesuffix("-gguf"), name.removeprefix("text-embedding-")):
        if row := KNOWN.get(candidate):
            return row
    return None


# US dollars a million tokens, read and written; a model is known by the beginning of its name.
_LLM_PRICES: Final = {
    "claude-haiku-4-5": (1.0, 5.0),
    "gpt-4o-mini": (0.15, 0.60),
    "gpt-4.1-mini": (0.40, 1.60),
    "gpt-4.1-nano": (0.10, 0.40),
    "gemini-2.5-flash-lite": (0.10, 0.40),
    "gemini-2.5-flash": (0.30, 2.50),
}


def llm_price(model: str, tokens_in: int, tokens_out: int) -> float:
    """What a call cost in US dollars; 0 where the price is not known."""
    return known_llm_price(model, tokens_in, tokens_out) or 0.0


def known_llm_price(model: str, tokens_in: int, tokens_out: int) -> float | None:
    """What so many tokens cost in US dollars; None where the price is not known."""
    name = model.removeprefix("models/").lower()
    known = sorted((key for key in _LLM_PRICES if name.startswith(key)), key=len)
    if not known:
        return None
    read, written = _LLM_PRICES[known[-1]]
    return (tokens_in * read + tokens_out * written) / 1_000_000
