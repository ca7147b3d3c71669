"""A child process that embeds batches: `python -m seoga_embedding.child FD PARENT`."""

from __future__ import annotations

import os
import resource
import signal
import sys
from multiprocessing.connection import Connection

from seoga.contracts.embedding import Passage
from seoga.errors import SeogaError
from seoga.models import EmbeddingSpec
from seoga_embedding.passages import Result, embed_all
from seoga_embedding.provider import ModelRow, Provider
from seoga_embedding.registry import open_provider

Work = tuple[EmbeddingSpec, list[Passage]]
# READY, then one answer a batch: the results, or the error of the provider as a whole; with the
# peak memory of the child in KiB.
Answer = tuple[list[Result] | SeogaError, int]
READY = "ready"
# Documents wait for people: a query and the keyword index go first.
NICENESS = 10
_LOOK_S = 5.0


def main() -> None:
    """Answers batches until the parent closes the connection or is gone."""
    connection: Connection[Answer | str, Work] = Connection(int(sys.argv[1]))
    parent = int(sys.argv[2])
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    os.nice(NICENESS)
    opened: dict[EmbeddingSpec, tuple[Provider, ModelRow]] = {}
    connection.send(READY)
    while True:
        while not connection.poll(_LOOK_S):
            # A fork of the parent may hold the other end open, so its death shows only here.
            if os.getppid() != parent:
                return
        try:
            work = connection.recv()
        except EOFError:
            return
        connection.send((_answer(opened, work), _peak_kib()))


def _answer(
    opened: dict[EmbeddingSpec, tuple[Provider, ModelRow]], work: Work
) -> list[Result] | SeogaError:
    spec, passages = work
    try:
        if spec not in opened:
            opened[spec] = open_provider(spec)
        provider, row = opened[spec]
        return embed_all(provider, row, passages)
    except SeogaError as error:
        return error


def _peak_kib() -> int:
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak // 1024 if sys.platform == "darwin" else peak


if __name__ == "__main__":
    main()
