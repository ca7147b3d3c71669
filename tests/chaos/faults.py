"""What happens to a run: each function starts one, disturbs it, and leaves no process behind."""

from __future__ import annotations

import signal
import sqlite3
import struct
import time
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

from .room import LIMIT_S, Room, finish, wait

# Of SQLite's log, and of its memory that processes share, in bytes.
LOG_HEAD, FRAME_HEAD, COPIED_AT = 32, 24, 128
# Of the length of an undisturbed run after a change.
LENGTH_S = 1.2
Fault = Callable[[Room], None]


def killed(room: Room) -> None:
    """kill -9 at a random moment."""
    child = room.start()
    wait(child, room.chance.random() * LENGTH_S)
    with child:
        child.kill()


def torn(room: Room) -> None:
    """A kill, and the log of the database loses its end, or holds rubbish there (a power cut)."""
    killed(room)
    log = room.wal()
    data = log.read_bytes() if log.exists() else b""
    kept = _synced(data, log.with_name(log.name.removesuffix("wal") + "shm"))
    if kept >= len(data):
        return
    cut = room.chance.randrange(kept, len(data))
    rubbish = room.chance.randbytes(len(data) - cut) if room.chance.random() < 0.5 else b""
    log.write_bytes(data[:cut] + rubbish)


def _synced(log: bytes, shared: Path) -> int:
    """The bytes of the log that no power cut takes: SQLite has them on the disk before it copies
    pages into the database (nBackfillAttempted of https://www.sqlite.org/walformat.html)."""
    if len(log) < LOG_HEAD:
        return 0
    (page_bytes,) = struct.unpack(">I", log[8:12])
    copied = shared.read_bytes()[COPIED_AT : COPIED_AT + 4] if shared.exists() else b"\0" * 4
    frames: int = struct.unpack("=I", copied)[0]
    return LOG_HEAD + frames * (FRAME_HEAD + page_bytes) if frames else 0


def asleep(room: Room) -> None:
    """The owner of the lease is stopped, another takes over; it wakes late and must not write.

    Stopped in the middle of a write it keeps the lock of the database too: then the others can
    only wait for it, and say so."""
    sleeper = room.start(lease_s=1.0)
    wait(sleeper, 0.3 + room.chance.random() * LENGTH_S)
    # One that has ended by now (a fast machine) gets no signal.
    sleeper.send_signal(signal.SIGSTOP)
    code, said = 3, {"code": "busy", "message": ""}
    deadline = time.monotonic() + LIMIT_S
    while code == 3 and "locked" not in said["message"] and time.monotonic() < deadline:
        code, said = finish(room.start())
    # That lock keeps readers out as well, while the log is begun anew.
    before = room.content() if code != 3 else []
    sleeper.send_signal(signal.SIGCONT)
    woken, told = finish(sleeper)
    if code == 3:
        assert woken == 0, told
        return
    assert code == 0, said
    # It may have stopped before it had the lease, or after its last write.
    assert woken == 0 or told["code"] in ("lease_lost", "busy", "database_locked"), told
    assert woken == 0 or room.content() == before


def two(room: Room) -> None:
    """Two at once: one works, the other is refused or comes after it; one of them is killed."""
    children = [room.start(), room.start()]
    if room.chance.random() < 0.5:
        wait(children[0], room.chance.random() * LENGTH_S)
        children[0].kill()
    for child in children:
        code, said = finish(child)
        assert code in (0, 3, -signal.SIGKILL), said


def jumping(room: Room) -> None:
    """The wall clock jumps by a day, back and forth."""
    day = 86_400.0
    code, said = finish(room.start(clock_s=day if room.chance.random() < 0.5 else -day))
    assert code == 0, said


def vanishing(room: Room) -> None:
    """The folder of the documents goes in the middle of the scan, and comes back later."""
    before = len(room.query("SELECT 1 FROM files"))
    child = room.start()
    wait(child, room.chance.random() * 0.5)
    away = room.docs.with_name("away")
    room.docs.rename(away)
    code, said = finish(child)
    assert code in (0, 1), said
    assert len(room.query("SELECT 1 FROM files")) >= before * 0.9
    away.rename(room.docs)


def asked(room: Room) -> None:
    """A person cancels, by the file."""
    child = room.start()
    wait(child, room.chance.random() * LENGTH_S)
    (room.base / "kb" / "cancel").touch()
    code, said = finish(child)
    assert code in (0, 2), said


def read(room: Room) -> None:
    """A reader never ends its transaction while a run writes."""
    if not room.query("SELECT 1"):
        return killed(room)
    with closing(sqlite3.connect(room.db_path, isolation_level=None)) as conn:
        conn.execute("BEGIN")
        conn.execute("SELECT count(*) FROM chunks").fetchone()
        code, said = finish(room.start())
        assert code == 0, said
    return None


# Kills are what happens most.
FAULTS: tuple[Fault, ...] = (
    killed,
    killed,
    killed,
    torn,
    asleep,
    two,
    jumping,
    vanishing,
    asked,
    read,
)
