"""What recognition is told: language, time a page, cores, and the file that holds its turns."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from seoga.settings import Settings


@dataclass(frozen=True, slots=True)
class OcrConfig:
    """Crosses to the child as JSON. `turns` is a file that all parser processes lock parts of,
    `pages` a folder for what was recognised of unfinished files, `kept` a file for the languages
    that are installed ("": nothing is kept)."""

    language: str = "Hangul"
    page_s: float = 60.0
    cores: int = 2
    turns: str = ""
    pages: str = ""
    kept: str = ""

    @staticmethod
    def of(settings: Settings) -> OcrConfig:
        """From the settings of the service."""
        return OcrConfig(
            language=settings.ocr_language,
            page_s=settings.ocr_page_s,
            cores=settings.cores,
            turns=str(settings.cache_path / "ocr-turns"),
            pages=str(settings.cache_path / "recognised"),
            kept=str(settings.cache_path / "ocr-languages.json"),
        )

    def to_json(self) -> dict[str, Any]:
        """A JSON object."""
        return {"ocr": asdict(self)}

    @staticmethod
    def from_json(options: Mapping[str, Any]) -> OcrConfig:
        """Inverse of `to_json`; what is not said has its default."""
        return OcrConfig(**options.get("ocr", {}))
