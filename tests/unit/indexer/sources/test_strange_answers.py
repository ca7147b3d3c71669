"""Servers whose answers are JSON of any other form: what is listed is whole, or the source is
unavailable; nothing else comes of it."""

from __future__ import annotations

import copy
import random
from collections.abc import Callable, Iterator
from contextlib import closing, suppress
from typing import Any

import pytest
from fake_confluence import FakeConfluence
from fake_jira import FakeJira
from fake_server import FakeServer, Reply, Request

from seoga.errors import SeogaError
from seoga.models import Item, Source
from seoga_indexer.source import Means, connector_for
from seoga_indexer.sources import _rest

STRANGE: list[Any] = [
    *(None, 7, -1, "x", "", [], {}, True, 1e300, "9" * 400, "\ud800", "../../x", "\x00", 10**30),
    *(["a", None, {"id": 1}], {"a": {"b": []}}, "2024-99-99T99:99:99", [[[[]]]]),
]
# Among them those that once led to an error of ours.
SEEDS = (0, 1, 37, 50)
MOST = 500


def strange(body: Any, chance: random.Random) -> Any:
    """The same with one of its values left out or of another kind."""
    body = copy.deepcopy(body)
    where = list(spots(body))
    holder, key = chance.choice(where) if where else ([body], 0)
    if chance.random() < 0.2:
        del holder[key]
    else:
        holder[key] = chance.choice(STRANGE)
    return body


def spots(body: Any) -> Iterator[tuple[Any, Any]]:
    """Every value, as what holds it and its key there."""
    keys = body.keys() if isinstance(body, dict) else range(len(body))
    for key in keys:
        yield body, key
        if isinstance(body[key], dict | list):
            yield from spots(body[key])


def wiki(cloud: bool) -> tuple[FakeServer, dict[str, Any]]:
    fake = FakeConfluence(cloud=cloud)
    fake.write("101", "Home", "<p>Welcome</p>")
    fake.write("1002", "Deploy", "<p>Use</p>", parent="101")
    fake.attach("att1", "1002", "file.txt", b"bytes")
    return fake, {"baseUrl": fake.url, "space": fake.space}


def jira(cloud: bool) -> tuple[FakeServer, dict[str, Any]]:
    fake = FakeJira(cloud=cloud)
    fake.write("ABC-1", summary="First", labels=["a"], assignee={"displayName": "K"})
    fake.write("ABC-10", summary="Last", issuetype={"name": "Bug"})
    fake.attach("ABC-1", "501", "trace.txt", b"stack")
    return fake, {"baseUrl": fake.url, "jql": "project = ABC"}


@pytest.mark.parametrize("cloud", [True, False], ids=["cloud", "data-center"])
@pytest.mark.parametrize("make", [wiki, jira])
def test_an_answer_of_any_form_is_a_whole_listing_or_none(
    make: Callable[[bool], tuple[FakeServer, dict[str, Any]]],
    cloud: bool,
    means: Means,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(_rest, "_FIRST_WAIT_S", 0.001)
    fake, options = make(cloud)
    right, chance = fake.answer, random.Random(0)

    def answer(request: Request) -> Reply:
        reply = right(request)
        if isinstance(reply.body, dict | list) and chance.random() < 0.3:
            return Reply(strange(reply.body, chance), reply.status, reply.headers)
        return reply

    monkeypatch.setattr(fake, "answer", answer)
    kind = "confluence" if make is wiki else "jira"
    with closing(fake):
        for seed in SEEDS:
            chance.seed(seed)
            connector = connector_for(Source(kind, "s", options=options), means)
            with closing(connector), suppress(SeogaError):
                for count, item in enumerate(connector.items()):
                    assert count < MOST
                    look_at(connector, item)


def look_at(connector: Any, item: Any) -> None:
    if isinstance(item, Item):
        assert item.path.encode()
        assert ".." not in item.path.split("/")
        with suppress(SeogaError, OSError), connector.open(item) as local:
            local.read_bytes()
