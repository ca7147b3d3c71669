"""A dead owner of this machine is seen at once; nobody else's death is guessed."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from seoga.storage.database import open_writer
from seoga.storage.leases import Lease, holder
from seoga.storage.owners import is_dead, new_owner

HOLD = """
import sys
from pathlib import Path
from seoga.storage.database import open_writer
from seoga.storage.leases import Lease
path = Path(sys.argv[1])
open_writer(path).close()
lease = Lease.acquire(path, seconds=600)
print("held", flush=True)
sys.stdin.read()
"""


def test_this_process_is_alive() -> None:
    assert not is_dead(new_owner())


def test_an_owner_of_another_namespace_or_form_is_never_called_dead() -> None:
    name, _, rest = new_owner().partition("@")
    assert not is_dead(name)
    assert not is_dead(f"{name}@elsewhere-1/{rest.partition('/')[2]}")
    assert not is_dead("")


def test_a_pid_that_was_used_again_is_a_dead_owner() -> None:
    name, _, rest = new_owner().partition("@")
    space = rest.partition("/")[0]
    if not space:
        pytest.skip("this system does not tell its pid namespace")
    assert is_dead(f"{name}@{space}/1")


def test_the_lease_of_a_killed_process_is_free_at_once(tmp_path: Path) -> None:
    if "@/" in new_owner():
        pytest.skip("this system does not tell its pid namespace")
    path = tmp_path / "rag.db"
    with subprocess.Popen(
        [sys.executable, "-c", HOLD, str(path)], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as child:
        assert child.stdout is not None
        assert child.stdout.readline() == b"held\n"
        conn = open_writer(path)
        assert holder(conn, "writer") is not None
        child.kill()
        child.wait()
        assert holder(conn, "writer") is None
        conn.close()
        Lease.acquire(path, seconds=600).release()
