"""A run that is asked to stop while a long recording is being transcribed ends at once, in one
process and over the extraction service, and the recogniser is let go."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import wave
from pathlib import Path
from typing import Any

import psutil
import pytest

from seoga.settings import Settings
from seoga_extraction.lanes import SPEECH, lanes
from seoga_extraction.speech.config import SpeechConfig
from seoga_extraction.speech.weights import lacking

from ..waiting import when

SEOGA = Path(sys.executable).with_name("seoga")
SOON_S = 20
MINUTES = 30
# More than the start of a process takes.
WORKED_S = 6


@pytest.fixture
def kb(base_path: Path, tmp_path: Path, handed: Path) -> Path:
    """One recording of half an hour, which takes minutes."""
    [options] = [lane.options for lane in lanes(Settings()) if lane.name == SPEECH]
    if why := lacking(SpeechConfig.from_json(options)):
        pytest.skip(why)
    docs = tmp_path / "docs"
    docs.mkdir()
    with wave.open(str(handed / "audio" / "leopard__test.wav")) as clip:
        form, said = clip.getparams(), clip.readframes(clip.getnframes())
    with wave.open(str(docs / "long.wav"), "wb") as out:
        out.setparams(form)
        for _ in range(60 * MINUTES * form.framerate // form.nframes):
            out.writeframes(said)
    (base_path / "kb").mkdir()
    config = {"id": "kb", "sourcePaths": [str(docs)], "embedding": {"provider": "hashing"}}
    (base_path / "kb" / "config.json").write_text(json.dumps(config))
    return base_path / "kb"


def at_work(process: psutil.Process) -> list[psutil.Process]:
    """Those of its children that have computed for some seconds."""
    found = []
    for child in process.children(recursive=True):
        try:
            times = child.cpu_times()
        except psutil.NoSuchProcess:
            continue
        if times.user + times.system > WORKED_S:
            found.append(child)
    return found


@pytest.fixture(params=["in this process", "over the service"])
def service(request: pytest.FixtureRequest, start_service: Any) -> dict[str, str]:
    if request.param == "in this process":
        return {}
    return {"SEOGA_EXTRACTION_URL": start_service("extraction")}


def process_of(url: str) -> psutil.Process:
    """The master of a service on this port."""
    port = url.rsplit(":", 1)[1]
    return next(
        child
        for child in psutil.Process().children()
        if child.status() != psutil.STATUS_ZOMBIE and f"--bind=127.0.0.1:{port}" in child.cmdline()
    )


@pytest.mark.slow
@pytest.mark.parametrize("form", ["signal", "file"])
def test_a_recording_that_is_being_transcribed_holds_up_no_stop(
    kb: Path, service: dict[str, str], form: str
) -> None:
    run = subprocess.Popen(
        [SEOGA, "exec", "--path", kb],
        env={**os.environ, **service},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
    )
    parent = psutil.Process(run.pid)
    if service:
        parent = process_of(service["SEOGA_EXTRACTION_URL"])
        idle = {child.pid for child in parent.children()}
    else:
        idle = set()
    try:
        recognisers: list[psutil.Process] = []

        def transcribes() -> bool:
            recognisers[:] = [child for child in at_work(parent) if child.pid not in idle]
            return bool(recognisers) or run.poll() is not None

        when(kb, transcribes, 120)
        assert run.poll() is None
        if form == "file":
            (kb / "cancel").touch()
        else:
            run.send_signal(signal.SIGTERM)
        _, said = run.communicate(timeout=SOON_S)
    finally:
        run.kill()
    assert run.returncode == 2, said
    assert b"Traceback" not in said
    assert not psutil.wait_procs(recognisers, timeout=SOON_S)[1]
