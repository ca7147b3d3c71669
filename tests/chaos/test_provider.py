"""Contexts come from a provider that counts its calls: whenever a run is killed, what was answered
and kept is not asked for again."""

from __future__ import annotations

import json
import subprocess
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import httpx
import pytest

from ..e2e.test_end_to_end import until
from .room import Room, finish, undisturbed
from .test_chaos import ROUNDS, SEED
from .test_services import answers

SEOGA = Path(sys.executable).parent / "seoga"
FIRST = 30
SHORT = 4
# Each round asks for at least so many answers more, and is killed on the way there.
MOST = 25
LATENCY_S = 0.04
# Calls that a kill may catch between the provider and the disk: as many as run at once.
IN_FLIGHT = 4


class Provider:
    """The product's fake of an OpenAI-like server, as a process that outlives the runs."""

    def __init__(self, url: str) -> None:
        self.url = url
        self._begin()

    def _begin(self) -> None:
        httpx.delete(f"{self.url}/fake")
        # Slow enough for a kill to come between a question and its answer.
        httpx.put(f"{self.url}/fake/rules", json={"latency": LATENCY_S}).raise_for_status()

    def answered(self) -> int:
        counts: dict[str, int] = httpx.get(f"{self.url}/fake/tally").json()["counts"]
        return counts.get("ok", 0)

    def asked(self) -> Counter[str]:
        """How often each prompt was sent since the last call."""
        calls: list[dict[str, Any]] = httpx.get(f"{self.url}/fake/calls").json()
        self._begin()
        return Counter(
            json.dumps(call["body"]["messages"], sort_keys=True)
            for call in calls
            if call["path"].endswith("/chat/completions")
        )


@pytest.fixture
def provider(free_ports: Callable[[int], list[int]], tmp_path: Path) -> Iterator[Provider]:
    [port] = free_ports(1)
    with (tmp_path / "provider.log").open("wb") as log:
        command = [SEOGA, "service", "fake-provider", "--port", str(port)]
        process = subprocess.Popen(command, stdout=log, stderr=log)
    url = f"http://127.0.0.1:{port}"
    try:
        until(partial(answers, url), 60, "the provider answers")
        yield Provider(url)
    finally:
        process.terminate()
        process.wait(timeout=15)


def play(room: Room, provider: Provider, rounds: int) -> None:
    asked = Counter[str]()
    for number in range(rounds):
        if number:
            room.change()
        child, count = room.start(), room.chance.randint(1, MOST)
        with child:
            until(partial(_got, provider, count, child), 60, "answers come")
            child.kill()
        asked += provider.asked()
        assert room.faults() == {}
    code, said = finish(room.start())
    assert code == 0, said
    asked += provider.asked()
    again = sum(asked.values()) - len(asked)
    print(f"{rounds} kills, {len(asked)} contexts, {again} asked for again")
    assert len(asked) > FIRST
    assert again <= IN_FLIGHT * rounds
    assert max(asked.values()) <= 1 + rounds
    [(raw,)] = room.query("SELECT count(*) FROM chunks WHERE context = ''")
    assert raw == 0
    assert room.content() == undisturbed(room, room.folder)


def _got(provider: Provider, count: int, child: subprocess.Popen[str]) -> bool:
    return provider.answered() >= count or child.poll() is not None


def room_with_contexts(folder: Path, provider: Provider, seed: int) -> Room:
    room = Room(folder / "room", seed, FIRST)
    contexts = {"provider": "openai", "model": "any", "baseUrl": f"{provider.url}/v1"}
    room.configure("hashing", contextualizer=contexts)
    return room


def test_no_context_that_was_kept_is_asked_for_again(tmp_path: Path, provider: Provider) -> None:
    """The short form, with a fixed seed."""
    play(room_with_contexts(tmp_path, provider, 7), provider, SHORT)


@pytest.mark.chaos
@pytest.mark.timeout(7200)
def test_no_context_is_asked_for_again_in_many_rounds(tmp_path: Path, provider: Provider) -> None:
    """`make chaos`: a kill for every 10 of CHAOS_ROUNDS."""
    print("CHAOS_SEED", SEED)
    play(room_with_contexts(tmp_path, provider, SEED), provider, max(SHORT, ROUNDS // 10))
