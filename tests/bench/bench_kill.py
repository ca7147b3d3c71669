"""kill -9 of the indexer at 20 random moments, each followed by a run that must end with the index
of an undisturbed one: the test of that name, longer."""

from __future__ import annotations

import os
import subprocess
import sys

from bench import CHECKOUT

ROUNDS = 20

if __name__ == "__main__":
    command = [sys.executable, "-m", "pytest", "-s", "--timeout=3600", "tests/stack/test_kill.py"]
    environment = {**os.environ, "KILL_ROUNDS": str(ROUNDS)}
    sys.exit(subprocess.run(command, cwd=CHECKOUT, env=environment, check=False).returncode)
