"""How the fake puts passages in order for a query: by the words that they share."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

import numpy as np

from seoga_embedding.fake.rules import Rules
from seoga_embedding.providers.hashing import Hashing

_DIMENSION = 256
_QUERY = re.compile(r"<query>\n(.*?)\n</query>", re.S)
_PASSAGE = re.compile(r'<passage number="(\d+)">\n(.*?)\n</passage>', re.S)


def scores(query: str, texts: Sequence[str], rules: Rules) -> list[float | None]:
    """(n,) cosines of hashed words; null, as JSON has no NaN, for a text with what `rules.nan`
    names."""
    hashing = Hashing(_DIMENSION)
    found = hashing.embed(texts, "document") @ hashing.embed([query], "query")[0]
    named = [bool(rules.nan) and rules.nan in text for text in texts]
    return [None if bad else float(score) for bad, score in zip(named, found, strict=True)]


def results(name: str, body: dict[str, Any], rules: Rules) -> Any:
    """What a server of cross-encoders answers, best first; `name`: in TEI's form or Cohere's."""
    tei = name == "tei"
    given = scores(str(body["query"]), list(body["texts" if tei else "documents"]), rules)
    order = np.argsort([-(score or 0.0) for score in given], kind="stable").tolist()
    key = "score" if tei else "relevance_score"
    found = [{"index": at, key: given[at]} for at in order]
    if tei:
        return found
    return {"id": "rerank-1", "model": body["model"], "results": found[: body.get("top_n")]}


def order_of(prompt: str, rules: Rules) -> str | None:
    """The numbers of the passages in a prompt that asks for their order, best first; None for
    another prompt."""
    query, passages = _QUERY.search(prompt), _PASSAGE.findall(prompt)
    if query is None or not passages:
        return None
    given = scores(query[1], [text for _, text in passages], rules)
    order = sorted(range(len(given)), key=lambda at: -(given[at] or 0.0))
    return " > ".join(passages[at][0] for at in order)
