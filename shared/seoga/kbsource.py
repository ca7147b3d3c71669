"""One entry of `sources` in config.json: its keys, and what a type of source asks of them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Annotated, Any, Literal
from urllib.parse import urlsplit

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field
from pydantic.alias_generators import to_camel


def lower(value: object) -> object:
    """Names of types and providers count in any case."""
    return value.strip().lower() if isinstance(value, str) else value


def _names(value: object) -> object:
    return [value] if isinstance(value, str) else value


Names = Annotated[list[str], BeforeValidator(_names)]


class Keys(BaseModel):
    """An object of config.json: camelCase there; what it does not know stays in `model_extra`."""

    # Deferred: most objects are only read as a part of the whole.
    model_config = ConfigDict(
        alias_generator=to_camel,
        populate_by_name=True,
        extra="allow",
        frozen=True,
        defer_build=True,
    )


class SourceConfig(Keys):
    """One entry of `sources`."""

    type: Annotated[Literal["folder", "git", "confluence", "jira"], BeforeValidator(lower)] = (
        "folder"
    )
    label: str = Field(default="", pattern=r"^[^/\x00-\x1f]*$", max_length=200)
    include: Names = []
    exclude: Names = []
    path: str = ""
    url: str = ""
    branch: str = ""
    base_url: str = ""
    space: str = ""
    cql: str = ""
    jql: str = ""
    user: str = ""
    api_key_preset: str = ""

    def options(self) -> dict[str, Any]:
        """The keys that only its type understands, camelCase, the empty ones left out."""
        common = {"type", "label", "include", "exclude", "path"}
        values = self.model_dump(by_alias=True, exclude=common)
        return {key: value for key, value in values.items() if value not in ("", None)}


# Each name of a scan is held against each of them.
MOST_PATTERNS = 5_000
_LOGIN = ("user", "apiKeyPreset")
_KEYS: dict[str, tuple[str, ...]] = {
    "folder": ("path",),
    "git": ("path", "url", "branch", *_LOGIN),
    "confluence": ("baseUrl", "space", "cql", *_LOGIN),
    "jira": ("baseUrl", "jql", *_LOGIN),
}
# What a git URL may look like: a scheme that git speaks itself, `user@host:path`, or a local path.
_GIT_URL = re.compile(
    r"(?:(?:https?|ssh|git|file)://|/)(?!-)\S.*|\w[\w.-]*@\w[\w.-]*:(?![-:])\S+", re.ASCII
)
_BRANCH = re.compile(
    r"(?![-/.])(?!.*(?:\.\.|//|@\{|\.lock(?:/|$)))[^\x00-\x20\x7f~^:?*\[\\]+(?<![/.])"
)
_PRESET = re.compile(r"\w+", re.ASCII)
_CONTROL = re.compile(r"[\x00-\x1f\x7f]")


def faults(entry: SourceConfig) -> Iterator[str]:
    """What is wrong with an entry, as `key is value; what is allowed`. No secret is repeated."""
    values = _values(entry)
    yield from _lacking(entry.type, values)
    for key, patterns in (("include", entry.include), ("exclude", entry.exclude)):
        if len(patterns) > MOST_PATTERNS:
            yield (
                f"{key} has {len(patterns):,} patterns; allowed: at most {MOST_PATTERNS:,} "
                "(put them into .seogaignore files of their folders)"
            )
    for key, value in values.items():
        if _CONTROL.search(value):
            yield f"{key} holds a line end or another control character; allowed: plain text"
    yield from _addresses(values)
    if (branch := values["branch"]) and not _BRANCH.fullmatch(branch):
        yield f'branch is "{branch[:200]}"; allowed: a name as git takes it, not beginning with "-"'
    if (preset := values["apiKeyPreset"]) and not _PRESET.fullmatch(preset):
        # Whoever mistakes it for the key itself must not find that in a log.
        yield (
            "apiKeyPreset is no preset name; allowed: letters, digits and _ "
            "(preset X stands for the variable X_API_KEY)"
        )


def idle(entry: SourceConfig) -> Iterator[str]:
    """The keys that say something, but nothing to a source of this type."""
    for key, value in _values(entry).items():
        if value and key not in _KEYS[entry.type]:
            yield f"{key} means nothing to a source of type {entry.type}"


def _values(entry: SourceConfig) -> dict[str, str]:
    names = ("path", "url", "branch", "base_url", "space", "cql", "jql", "user", "api_key_preset")
    return {to_camel(name): getattr(entry, name) for name in names}


def _lacking(kind: str, values: dict[str, str]) -> Iterator[str]:
    if kind == "folder" and not values["path"]:
        yield "path is missing; give the folder to index"
    elif kind == "git" and bool(values["path"]) == bool(values["url"]):
        yield "path and url: a git source wants one of them, a checkout or what to clone"
    elif kind in ("confluence", "jira") and not values["baseUrl"]:
        yield f"baseUrl is missing; give the address of {kind.capitalize()}"
    elif kind == "confluence" and bool(values["space"]) == bool(values["cql"]):
        yield "space and cql: a confluence source wants one of them, a space's key or a query"
    elif kind == "jira" and not values["jql"]:
        yield 'jql is missing; give the query that finds the issues, such as "project = ABC"'


def _addresses(values: dict[str, str]) -> Iterator[str]:
    url, base = values["url"], values["baseUrl"]
    for key, value in (("url", url), ("baseUrl", base)):
        if holds_secret(value):
            yield (
                f"{key} holds a name or password before the @; "
                "give user and apiKeyPreset instead, and the secret in the environment"
            )
            return
    if url and not _GIT_URL.fullmatch(url):
        allowed = "https://, http://, ssh://, git://, file://, user@host:path"
        yield f'url is "{url[:200]}"; allowed: {allowed}'
    if base and not _is_base(base):
        yield f'baseUrl is "{base[:200]}"; allowed: https://host/path or http://host/path'


def holds_secret(url: str) -> bool:
    """Whether an address carries a login: any for http, a password for all others."""
    try:
        parts = urlsplit(url)
    except ValueError:
        return False
    if parts.password:
        return True
    return parts.scheme.lower() in ("http", "https") and "@" in parts.netloc


def _is_base(url: str) -> bool:
    try:
        parts = urlsplit(url)
        port = parts.port
    except ValueError:
        return False
    plain = not parts.query and not parts.fragment and port != 0 and not re.search(r"\s", url)
    return parts.scheme.lower() in ("http", "https") and bool(parts.hostname) and plain
