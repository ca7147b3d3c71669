"""A provider of which one call in twenty goes wrong, in every way: each chunk ends as it must, in
few calls. `make bench NAME=soak` does the same with 20,000."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from seoga.kb import load_kb
from seoga.settings import Settings
from seoga.wiring import Stack
from seoga_embedding.remote import sender

from ..bench import soak

CHUNKS = 1000


@pytest.fixture
def fake(free_port: int) -> Iterator[str]:
    command = [Path(sys.executable).parent / "seoga", "service", "fake-provider"]
    process = subprocess.Popen(
        [*command, "--port", str(free_port)],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        env=dict(os.environ),
    )
    assert process.stderr is not None
    # It says where it is, then listens; whoever comes too early is told so and comes again.
    assert str(free_port).encode() in process.stderr.readline()
    yield f"http://127.0.0.1:{free_port}"
    process.terminate()
    process.wait(15)
    process.stderr.close()


def test_every_chunk_is_indexed_or_failed_for_its_own_reason(
    fake: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "any")
    monkeypatch.setattr(sender, "DOCUMENT_READ_S", soak.PATIENCE_S)
    bad = soak.write(tmp_path / "docs", CHUNKS)
    soak.configure(tmp_path / "base" / "kb", tmp_path / "docs", fake)
    soak.begin(fake)
    stack = Stack(Settings(base_path=tmp_path / "base", provider_calls=8))
    try:
        for _ in range(soak.RUNS):
            assert stack.indexing.run_kb(load_kb(tmp_path / "base" / "kb")).warnings == ()
    finally:
        stack.close()
    found = soak.outcome(tmp_path / "base" / "kb" / "rag.db", fake, bad)
    assert found.wrong == []
    assert (found.chunks, found.doubled) == (CHUNKS, 0)
    assert found.states == {"Indexed": CHUNKS - len(bad), "Failed": len(bad)}
    assert len(bad) == 3
    # One batch more or less weighs much here; the long form is held to 1.2.
    assert found.ratio <= 1.35
