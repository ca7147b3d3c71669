"""The suite keeps its own rules: the order of files is true, and nothing sleeps."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from ..longest import LONGEST

TESTS = Path(__file__).resolve().parents[1]


def test_every_file_that_takes_long_is_there_once() -> None:
    assert len(set(LONGEST)) == len(LONGEST)
    assert [name for name in LONGEST if not (TESTS / name).is_file()] == []


def test_lint_refuses_a_test_that_sleeps(tmp_path: Path) -> None:
    wrong = "import time\n\ntime.sleep(1)\n"
    done = subprocess.run(
        [
            *(Path(sys.executable).with_name("ruff"), "check", "--select", "TID251"),
            *("--config", TESTS.parent / "pyproject.toml", "--stdin-filename"),
            *(TESTS / "unit" / "test_wrong.py", "-"),
        ],
        input=wrong,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 1
    assert "`time.sleep` is banned" in done.stdout
