"""A fake provider that tells of its calls as they come, and a knowledge base that waits for it."""

from __future__ import annotations

import json
from pathlib import Path
from queue import Queue
from typing import Any

from seoga_embedding.fake.rules import Desk, Fault

# Nobody who waits for an answer ends before this.
HELD_S = 60
# Two seconds for what is under way, and the end of a process on a machine that is busy.
SOON_S = 20
EMBEDDING = {"provider": "openai", "model": "text-embedding-3-small"}
LLM = {"provider": "anthropic", "model": "claude-haiku-4-5"}
STAGES: dict[str, dict[str, Any]] = {
    # Nobody knows the size of its vectors: it is asked for before anything else.
    "probe": {"embedding": EMBEDDING | {"model": "nobody-knows-it"}},
    "vectors": {"embedding": EMBEDDING},
    "contexts": {"embedding": {"provider": "hashing"}, "contextualizer": LLM},
    "batches": {"embedding": {"provider": "hashing"}, "contextualizer": LLM | {"batch": True}},
}
KEYS = {"OPENAI_API_KEY": "any", "ANTHROPIC_API_KEY": "any"}
FILES = 30


class Watched(Desk):
    """Tells of each call, by its path, when it comes."""

    def __init__(self) -> None:
        self.came: Queue[str] = Queue()
        super().__init__()

    def record(self, call: dict[str, Any]) -> Fault | None:
        self.came.put(call["path"])
        return super().record(call)


def folder_of_notes(base: Path) -> Path:
    """The folder of a knowledge base without a configuration, and 30 notes beside the base."""
    docs = base.parent / "docs"
    docs.mkdir()
    for number in range(FILES):
        (docs / f"{number:03}.md").write_text(f"# Title {number}\n\nAnnual leave {number}.\n")
    (base / "kb").mkdir()
    return base / "kb"


def configure(kb: Path, url: str, stage: str) -> None:
    """Has the notes asked for at `url`, by a stage of STAGES."""
    keys = {name: part | {"baseUrl": url} for name, part in STAGES[stage].items()}
    docs = str(kb.parent.parent / "docs")
    (kb / "config.json").write_text(json.dumps({"id": "kb", "sourcePaths": [docs], **keys}))
