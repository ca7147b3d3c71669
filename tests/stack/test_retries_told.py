"""A call that is tried again is one line of Seoga's own form: who, why, how long until then."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from seoga_embedding.fake.rules import Fault

from .watched import KEYS, STAGES, Watched, configure, folder_of_notes

SEOGA = Path(sys.executable).with_name("seoga")
KEY = "sk-marked-0123456789abcdef"
# A provider that repeats what it was sent.
ECHO = f"cannot read 'Annual leave 7.' of Bearer {KEY}"
FAULTS = {
    "503": (Fault(status=503, message=ECHO, code="Annual leave"), "answered HTTP 503"),
    "429": (Fault(status=429, message=ECHO, retry_after="0.1"), "answered HTTP 429"),
    "cut": (Fault(kind="cut"), "cannot be reached (RemoteProtocolError)"),
}


def told(kb: Path) -> str:
    """What a run says on stderr."""
    keys = dict.fromkeys(KEYS, KEY)
    process = subprocess.run(
        [SEOGA, "exec", "--path", kb],
        env={**os.environ, **keys},
        capture_output=True,
        text=True,
        check=True,
        timeout=120,
    )
    return process.stderr


@pytest.mark.parametrize("stage", ["vectors", "contexts"])
@pytest.mark.parametrize("name", FAULTS)
def test_a_try_that_follows_is_one_line_with_provider_reason_and_wait(
    base_path: Path, url: str, desk: Watched, name: str, stage: str
) -> None:
    fault, reason = FAULTS[name]
    kb = folder_of_notes(base_path)
    configure(kb, url, stage)
    desk.expect([fault.model_copy()])
    said = told(kb)
    (line,) = [line for line in said.splitlines() if "tried again" in line]
    asked = STAGES[stage]["embedding" if stage == "vectors" else "contextualizer"]
    assert "[warning  ] a call to a provider is tried again" in line
    assert f"provider={asked['provider']} reason='{reason}' wait_s=" in line
    assert 0 <= float(line.rpartition("=")[2]) < 10
    for word in ("stamina", "retry_scheduled", "Annual leave", KEY, KEY[:11]):
        assert word not in said
