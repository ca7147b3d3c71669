"""The results of Confluence's listings: of the next link only the step is taken, never the host."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any
from urllib.parse import parse_qsl, urlsplit

from seoga_indexer.source import SourceUnavailable
from seoga_indexer.sources._paging import Json, Step, pieces
from seoga_indexer.sources._reading import dig
from seoga_indexer.sources._rest import Rest

_STEPS = frozenset(("cursor", "start", "limit", "next"))


def results(rest: Rest, path: str, params: Mapping[str, str]) -> Iterator[Json]:
    """The results of all pages of a listing. Raises what Rest raises, and SourceUnavailable."""

    def ask(step: Step) -> Json:
        # A cursor goes on from itself; a start beside it would be another place.
        first = {name: value for name, value in params.items() if name != "start" or not step}
        return rest.json(path, {**first, **step})

    for answer in pieces(ask, _following, "results", f"{rest.host}: its listing of {path}"):
        found = answer.get("results")
        if not isinstance(found, list):
            raise SourceUnavailable(f"{rest.host} answers {path} without results")
        yield from dicts(found)


def dicts(value: Any) -> list[Json]:
    """The objects of a JSON list; none for anything else."""
    return [one for one in value if isinstance(one, dict)] if isinstance(value, list) else []


def _following(answer: Json) -> Step | None:
    link = dig(answer, "_links", "next")
    if not link:
        return None
    return {name: value for name, value in parse_qsl(urlsplit(str(link)).query) if name in _STEPS}
