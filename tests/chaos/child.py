"""An indexing run in a process of its own that is to be hurt: `child.py BASE LOG [OPTIONS]`.

LOG gets a line for every piece of work before it is done: `read NAME HASH` and `embed - HASH`.
OPTIONS is a JSON object: `lease_s`, and `clock_s`, by which the wall clock jumps at every reading
after the first hundred.
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Iterator, Sequence
from hashlib import blake2b
from pathlib import Path
from typing import Any

from seoga.contracts.embedding import Passage
from seoga.contracts.extraction import Event, Made
from seoga.errors import SeogaError
from seoga.kb import find_kb
from seoga.settings import Settings
from seoga.wiring import Stack
from seoga_indexer.engine import IndexingEngine


def digest(data: bytes) -> str:
    return blake2b(data, digest_size=8).hexdigest()


def content(path: Path) -> str:
    """The digest of a file, or that it went meanwhile, which is the product's to tell."""
    try:
        return digest(path.read_bytes())
    except OSError:
        return "gone"


class Log:
    """Lines that are on their way to the disk when `add` returns, whatever happens to us."""

    def __init__(self, path: Path) -> None:
        self._file = path.open("ab", buffering=0)

    def add(self, *words: str) -> None:
        self._file.write((" ".join(words) + "\n").encode())


class LoggedExtraction:
    """The product's extraction, writing down what it is asked for."""

    def __init__(self, inner: Any, log: Log) -> None:
        self._inner, self._log = inner, log

    def extract(self, path: Path, name: str) -> Iterator[Event]:
        self._log.add("read", name.replace(" ", "_"), content(path))
        yield from self._inner.extract(path, name)

    def finish(self, files: Sequence[tuple[Path, str, Any]], task: str) -> list[Made | None]:
        made: list[Made | None] = self._inner.finish(files, task)
        for (path, name, _), one in zip(files, made, strict=True):
            # What is not finished is read by itself, and written down there.
            if one is not None:
                self._log.add("read", name.replace(" ", "_"), content(path))
        return made

    def describe(self) -> dict[str, Any]:
        described: dict[str, Any] = self._inner.describe()
        return described

    def close(self) -> None:
        self._inner.close()


class LoggedEmbedding:
    """The product's embedding, writing down each passage."""

    def __init__(self, inner: Any, log: Log) -> None:
        self._inner, self._log = inner, log

    def card(self, spec: Any) -> Any:
        return self._inner.card(spec)

    def embed_passages(self, passages: Sequence[Passage], spec: Any) -> Any:
        for passage in passages:
            self._log.add("embed", "-", digest(passage.text.encode()))
        return self._inner.embed_passages(passages, spec)

    def embed_query(self, text: str, spec: Any) -> Any:
        return self._inner.embed_query(text, spec)

    def embed_queries(self, texts: Sequence[str], spec: Any) -> Any:
        return self._inner.embed_queries(texts, spec)

    def prompt_id(self, spec: Any) -> Any:
        return self._inner.prompt_id(spec)

    def contextualize(self, excerpts: Any, spec: Any) -> Any:
        return self._inner.contextualize(excerpts, spec)

    def close(self) -> None:
        self._inner.close()


def jump(seconds: float) -> None:
    """The wall clock of this process goes back and forth."""
    real, readings = time.time_ns, [0]

    def jumping() -> int:
        readings[0] += 1
        return real() + (int(seconds * 1e9) if readings[0] > 100 and readings[0] % 2 else 0)

    time.time_ns = jumping


def main(base: Path, log: Path, options: dict[str, float]) -> int:
    if options.get("clock_s"):
        jump(options["clock_s"])
    lease_s = options.get("lease_s", 30.0)
    stack = Stack(
        Settings(base_path=base, extract_workers=2, embed_processes=1, lease_seconds=lease_s)
    )
    stack.extraction = LoggedExtraction(stack.extraction, Log(log))
    stack.embedding = LoggedEmbedding(stack.embedding, Log(log))
    engine = IndexingEngine(stack)
    print("running", flush=True)
    try:
        result = engine.run_kb(find_kb(base, "kb"))
    except SeogaError as error:
        print(json.dumps(error.shape()), flush=True)
        return error.exit_code
    finally:
        engine.close()
        stack.close()
    print(json.dumps({"status": result.status} | result.to_json()), flush=True)
    return result.exit_code


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1]), Path(sys.argv[2]), json.loads((sys.argv[3:] or ["{}"])[0])))
