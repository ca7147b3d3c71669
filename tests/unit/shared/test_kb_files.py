"""Configs and labels that are no regular files, or hold text that nothing can hold."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest

from seoga import kb
from seoga.errors import ConfigError
from seoga.instances import open_instance


def write(folder: Path, **config: Any) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    (folder / kb.CONFIG).write_text(json.dumps(config))
    return folder


@pytest.mark.parametrize(
    ("config", "why"),
    [
        ({"sourcePaths": ["/a", "/b\0"]}, "sourcePaths.1 holds a NUL character"),
        ({"name": "\ud800x"}, "name holds half a character"),
        ({"sources": [{"path": "/\udfff"}]}, "sources.0.path holds half a character"),
        ({"search": {"\ud800": 1}}, r"the name of the key search.\ud800 holds half a character"),
        ({"indexPath": "a\0b"}, "indexPath holds a NUL character"),
    ],
)
def test_text_that_no_path_and_no_answer_can_hold_is_a_fault_of_its_key(
    base_path: Path, config: dict[str, Any], why: str
) -> None:
    folder = write(base_path / "kb", **config)
    with pytest.raises(ConfigError) as caught:
        kb.load_kb(folder)
    assert why in caught.value.message
    caught.value.message.encode("utf-8")
    assert kb.list_kbs(base_path).problems


def test_a_pipe_as_a_config_or_as_labels_blocks_nobody(base_path: Path) -> None:
    for name in ("a", "b"):
        write(base_path / name, sourcePaths=["/docs"])
    os.mkfifo(base_path / "a" / kb.LABELS)
    (base_path / "b" / kb.CONFIG).unlink()
    os.mkfifo(base_path / "b" / kb.CONFIG)
    listing = kb.list_kbs(base_path)
    assert [one.id for one in listing.kbs] == ["a"]
    [problem] = listing.problems
    assert "it is a named pipe, not a regular file" in problem.message
    with pytest.raises(ConfigError, match="named pipe"):
        kb.find_kb(base_path, "b")
    with pytest.raises(ConfigError, match="named pipe"):
        open_instance(base_path / "b" / kb.CONFIG)


def test_a_label_that_is_no_text_is_given_anew(base_path: Path) -> None:
    folder = write(base_path / "kb", sourcePaths=["/docs", "/more"])
    (folder / kb.LABELS).write_text('{"/docs": "\\ud800", "/more": "kept"}')
    assert [one.label for one in kb.load_kb(folder).sources()] == ["docs", "kept"]
