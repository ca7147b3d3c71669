"""A run in a process of its own that a test can kill: `indexing_child.py BASE LOG`.

Every file that is extracted is named in LOG before it is read.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from seoga.contracts.extraction import Event, Extraction, Finishing
from seoga.kb import find_kb
from seoga.settings import Settings
from seoga.wiring import Stack
from seoga_indexer.engine import IndexingEngine


class Logged:
    """An extraction port that writes down what it is asked for."""

    def __init__(self, inner: Extraction, log: Path) -> None:
        self._inner, self._log = inner, log

    def extract(self, path: Path, name: str) -> Iterator[Event]:
        with self._log.open("a", encoding="utf-8") as log:
            log.write(name + "\n")
        yield from self._inner.extract(path, name)

    def finish(self, files: Sequence[tuple[Path, str, Any]], task: str) -> list[Any]:
        assert isinstance(self._inner, Finishing)
        made = self._inner.finish(files, task)
        with self._log.open("a", encoding="utf-8") as log:
            log.writelines(
                f"{name}\n" for (_, name, _), one in zip(files, made, strict=True) if one
            )
        return made

    def describe(self) -> dict[str, Any]:
        return self._inner.describe()

    def close(self) -> None:
        self._inner.close()


def main(base: Path, log: Path) -> None:
    stack = Stack(Settings(base_path=base, extract_workers=2, embed_processes=1))
    stack.extraction = Logged(stack.extraction, log)
    engine = IndexingEngine(stack)
    print("running", flush=True)
    result = engine.run_kb(find_kb(base, "kb"))
    engine.close()
    stack.close()
    print(json.dumps(result.to_json()), flush=True)


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]))
