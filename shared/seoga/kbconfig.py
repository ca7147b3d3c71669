"""The keys of config.json: names, types, defaults, and one clear sentence for whatever is wrong."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterator, Mapping
from difflib import get_close_matches
from pathlib import Path
from typing import Annotated, Any, Final, Literal

from pydantic import BaseModel, BeforeValidator, Field, ValidationError
from pydantic_core import PydanticCustomError

from seoga.errors import ConfigError
from seoga.kbsource import Keys, Names, SourceConfig, faults, idle, lower
from seoga.regularfile import text_of

# "hashing" is the fake that ships with the product: vectors from word hashes, no model.
EmbeddingProvider = Literal["builtin", "openai", "azure", "ollama", "gemini", "hashing", ""]
ContextProvider = Literal["anthropic", "openai", "azure", "ollama", "gemini", ""]
RerankProvider = Literal[
    "cross-encoder", "tei", "anthropic", "openai", "azure", "ollama", "gemini", ""
]

# Keys of project instances that stand at the top level there.
_FLAT = {
    "embedModel": ("embedding", "model"),
    "minScore": ("search", "minScore"),
    "defaultExclude": ("search", "defaultExclude"),
    "lexicalMaxDocFreq": ("search", "lexicalMaxDocFreq"),
    "pathBoosts": ("search", "pathBoosts"),
}
_SURROGATE = re.compile("[\ud800-\udfff]")
_ENDLESS = re.compile(r"[+-]?(?:nan|inf|infinity)", re.IGNORECASE)
_KEYS = "Mend the file: shared/config.example.json shows every key; null or no key is the default."


def _duration(value: object) -> object:
    # Ollama takes seconds as a number, too; -1 means for ever.
    return str(value) if isinstance(value, int) and not isinstance(value, bool) else value


def _counted(value: object) -> object:
    # JSON of Python knows NaN and Infinity; true would be read as 1.
    text = value.strip() if isinstance(value, str) else value
    endless = isinstance(text, float) and not math.isfinite(text)
    if isinstance(text, bool) or endless or (isinstance(text, str) and _ENDLESS.fullmatch(text)):
        raise PydanticCustomError("no_number", "not a finite number")
    return value


Number = Annotated[float, BeforeValidator(_counted)]
Whole = Annotated[int, BeforeValidator(_counted)]
# What is worth nothing belongs in `exclude`; a hundredfold already outweighs every score.
Boost = Annotated[Number, Field(gt=0, le=100)]
# More characters than the paths of most disks can have.
MOST_GLOB: Final = 1000
Glob = Annotated[str, Field(max_length=MOST_GLOB)]
KeepAlive = Annotated[str, BeforeValidator(_duration)]


class ModelKeys(Keys):
    """A model and where it is served."""

    model: str = ""
    base_url: str | None = None
    api_key_preset: str | None = None
    keep_alive: KeepAlive = "5m"
    num_ctx: Whole = Field(default=8192, ge=1)


class EmbeddingKeys(ModelKeys):
    """The `embedding` object."""

    provider: Annotated[EmbeddingProvider, BeforeValidator(lower)] = "builtin"
    dimension: Whole = Field(default=0, ge=0, le=65536)
    max_chunk_chars: Whole = Field(default=4000, ge=100, le=1_000_000)
    batch_size: Whole = Field(default=0, ge=0, le=100_000)
    # Of one run; 0: no limit. A price of 0 means the one that the model registry knows.
    max_tokens_per_run: Whole = Field(default=0, ge=0)
    max_cost_per_run: Number = Field(default=0, ge=0)
    price_per_million: Number = Field(default=0, ge=0)


class ContextualizerKeys(ModelKeys):
    """The `contextualizer` object; an empty provider or model means off."""

    provider: Annotated[ContextProvider, BeforeValidator(lower)] = ""
    # The provider's batch API (openai, anthropic): half the price, within a day. A run waits for
    # so many minutes for what it has sent.
    batch: bool = False
    batch_wait_minutes: Number = Field(default=0, ge=0, le=1440)
    # As under embedding.
    max_tokens_per_run: Whole = Field(default=0, ge=0)
    max_cost_per_run: Number = Field(default=0, ge=0)
    price_per_million: Number = Field(default=0, ge=0)


class RerankerKeys(ModelKeys):
    """The `reranker` object; an empty provider means off."""

    provider: Annotated[RerankProvider, BeforeValidator(lower)] = ""
    # All passages are read in one prompt.
    num_ctx: Whole = Field(default=16384, ge=1)
    candidates: Whole = Field(default=30, ge=2, le=100)
    # A person waits: beyond it the hits stay in their own order.
    timeout_seconds: Number = Field(default=10, gt=0, le=120)


class ChunkingKeys(Keys):
    """The `chunking` object, in characters."""

    target_chars: Whole = Field(default=1000, ge=50, le=1_000_000)
    overlap_chars: Whole = Field(default=150, ge=0, le=500_000)


class SearchKeys(Keys):
    """The `search` object; None: from the model registry, or as measured."""

    top_k: Whole = Field(default=5, ge=1, le=50)
    min_score: Number | None = Field(default=None, ge=0, le=1)
    min_coverage: Number | None = Field(default=None, ge=0, le=1)
    fusion: Literal["convex", "rrf", "gated"] = "convex"
    lexical_max_doc_freq: Number = Field(default=0.01, ge=0, le=1)
    default_exclude: Names = Field(default=["archive", "plans"])
    path_boosts: dict[Glob, Boost] = Field(default={})


class LifecycleRule(Keys):
    """One entry of `lifecycle`: what is true of the documents whose path matches (PDF, DOCX and
    HWP cannot say it themselves), as front matter would say it."""

    path: Glob = Field(min_length=1)
    status: str = ""
    superseded_by: Names = Field(default=[])
    supersedes: Names = Field(default=[])
    date: str = ""
    superseded_on: str = ""

    def pairs(self) -> list[tuple[str, str]]:
        """The statements, as they are stored of documents."""
        return [
            *([("status", self.status)] if self.status else []),
            *(("by", name) for name in self.superseded_by),
            *(("of", name) for name in self.supersedes),
            *([("date", self.date)] if self.date else []),
            *([("until", self.superseded_on)] if self.superseded_on else []),
        ]


class KbConfig(Keys):
    """config.json as a whole. Keys are camelCase in the file; what it does not know is kept in
    `model_extra`."""

    id: str = ""
    name: str = ""
    created: str = ""
    source_paths: Names = Field(default=[])
    sources: list[SourceConfig] = Field(default=[])
    embedding: EmbeddingKeys = EmbeddingKeys()
    contextualizer: ContextualizerKeys = ContextualizerKeys()
    reranker: RerankerKeys = RerankerKeys()
    system_prompt: str | None = None
    chunking: ChunkingKeys = ChunkingKeys()
    search: SearchKeys = SearchKeys()
    lifecycle: list[LifecycleRule] = Field(default=[])
    tool_description: str = ""
    server_name: str = ""
    vault_path: str = ""
    include: Names = Field(default=[])
    index_path: str = ""

    def all_sources(self) -> tuple[SourceConfig, ...]:
        """`sources`, then the short forms `sourcePaths` and `vaultPath`."""
        paths = [*self.source_paths, *([self.vault_path] if self.vault_path else [])]
        short = (SourceConfig(path=path, include=self.include) for path in paths)
        return (*self.sources, *short)


def parse_config(file: Path, shown: Path | None = None) -> tuple[KbConfig, tuple[str, ...]]:
    """The config in a file, and a warning for each key that is not known. `shown` is the file that
    messages name.

    Raises ConfigError naming file, key, value and what is allowed.
    """
    named = shown or file
    data = _read(file, named)
    try:
        config = KbConfig.model_validate(_nested(_without_nulls(data)))
    except ValidationError as error:
        raise ConfigError(f"{named}: {_sentence(error)}", _KEYS) from error
    for number, entry in enumerate(config.sources):
        for fault in faults(entry):
            raise ConfigError(f"{named}: sources.{number}.{fault}", _KEYS)
    return config, tuple(f"{named}: {text}" for text in (*_unknown(config), *_idle(config)))


def _read(file: Path, named: Path) -> dict[str, Any]:
    try:
        data = json.loads(text_of(file, "utf-8-sig"))
    except json.JSONDecodeError as error:
        raise ConfigError(
            f"{named}: line {error.lineno}, column {error.colno} is not JSON: {error.msg}",
            "Mend that place in the file; its index is kept meanwhile.",
        ) from error
    except UnicodeDecodeError as error:
        raise ConfigError(
            f"{named}: the file is not UTF-8 (byte {error.start})", "Save it as UTF-8."
        ) from error
    except ValueError as error:
        # Python reads no number of more digits than an int of it would ever need.
        raise ConfigError(
            f"{named}: it holds a number of thousands of digits", "Mend it in the file."
        ) from error
    except OSError as error:
        raise ConfigError(
            f"{named} cannot be read: {error.strerror}", "It must be a file of this user."
        ) from error
    except RecursionError as error:
        raise ConfigError(f"{named} cannot be read: it is nested too deep", _KEYS) from error
    if not isinstance(data, dict):
        raise ConfigError(f"{named}: the file holds a {type(data).__name__}, not an object", _KEYS)
    for key, why in _untold(data, ""):
        raise ConfigError(f"{named}: {key} {why}; allowed: plain text", _KEYS)
    return data


def _untold(value: Any, key: str) -> Iterator[tuple[str, str]]:
    """The keys whose text no path, table or answer can hold, and why."""
    if isinstance(value, str):
        if "\0" in value:
            yield key, "holds a NUL character"
        if _SURROGATE.search(value):
            yield key, "holds half a character (a lone surrogate)"
    elif isinstance(value, dict):
        for name, inner in value.items():
            shown = f"{key}.{ascii(name)[1:-1]}".lstrip(".")
            yield from _untold(name, f"the name of the key {shown}")
            yield from _untold(inner, shown)
    elif isinstance(value, list):
        for number, inner in enumerate(value):
            yield from _untold(inner, f"{key}.{number}")


def _without_nulls(data: Mapping[str, Any]) -> dict[str, Any]:
    # null means "the default" for every key.
    return {
        key: _without_nulls(value) if isinstance(value, dict) else value
        for key, value in data.items()
        if value is not None
    }


def _nested(data: dict[str, Any]) -> dict[str, Any]:
    out = {key: value for key, value in data.items() if key not in _FLAT}
    for flat, (group, key) in _FLAT.items():
        if flat in data and isinstance(out.get(group, {}), dict):
            out[group] = {key: data[flat], **out.get(group, {})}
    return out


def _sentence(error: ValidationError) -> str:
    first = error.errors(include_url=False)[0]
    key = ".".join(str(part)[:100] for part in first["loc"])
    allowed = first.get("ctx", {}).get("expected") or _rule(first["type"], first.get("ctx", {}))
    said = f"allowed: {allowed}" if allowed else first["msg"]
    return f"{key} is {json.dumps(first['input'], ensure_ascii=False, default=str)[:200]}; {said}"


def _rule(kind: str, context: Mapping[str, Any]) -> str:
    if kind == "string_pattern_mismatch":
        return "text without '/' and control characters"
    words = {
        "greater_than": f"more than {context.get('gt')}",
        "greater_than_equal": f"at least {context.get('ge')}",
        "string_too_long": f"at most {context.get('max_length')} characters",
        "less_than_equal": f"at most {context.get('le')}",
    }
    types = {
        "string_type": "a text",
        "no_number": "a finite number",
        "finite_number": "a finite number",
        "int_type": "a whole number",
        "int_parsing": "a whole number",
        "int_from_float": "a whole number",
        "float_type": "a number",
        "float_parsing": "a number",
        "list_type": "a list",
        "dict_type": "an object",
        "model_type": "an object",
    }
    return (words | types).get(kind, "")


def _idle(config: KbConfig) -> Iterator[str]:
    for number, entry in enumerate(config.sources):
        yield from (f"sources.{number}.{text}" for text in idle(entry))


def _unknown(keys: BaseModel, prefix: str = "") -> Iterator[str]:
    known = [field.alias or name for name, field in type(keys).model_fields.items()]
    for name in keys.model_extra or {}:
        near = get_close_matches(name, known, n=1, cutoff=0.6)
        hint = f" (did you mean {prefix}{near[0]}?)" if near else ""
        yield f"unknown key {prefix}{name}{hint}"
    for name, field in type(keys).model_fields.items():
        value, alias = getattr(keys, name), field.alias or name
        if isinstance(value, BaseModel):
            yield from _unknown(value, f"{prefix}{alias}.")
        elif isinstance(value, list):
            for number, entry in enumerate(value):
                if isinstance(entry, BaseModel):
                    yield from _unknown(entry, f"{prefix}{alias}.{number}.")
