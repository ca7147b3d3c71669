"""The device that speech really runs on: found out by transcribing a second on it."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

from seoga.errors import ConfigError, ExtractionFailed, Reason
from seoga_extraction.speech import cuda
from seoga_extraction.speech.choice import COMPUTE, Machine, memory_mb
from seoga_extraction.speech.config import SpeechConfig
from seoga_extraction.speech.faults import explain

# A large model takes its time from a cold disk.
TEST_S = 300


def processor(config: SpeechConfig) -> Machine:
    """The machine without its GPU."""
    return Machine("cpu", memory_mb(), config.threads)


def machine_of(config: SpeechConfig) -> tuple[Machine, str]:
    """The machine to choose a model for, and why not its GPU; one that is visible counts until its
    test fails.

    Raises ExtractionFailed (missing_dependency) when a GPU is asked for and none can be used, and
    ConfigError.
    """
    if config.device == "cpu":
        if config.require_gpu:
            raise ConfigError("SEOGA_REQUIRE_GPU is set, but SEOGA_WHISPER_DEVICE is cpu.")
        return processor(config), ""
    trouble = _gpu_trouble()
    if trouble is None:
        return Machine("cuda", cuda.free_memory_mb(), config.threads), ""
    return processor(config), settle(config, trouble)


def settle(config: SpeechConfig, trouble: ExtractionFailed) -> str:
    """Says why the CPU is used instead. Raises it where the GPU was asked for."""
    if config.require_gpu:
        raise _refusal(trouble)
    if config.device == "cuda":
        raise trouble
    return trouble.message


def _refusal(trouble: ExtractionFailed) -> ExtractionFailed:
    return ExtractionFailed(
        f"SEOGA_REQUIRE_GPU is set and the GPU cannot be used: {trouble.message}",
        trouble.hint,
        trouble.reason,
    )


def _gpu_trouble() -> ExtractionFailed | None:
    import ctranslate2

    try:
        seen = ctranslate2.get_cuda_device_count()
    except RuntimeError as error:
        return explain(error)
    if seen == 0:
        return ExtractionFailed(
            "No NVIDIA GPU is visible.",
            "In containers it takes the NVIDIA runtime: docker compose --profile cuda.",
            Reason.MISSING_DEPENDENCY,
        )
    missing = cuda.missing_library()
    return None if missing is None else explain(missing)


def try_gpu(folder: Path) -> ExtractionFailed | None:
    """Transcribes a second on the GPU, in a process of its own: some libraries abort the process
    that cannot load them."""
    command = [sys.executable, "-P", "-m", "seoga_extraction.speech.device", str(folder)]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=TEST_S, check=False)
    except subprocess.TimeoutExpired:
        return explain(f"the self-test on the GPU took more than {TEST_S} s")
    if done.returncode == 0 and done.stdout.strip() == json.dumps("works"):
        return None
    return explain(done.stderr or f"the self-test on the GPU ended with {done.returncode}")


def second(model: Any) -> None:
    """Transcribes one second of silence with faint noise; what it hears is of no interest."""
    import numpy as np

    noise = np.random.default_rng(0).normal(0, 1e-3, 16000).astype(np.float32)
    segments, _ = model.transcribe(noise, language="en", beam_size=1, temperature=0.0)
    list(segments)


def main() -> None:
    """The self-test as a process: prints "works", or says on stderr what does not."""
    from faster_whisper import WhisperModel

    try:
        second(WhisperModel(sys.argv[1], device="cuda", compute_type=COMPUTE["cuda"]))
    except Exception as error:
        sys.stderr.write(f"{error}\n")
        sys.exit(1)
    sys.stdout.write(json.dumps("works"))


if __name__ == "__main__":
    main()
