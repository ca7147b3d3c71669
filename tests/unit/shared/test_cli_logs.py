"""The log of a command: troubles only, in the form and from the level that the settings ask for."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

REMOVED = "a request to stop from before this run was removed"


@pytest.fixture
def kb(tmp_path: Path) -> Path:
    folder, docs = tmp_path / "base" / "kb", tmp_path / "docs"
    docs.mkdir()
    (docs / "a.md").write_text("# Leave\n\nAnnual leave.\n")
    folder.mkdir(parents=True)
    config = {"id": "kb", "name": "kb", "sourcePaths": [str(docs)], "embedding": {"provider": ""}}
    (folder / "config.json").write_text(json.dumps(config))
    return folder


def log_of_run(kb: Path, **environment: str) -> list[str]:
    """What a run says on stderr that was left a request to stop by one before it."""
    (kb / "cancel").touch()
    done = subprocess.run(
        [Path(sys.executable).with_name("seoga"), "exec", "--path", kb],
        env=os.environ | environment,
        capture_output=True,
        timeout=120,
        check=True,
    )
    return [line for line in done.stderr.decode().splitlines() if REMOVED in line]


def test_a_command_logs_as_json_where_the_settings_say_so(kb: Path) -> None:
    [line] = log_of_run(kb, SEOGA_LOG_JSON="1")
    said = json.loads(line)
    assert (said["level"], said["part"]) == ("warning", "indexer")
    assert said["event"] == REMOVED


def test_a_command_logs_from_the_level_that_the_settings_say(kb: Path) -> None:
    assert len(log_of_run(kb)) == 1
    assert log_of_run(kb, SEOGA_LOG_LEVEL="error") == []
