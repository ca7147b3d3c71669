"""From a KB's settings to the address, the key and the model of a provider."""

from __future__ import annotations

from typing import Final
from urllib.parse import SplitResult, parse_qsl, urlsplit, urlunsplit

from seoga.contracts.lent import lent_key
from seoga.errors import ConfigError, EmbeddingFailed, ProviderFault
from seoga.models import ContextSpec, EmbeddingSpec, RerankSpec
from seoga.settings import api_key, api_key_variable
from seoga_embedding.provider import Endpoint, RemoteInfo

Spec = EmbeddingSpec | ContextSpec | RerankSpec

_SECRETS: Final = frozenset({"key", "api_key", "apikey", "api-key", "token", "access_token", "sig"})


def endpoint_of(
    info: RemoteInfo,
    spec: Spec,
    group: str = "embedding",
    *,
    with_key: bool = True,
) -> Endpoint:
    """Where `spec` wants to be served, and its key from the environment.

    Raises ConfigError for an address that cannot be one or that holds a key, EmbeddingFailed
    (auth) when a key is needed and there is none.
    """
    model = spec.model or info.default_model
    if not model:
        raise ConfigError(
            f"{group}.model is empty.", info.missing_model.format(model="", group=group)
        )
    parts = _split(info, spec, group)
    query = dict(parse_qsl(parts.query))
    if parts.username or parts.password or _SECRETS & {name.lower() for name in query}:
        raise ConfigError(
            f"{group}.baseUrl holds a key or password.",
            f"Keep it out of the address: {group}.apiKeyPreset names where it stands.",
        )
    preset = spec.api_key_preset or info.preset
    variable = api_key_variable(preset) if preset else ""
    path = parts.path.rstrip("/")
    for end in info.strip:
        path = path.removesuffix(end)
    return Endpoint(
        url=urlunsplit((parts.scheme, parts.netloc, path, "", "")),
        query=query,
        model=model,
        key=_key(info, spec) if with_key else "",
        dimension=spec.dimension if isinstance(spec, EmbeddingSpec) else 0,
        keep_alive=spec.keep_alive,
        num_ctx=spec.num_ctx,
        key_name=variable,
        lent=with_key and bool(lent_key(variable)),
        group=group,
    )


def _split(info: RemoteInfo, spec: Spec, group: str) -> SplitResult:
    address = spec.base_url.strip() or info.default_url
    if not address:
        raise ConfigError(
            f"{group}.baseUrl is empty; {info.name} has no address of its own.",
            "Give the address of your resource.",
        )
    try:
        parts = urlsplit(address)
        valid = parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
    except ValueError:
        valid = False
    if not valid:
        raise ConfigError(
            f"{group}.baseUrl: {address[:200]!r} is no address.",
            "It looks like https://host/path, with or without /v1.",
        )
    return parts


def _key(info: RemoteInfo, spec: Spec) -> str:
    preset = spec.api_key_preset or info.preset
    if not preset:
        return ""
    variable = api_key_variable(preset)
    lent = lent_key(variable)
    key = lent or api_key(preset)
    if lent and not _possible(lent):
        raise EmbeddingFailed(
            f"The key for {info.name} holds a character that no key has.",
            fault=ProviderFault.AUTH,
        ).about_key(variable, refused=True)
    if not _possible(key):
        raise ConfigError(
            f"{variable} holds a character that no key has.",
            "Look for a line end, a space or a quotation mark in it.",
        )
    # A server of one's own may want none; a key that the config names must be there.
    own = info.key_optional and bool(spec.base_url or not info.preset)
    if key or (own and not spec.api_key_preset):
        return key
    raise EmbeddingFailed(
        f"There is no API key for {info.name}: {variable} is not set.",
        f"Set {variable}, or {variable}_FILE to a file that holds it, for the embedding service.",
        fault=ProviderFault.AUTH,
    ).about_key(variable, refused=False)


def _possible(key: str) -> bool:
    """Whether all its characters may stand in a key, and in a header."""
    return all(33 <= ord(character) <= 126 for character in key)
