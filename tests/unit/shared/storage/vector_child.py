"""Writes vectors in a process that kills itself (SIGKILL) at the point of a commit it is told."""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from seoga.storage import matrixfile
from seoga.storage.database import open_writer
from seoga.storage.documents import DocumentStore

sys.path.insert(0, str(Path(__file__).parent))
from stored import card, embed_all, prepared


def die(*_: object) -> None:
    os.kill(os.getpid(), signal.SIGKILL)


def dying_after(function: Callable[..., Any]) -> Callable[..., Any]:
    def called(*values: Any) -> None:
        function(*values)
        die()

    return called


def half(file: Any) -> Any:
    """The bytes reach the file by half."""
    os.ftruncate(file, os.fstat(file).st_size - 10)
    die()


def main(path: Path, point: str) -> None:
    store = DocumentStore(open_writer(path))
    generation = store.ensure_generation(card())
    store.commit_text([prepared("late.md", "delta", "epsilon")])
    match point:
        case "before the file":
            matrixfile.flush = die
        case "half written":
            os.fdatasync = half  # type: ignore[assignment]
        case "before the sync":
            os.fdatasync = die
        case "before the commit":
            matrixfile.flush = dying_after(matrixfile.flush)
        case "after the commit":
            embed_all(store)
            die()
        case "new file before it counts":
            matrixfile.write_anew = dying_after(matrixfile.write_anew)
        case "new file before the commit":
            matrixfile.adopt = dying_after(matrixfile.adopt)
    if point.startswith("new file"):
        matrixfile.state(store.conn, generation, path).path.unlink()  # type: ignore[union-attr]
        store.make_matrices()
    embed_all(store)


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2])
