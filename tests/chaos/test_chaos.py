"""Whatever happens to runs, the index tells one story, nothing stored is made twice, and in the
end it is the index that an undisturbed run makes."""

from __future__ import annotations

import os
import random
from collections import Counter
from pathlib import Path

import pytest

from .faults import FAULTS, Fault
from .room import Room, finish, undisturbed

ROUNDS = int(os.environ.get("CHAOS_ROUNDS", "200"))
SEED = int(os.environ.get("CHAOS_SEED", random.SystemRandom().randrange(10**9)))


def one_round(room: Room, fault: Fault, number: int) -> Counter[str]:
    """Changes documents, lets a fault happen, looks at what is left; how much was made twice."""
    if number % 3:
        room.change()
    stored, before = room.stored(), room.worked()
    assert not before
    if not room.wal().exists():
        room.safe = read_works(stored)
    room.safe &= stored
    fault(room)
    faults = room.faults()
    assert faults == {}, (fault.__name__, number, faults)
    # Whatever the end of a log takes with it, the next round asks what is left: only that which
    # was lost may be done again. And lost is nothing that was in the database itself.
    twice = {work for work in room.worked() if work in stored}
    assert not twice, (fault.__name__, number, sorted(twice)[:5])
    kept = room.stored()
    assert room.safe <= kept, (fault.__name__, number, sorted(room.safe - kept)[:5])
    return Counter({fault.__name__: 1, "lost": len(read_works(stored) - kept)})


def read_works(works: set[str]) -> set[str]:
    return {work for work in works if work.startswith("read ")}


def play(room: Room, order: list[Fault]) -> None:
    """All rounds, an undisturbed run, and the comparison with a fresh index."""
    told: Counter[str] = Counter()
    for number, fault in enumerate(order):
        told += one_round(room, fault, number)
    code, said = finish(room.start())
    assert code == 0, said
    assert room.faults() == {}
    whole = undisturbed(room, room.folder)
    for expected, found in zip(whole, room.content(), strict=True):
        differing = [pair for pair in zip(expected, found, strict=False) if pair[0] != pair[1]]
        assert (len(found), differing[:2]) == (len(expected), [])
    print(dict(told), len(whole[0]), "rows")


def test_every_fault_once(tmp_path: Path) -> None:
    """The short form: the seed is fixed, each fault comes once."""
    play(Room(tmp_path, 7), list(dict.fromkeys(FAULTS)))


@pytest.mark.chaos
@pytest.mark.timeout(7200)
def test_many_faults(tmp_path: Path) -> None:
    """`make chaos`: CHAOS_ROUNDS rounds; CHAOS_SEED plays one again."""
    print("CHAOS_SEED", SEED)
    room = Room(tmp_path, SEED)
    play(room, [room.chance.choice(FAULTS) for _ in range(ROUNDS)])
