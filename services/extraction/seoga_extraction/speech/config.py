"""What the speech process is told by the settings."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any


@dataclass(frozen=True, slots=True)
class SpeechConfig:
    """`model` is a name, a folder, or "" for what suits the device; `device` auto, cpu or cuda.

    `threads` are the cores it may use, `seconds_per_second` the time that a second of sound may
    take, `cache` the folder of derived files.
    """

    model: str
    device: str
    require_gpu: bool
    offline: bool
    cache: str
    threads: int
    seconds_per_second: float

    @property
    def models(self) -> Path:
        """Where downloaded and joined models lie."""
        return Path(self.cache) / "whisper-models"

    @property
    def transcripts(self) -> Path:
        """Where unfinished transcripts lie."""
        return Path(self.cache) / "transcripts"

    def to_json(self) -> dict[str, Any]:
        """A JSON object."""
        return {"speech": asdict(self)}

    @staticmethod
    def from_json(options: Mapping[str, Any]) -> SpeechConfig:
        """Inverse of `to_json`."""
        return SpeechConfig(**options["speech"])
