"""The kinds of child processes: most formats share one; speech has its own process and limits."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from seoga_extraction.limits import Limits

if TYPE_CHECKING:
    from seoga.settings import Settings

COMMON = ""
SPEECH = "speech"


@dataclass(frozen=True, slots=True)
class Lane:
    """One kind of child: at most `size` of them, their limits, what their formats are told.

    `environment` is added to the variables that the child starts with.
    """

    name: str
    size: int
    limits: Limits
    options: Mapping[str, Any] = field(default_factory=dict)
    environment: Mapping[str, str] = field(default_factory=dict)

    def to_json(self) -> dict[str, Any]:
        """A JSON object; the environment travels another way."""
        return {"name": self.name, "limits": self.limits.to_json(), "options": dict(self.options)}

    @staticmethod
    def from_json(data: Mapping[str, Any]) -> Lane:
        """What a child is told of its lane."""
        return Lane(data["name"], 1, Limits.from_json(data["limits"]), data["options"])


def lanes(settings: Settings) -> tuple[Lane, ...]:
    """The lanes of these settings; the first reads every file until it knows what it is."""
    from seoga_extraction.ocr.config import OcrConfig

    limits = Limits(
        time_s=settings.extract_timeout_s,
        memory_mb=settings.extract_memory_mb,
        file_mb=settings.max_file_mb,
    )
    # Threads of text recognition would each reserve a heap of 64 MiB of the address space.
    options = {**OcrConfig.of(settings).to_json(), "passwords_file": settings.passwords_file}
    few_heaps = {"MALLOC_ARENA_MAX": "2"}
    common = Lane(COMMON, settings.extract_workers, limits, options, few_heaps)
    return (common, _speech(settings, options))


def _speech(settings: Settings, options: Mapping[str, Any]) -> Lane:
    """One process: a model fills the device, and a second one would only slow the first.

    It is told what the common ones are, for files that hold recordings.
    """
    from seoga_extraction.speech.config import SpeechConfig
    from seoga_extraction.speech.wheels import library_path

    limits = Limits(
        time_s=settings.extract_timeout_s,
        memory_mb=settings.extract_memory_mb,
        file_mb=settings.max_file_mb,
        threads=settings.cores,
        recycle_mb=settings.speech_memory_mb,
    )
    config = SpeechConfig(
        model=settings.whisper_model,
        device=settings.whisper_device,
        require_gpu=settings.require_gpu,
        offline=settings.offline,
        cache=str(settings.cache_path),
        threads=settings.cores,
        seconds_per_second=settings.speech_timeout_factor,
    )
    return Lane(
        SPEECH, 1, limits, {**options, **config.to_json()}, _variables(settings, library_path())
    )


def _variables(settings: Settings, libraries: str) -> dict[str, str]:
    """The model hub's client keeps its own files beside the models, and tells nobody."""
    hub = settings.cache_path / "whisper-models"
    variables = {
        "HF_HOME": str(hub / ".client"),
        "HF_HUB_DISABLE_TELEMETRY": "1",
        "HF_HUB_DISABLE_PROGRESS_BARS": "1",
    }
    if settings.offline:
        variables["HF_HUB_OFFLINE"] = "1"
    if libraries:
        variables["LD_LIBRARY_PATH"] = libraries
    return variables
