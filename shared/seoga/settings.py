"""Every setting of every service, typed: environment variables with the prefix SEOGA_. The only reader of the environment."""

from __future__ import annotations

import os
from functools import cache
from pathlib import Path

import platformdirs
from pydantic import Field
from pydantic_settings import BaseSettings, SettingsConfigDict

DEFAULT_PORT = 8765


def _cores() -> int:
    return (
        len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else (os.cpu_count() or 1)
    )


class Settings(BaseSettings):
    """One documented class; `SEOGA_BASE_PATH` sets `base_path` and so on."""

    model_config = SettingsConfigDict(env_prefix="SEOGA_", extra="ignore")

    base_path: Path = Field(
        default_factory=lambda: Path(platformdirs.user_data_dir("seoga")),
        description="The folder that holds one folder per knowledge base, and queue.db.",
    )
    cache_path: Path = Field(
        default_factory=lambda: Path(platformdirs.user_cache_dir("seoga")),
        description="Downloads and derived files that can be deleted.",
    )
    extraction_url: str = Field(
        "", description="URL of the extraction service; empty: extract in this process."
    )
    embedding_url: str = Field(
        "", description="URL of the embedding service; empty: embed in this process."
    )
    indexer_url: str = Field(
        "", description="URL of the indexer service; empty: index in this process."
    )

    host: str = Field("127.0.0.1", description="Address to listen on.")
    port: int = Field(DEFAULT_PORT, ge=0, le=65535, description="Port to listen on.")
    published: str = Field(
        "", description="Address that a container's port is published on, as Compose knows it."
    )
    allowed_hosts: str = Field(
        "",
        description="More Host names that may reach the gateway, comma separated, `name:port` or `name:*`.",
    )
    mcp_secret: str = Field(
        "",
        description="Secret (at least 32 characters) that all gateway workers share to sign request state.",
    )
    workers: int = Field(
        0, ge=0, description="Web worker processes of a service; 0: the service's own default."
    )

    extract_workers: int = Field(
        default_factory=lambda: min(5, _cores()), ge=1, description="Files extracted at once."
    )
    extract_timeout_s: float = Field(
        300.0, gt=0, description="Seconds that a file may take to extract."
    )
    extract_memory_mb: int = Field(
        1024, ge=128, description="MiB of address space growth that a parser may use."
    )
    max_file_mb: int = Field(1024, ge=1, description="Files above this many MiB are not read.")
    embed_processes: int = Field(
        default_factory=_cores, ge=1, description="Processes of the builtin embedder."
    )
    cores: int = Field(default_factory=_cores, ge=1, description="Cores to plan for.")

    log_level: str = Field("info", description="debug, info, warning or error.")
    log_json: bool = Field(False, description="Structured logs as JSON lines.")
    offline: bool = Field(False, description="Never download anything.")
    lease_seconds: float = Field(
        30.0, gt=0, description="A lease not renewed for this long is free."
    )
    handed: str = Field("", description="Folder of handed test material (tests only).")


@cache
def settings() -> Settings:
    """The settings of this process, read once."""
    return Settings()


def api_key(preset: str) -> str:
    """The API key of a preset: `OPENAI_API_KEY` or the file named by `OPENAI_API_KEY_FILE`; "" when neither is set."""
    names = {
        "claude": "ANTHROPIC",
        "anthropic": "ANTHROPIC",
        "gemini": "GEMINI",
        "google": "GEMINI",
    }
    variable = names.get(preset.lower(), preset.upper()) + "_API_KEY"
    if path := os.environ.get(variable + "_FILE"):
        return Path(path).read_text(encoding="utf-8").strip()
    return os.environ.get(variable, "")
