"""A full disk stops a run with one clear sentence; with space again the next one goes on."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from .room import Room, finish, undisturbed


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A file system of 2 MiB."""
    disk = tmp_path / "room" / "base"
    disk.mkdir(parents=True)
    command = ["mount", "-t", "tmpfs", "-o", "size=2m", "seoga-test", str(disk)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        pytest.skip(f"no file system can be mounted here: {done.stderr.strip()}")
    yield disk
    subprocess.run(["umount", str(disk)], check=True)


def test_a_full_disk_is_a_clean_stop_and_resumable(small_disk: Path) -> None:
    room = Room(small_disk.parent, 3)
    code, said = finish(room.start())
    assert code == 1
    assert said["code"] == "storage_error"
    assert "the disk is full" in said["message"]
    assert "start again" in said["hint"]
    assert room.faults() == {}
    stored = room.stored()
    room.worked()
    subprocess.run(["mount", "-o", "remount,size=64m", str(small_disk)], check=True)
    code, said = finish(room.start())
    assert code == 0, said
    assert room.faults() == {}
    assert not set(room.worked()) & stored
    assert room.content() == undisturbed(room, small_disk.parent)
