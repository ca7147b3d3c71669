"""What the protocols of providers behind HTTP share: headers, counts, checks of what came."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from seoga_embedding.provider import Answer, Call, Dialect, Endpoint, UnusableAnswer, Vector


class Plain:
    """A protocol whose servers all know what is asked."""

    def plainer(self) -> Dialect | None:
        """There is nothing to leave out."""
        return None


class Nameless(Plain):
    """A protocol that names neither the build of a model nor a version of its server."""

    def digest_call(self) -> Call | None:
        """There is nothing to ask."""
        return None

    def read_digest(self, body: Any) -> str | None:
        """Nothing to read."""
        del body
        return ""

    def version_call(self) -> Call | None:
        """There is nothing to ask."""
        return None

    def read_version(self, body: Any) -> str:
        """Nothing to read."""
        del body
        return ""


def key_in(header: str, endpoint: Endpoint, scheme: str = "") -> dict[str, str]:
    """The header that carries the key; none where there is no key. Never the address."""
    if not endpoint.key:
        return {}
    return {header: f"{scheme} {endpoint.key}" if scheme else endpoint.key}


def bearer(endpoint: Endpoint) -> dict[str, str]:
    """The key as OpenAI and most servers want it."""
    return key_in("authorization", endpoint, "Bearer")


def count_in(usage: Any, *names: str) -> int:
    """The sum of these counts of tokens; what is missing or no number is 0."""
    if not isinstance(usage, dict):
        return 0
    values = (usage.get(name) for name in names)
    return sum(value for value in values if isinstance(value, int))


def in_order(found: Any, count: int, name: str, tokens: int = 0) -> Answer:
    """Vectors that carry no number: they stand in the order of the texts, so that a wrong count
    places none of them. Raises UnusableAnswer."""
    if not isinstance(found, list):
        raise UnusableAnswer(f"it holds no list `{name}`")
    if len(found) != count:
        raise UnusableAnswer(f"it holds {len(found)} vectors for {count} texts")
    vectors: Sequence[Sequence[float] | Vector | None] = [
        vector if isinstance(vector, list) else None for vector in found
    ]
    return Answer(vectors, tokens)
