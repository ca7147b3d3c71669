"""Every setting, typed: variables SEOGA_<NAME>. The only reader of the environment."""

from __future__ import annotations

import os
import re
from difflib import get_close_matches
from functools import cache
from pathlib import Path
from typing import Any, Literal

import platformdirs

# Its search for plugins reads what every installed package says of itself.
os.environ.setdefault("PYDANTIC_DISABLE_PLUGINS", "__all__")
from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

from seoga.errors import ConfigError
from seoga.regularfile import text_of

DEFAULT_PORT = 8765
_PREFIX = "seoga_"
# A slip or two of twenty letters; another program's variable is further away.
_ALMOST = 0.93
_URL = r"^(https?://\S+)?$"
_TIME = "([01][0-9]|2[0-3]):[0-5][0-9]"
_SCHEDULE = rf"^([1-9][0-9]{{0,5}}[smhd]|{_TIME}(, *{_TIME})*)?$"


def _cores() -> int:
    return (
        len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else (os.cpu_count() or 1)
    )


class Settings(BaseModel):
    """One documented class; `SEOGA_BASE_PATH` sets `base_path` and so on, unless it is given."""

    # Read here and not with pydantic-settings, whose import costs every command 0.1 s.
    model_config = ConfigDict(extra="ignore", validate_default=True)

    base_path: Path = Field(
        default_factory=lambda: Path(platformdirs.user_data_dir("seoga")),
        description="The folder that holds one folder per knowledge base, and queue.db.",
    )
    cache_path: Path = Field(
        default_factory=lambda: Path(platformdirs.user_cache_dir("seoga")),
        description="Downloads and derived files that can be deleted.",
    )
    extraction_url: str = Field(
        default="",
        pattern=_URL,
        description="URL (http://host:port) of the extraction service; empty: extract here.",
    )
    embedding_url: str = Field(
        default="",
        pattern=_URL,
        description="URL (http://host:port) of the embedding service; empty: embed here.",
    )
    indexer_url: str = Field(
        default="",
        pattern=_URL,
        description="URL (http://host:port) of the indexer service; empty: index here.",
    )

    host: str = Field(default="127.0.0.1", description="Address to listen on.")
    port: int = Field(default=DEFAULT_PORT, ge=0, le=65535, description="Port to listen on.")
    published: str = Field(
        default="",
        description="Address that a container's port is published on, as Compose knows it.",
    )
    allowed_hosts: str = Field(
        default="",
        description="More Host names of the gateway: `name:port` or `name:*`, with commas.",
    )
    mcp_secret: str = Field(
        default="",
        description="At least 32 characters that gateway workers share to sign request state.",
    )
    workers: int = Field(
        default=0,
        ge=0,
        description="Web worker processes of a service; 0: the service's own default.",
    )

    extract_workers: int = Field(
        default_factory=lambda: min(5, _cores()), ge=1, description="Files extracted at once."
    )
    extract_timeout_s: float = Field(
        default=300.0, gt=0, description="Seconds that a file may take to extract."
    )
    extract_memory_mb: int = Field(
        default=896, ge=128, description="MiB of address space growth that a parser may use."
    )
    passwords_file: str = Field(
        default="",
        description="A text file (UTF-8) of passwords, one a line, tried on encrypted documents.",
    )
    ocr_language: str = Field(
        default="Hangul",
        pattern=r"^[A-Za-z_]+(\+[A-Za-z_]+)*$",
        description="Tesseract's name of the languages on scanned pages; Hangul reads English too.",
    )
    ocr_page_s: float = Field(
        default=60.0, gt=0, description="Seconds that the recognition of one page may take."
    )
    max_file_mb: int = Field(
        default=1024, ge=1, description="Files above this many MiB are not read."
    )
    whisper_model: str = Field(
        default="",
        description="Speech model: a name (tiny to large-v3) or a folder; empty: by the device.",
    )
    whisper_device: Literal["auto", "cpu", "cuda"] = Field(
        default="auto", description="Where speech runs; auto: a GPU that passes the self-test."
    )
    require_gpu: bool = Field(
        default=False, description="Refuse to transcribe on the CPU, and be not ready without GPU."
    )
    speech_timeout_factor: float = Field(
        default=10.0, gt=0, description="Seconds that a second of sound may take."
    )
    speech_memory_mb: int = Field(
        default=8192, ge=512, description="MiB above which the speech process is replaced."
    )
    embed_processes: int = Field(
        default_factory=_cores, ge=1, description="Processes of the builtin embedder."
    )
    cores: int = Field(default_factory=_cores, ge=1, description="Cores to plan for.")
    provider_calls: int = Field(
        default=4, ge=1, le=64, description="Calls in flight to one embedding or LLM provider."
    )
    provider_calls_per_minute: int = Field(
        default=0, ge=0, description="Calls a minute to one provider; 0: as many as it takes."
    )

    log_level: str = Field(default="info", description="debug, info, warning or error.")
    log_json: bool = Field(default=False, description="Structured logs as JSON lines.")
    offline: bool = Field(default=False, description="Never download anything.")
    lease_seconds: float = Field(
        default=30.0, gt=0, description="A lease not renewed for this long is free."
    )
    query_timeout_s: float = Field(
        default=10.0,
        gt=0,
        description="Seconds a search waits for the embedding service; then words alone count.",
    )
    queue_workers: int = Field(
        default=1,
        ge=1,
        le=64,
        description="Knowledge bases that the queue's worker indexes at once.",
    )
    sweep_at: str = Field(
        default="",
        pattern=_SCHEDULE,
        description="When deferred entries are taken: `03:30`, `06:00,18:00` (local time) or `6h`.",
    )
    check_at: str = Field(
        default="",
        pattern=_SCHEDULE,
        description="When every knowledge base is queued: `03:30`, `06:00,18:00` or `6h`.",
    )
    watch: bool = Field(
        default=False, description="The indexer service queues a run when a source has changed."
    )
    watch_mode: Literal["auto", "events", "poll"] = Field(
        default="auto",
        description="How folders are watched; auto: by polling where the kernel tells nothing.",
    )
    watch_settle_s: float = Field(
        default=2.0, gt=0, description="Seconds without a change after which a file is whole."
    )
    watch_poll_s: float = Field(
        default=30.0, gt=0, description="Seconds between two looks at a folder that is polled."
    )
    watch_interval_s: float = Field(
        default=900.0,
        gt=0,
        description="Seconds between two looks at other sources, and for events that were missed.",
    )
    handed: str = Field(default="", description="Folder of handed test material (tests only).")

    @model_validator(mode="before")
    @classmethod
    def _with_environment(cls, given: dict[str, Any]) -> dict[str, Any]:
        found = {
            name.lower().removeprefix(_PREFIX): value
            for name, value in os.environ.items()
            # An empty one is one that was not set: compose files hand those on.
            if value and name.lower().startswith(_PREFIX)
        }
        return {**found, **given}


