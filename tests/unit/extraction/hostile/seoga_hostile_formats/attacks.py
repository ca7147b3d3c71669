"""One format whose content names the attack."""

from __future__ import annotations

import mmap
import os
import signal
import threading
from collections.abc import Iterator

from seoga.models import DocumentInfo, Section
from seoga_extraction.format import Format, Input


def parse(source: Input) -> Iterator[DocumentInfo | Section]:
    order = source.head.decode().split()[1:]
    yield DocumentInfo("attack", meta={"pid": os.getpid()})
    yield Section("before")
    # Longer than a frame waits, so that the first events are on their way.
    threading.Event().wait(0.3)
    yield Section("sent")
    ATTACKS[order[0]]()
    yield Section("after")


def segfault() -> None:
    os.kill(os.getpid(), signal.SIGSEGV)


def killed() -> None:
    os.kill(os.getpid(), signal.SIGKILL)


def leave() -> None:
    os._exit(3)


def hang() -> None:
    threading.Event().wait(3600)


def spin() -> None:
    while True:
        pass


def eat() -> None:
    held = []
    while True:
        held.append(bytearray(16 << 20))


def nest() -> None:
    nest()


def shout() -> None:
    print("noise on stdout")
    os.write(1, b"more noise" * 10000)
    os.write(2, b"noise on stderr" * 100000)


def bug() -> None:
    raise KeyError("inside the parser")


def leak() -> None:
    KEPT.append(bytearray(b"x") * (420 << 20))


def reserve() -> None:
    RESERVED.append(mmap.mmap(-1, 400 << 20))


def fine() -> None:
    return


KEPT: list[bytearray] = []
RESERVED: list[mmap.mmap] = []
ATTACKS = {
    attack.__name__: attack
    for attack in (segfault, killed, leave, hang, spin, eat, nest, shout, bug, leak, reserve, fine)
}
FORMAT = Format("attack", parse, sniff=lambda source: source.head.startswith(b"ATTACK "))
