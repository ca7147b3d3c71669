"""What the workers of a service know of one another."""

from __future__ import annotations

import json
import subprocess
import sys
from contextlib import ExitStack

from seoga.workload import Workload

# A parent with nothing to do and its child with two requests, each asked whether it is heavy.
TWO = """
import json, os, sys
from seoga.workload import Workload
load = Workload()
mine, child = load.claim(), load.claim()
to_parent, to_child = os.pipe(), os.pipe()
if os.fork() == 0:
    load.work_at(child)
    with load.request(), load.request():
        os.write(to_parent[1], b"x")
        os.read(to_child[0], 1)
        os.write(to_parent[1], b"1" if load.heavy else b"0")
    os._exit(0)
load.work_at(mine)
os.read(to_parent[0], 1)
os.write(to_child[1], b"x")
child_heavy = os.read(to_parent[0], 1) == b"1"
os.wait()
print(json.dumps([child_heavy, load.heavy]))
"""


def test_a_worker_is_heavy_while_another_would_have_fewer_with_one_more() -> None:
    load = Workload()
    busy, idle = load.claim(), load.claim()
    load.work_at(busy)
    with ExitStack() as under_way:
        seen = []
        for _ in range(3):
            under_way.enter_context(load.request())
            seen.append(load.heavy)
        load.work_at(idle)
        with load.request():
            idle_is = load.heavy
            load.work_at(busy)
            seen.append(load.heavy)
            load.work_at(idle)
        load.work_at(busy)
    assert seen == [False, True, True, True]
    assert not idle_is
    assert not load.heavy, "what is over counts no more"


def test_who_has_ended_is_nobody_to_give_work_to() -> None:
    load = Workload()
    alone, other = load.claim(), load.claim()
    load.work_at(alone)
    with load.request(), load.request():
        assert load.heavy
        load.release(other)
        assert not load.heavy
        assert load.claim() == other, "its place is free again"


def test_a_process_without_a_place_gives_nothing_back() -> None:
    load = Workload()
    load.claim()
    with load.request(), load.request():
        assert not load.heavy
    places = [load.claim() for _ in range(300)]
    assert places.count(None) == 300 - 255
    load.release(None)
    load.work_at(None)
    assert not load.heavy


def test_what_one_process_has_under_way_the_other_sees() -> None:
    command = [sys.executable, "-c", TWO]
    said = subprocess.run(command, capture_output=True, text=True, timeout=60, check=True).stdout
    assert json.loads(said) == [True, False]