@cache
def settings() -> Settings:
    """The settings of this process, read once. Raises ConfigError naming a bad variable."""
    try:
        return usable(Settings())
    except ValidationError as error:
        first = error.errors()[0]
        name = "SEOGA_" + "_".join(str(part) for part in first["loc"]).upper()
        said = first["msg"] + "."
        if first["type"] == "string_pattern_mismatch":
            # Its form in words, not the pattern.
            said = str(Settings.model_fields[str(first["loc"][0])].description)
        raise ConfigError(f"{name}={first.get('input')!r}: {said}") from error


def misspelt() -> dict[str, str]:
    """Variables of the environment that are almost the name of a setting, with that name."""
    known = {_PREFIX.upper() + name.upper() for name in Settings.model_fields}
    unknown = (name for name in os.environ if name.upper().startswith(_PREFIX.upper()))
    near = {
        name: get_close_matches(name.upper(), known, 1, _ALMOST)
        for name in sorted(unknown)
        if name.upper() not in known
    }
    return {name: found[0] for name, found in near.items() if found}


def usable(config: Settings) -> Settings:
    """The same settings. Raises ConfigError when the base path is something else than a folder."""
    if os.path.exists(config.base_path) and not os.path.isdir(config.base_path):
        raise ConfigError(
            f"the base path {config.base_path} is a file",
            "Give the folder that holds the knowledge bases: --base-path, or SEOGA_BASE_PATH.",
        )
    return config


def api_key(preset: str) -> str:
    """The API key of a preset: the file that `X_API_KEY_FILE` names, else `X_API_KEY`, else "".

    Raises ConfigError when that file cannot be read.
    """
    variable = api_key_variable(preset)
    if path := os.environ.get(variable + "_FILE"):
        try:
            return text_of(Path(path)).strip()
        except (OSError, UnicodeDecodeError) as error:
            raise ConfigError(
                f"{variable}_FILE={path} cannot be read: {type(error).__name__}.",
                "It must name a text file that this process may read.",
            ) from error
    return os.environ.get(variable, "").strip()


def api_key_variable(preset: str) -> str:
    """The environment variable of a preset: "OpenAI" → OPENAI_API_KEY."""
    names = {
        "claude": "ANTHROPIC",
        "anthropic": "ANTHROPIC",
        "gemini": "GEMINI",
        "google": "GEMINI",
    }
    plain = re.sub(r"[^A-Z0-9]+", "_", preset.strip().upper())
    return names.get(preset.strip().lower(), plain) + "_API_KEY"


def project_dir() -> str:
    """The project that an agent's client works in, as it tells its hooks and servers; "" else."""
    return os.environ.get("CLAUDE_PROJECT_DIR", "")


def metrics_dir() -> str:
    """The folder in which the workers of one service share metrics; "" in a single process."""
    return os.environ.get("PROMETHEUS_MULTIPROC_DIR", "")


def one_thread_a_product() -> None:
    """Asks numpy's BLAS for one thread in this process and its children, unless the environment
    says otherwise: a query is too small to share, and threads that wait for one another spin.
    Comes before the first import of numpy; speech has threads of its own (OMP_NUM_THREADS)."""
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")


def environment(**changes: str) -> dict[str, str]:
    """This process's environment with changes, for a child process."""
    return {**os.environ, **changes}
