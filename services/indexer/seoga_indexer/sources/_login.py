"""Who asks: a user and a key from the environment, which is named in errors and never shown."""

from __future__ import annotations

from base64 import b64encode
from dataclasses import dataclass

from seoga.models import Source
from seoga.text.secrets import without
from seoga_indexer.source import Means, SourceUnavailable


class Refused(SourceUnavailable):
    """The server does not take the key, or wants one."""


@dataclass(frozen=True, slots=True, repr=False)
class Login:
    """`user` and `key` may be empty; `preset` is what the config calls the key."""

    label: str
    user: str = ""
    key: str = ""
    preset: str = ""

    @property
    def basic(self) -> str:
        """User and key as HTTP's Basic scheme sends them."""
        return b64encode(f"{self.user}:{self.key}".encode()).decode()

    def redacted(self, text: str) -> str:
        """The text without the key, in any form in which it is sent, and without parts of it."""
        secrets = (self.basic, self.key) if self.key else ()
        for secret in secrets:
            text = text.replace(secret, "***")
        for secret in secrets:
            text = without(text, secret)
        return text

    def refused(self, by: str, how: str) -> Refused:
        """The error of a login that `by` does not take; `how` is its answer."""
        if not self.key:
            return Refused(
                f"{by} wants a login ({how})",
                f"Give source {self.label!r} user and apiKeyPreset, and the key in the environment"
                " of the indexer.",
            )
        return Refused(
            f"{by} refuses the key of preset {self.preset!r} ({variable(self.preset)}): {how}",
            f"Renew the key of source {self.label!r} in the environment of the indexer, or check"
            " its user and what the key may read.",
        )


def login_of(source: Source, means: Means) -> Login:
    """The login that a source names. Raises Refused when its key is not in the environment."""
    user = str(source.options.get("user", ""))
    preset = str(source.options.get("apiKeyPreset", "")) or (source.type if user else "")
    if not preset:
        return Login(source.label)
    try:
        key = means.api_key(preset)
    except (OSError, UnicodeDecodeError) as error:
        why = getattr(error, "strerror", None) or "it is not text"
        raise Refused(
            f"the key of preset {preset!r} cannot be read: {why}",
            f"Check the file that {variable(preset)}_FILE names.",
        ) from error
    if not key or not key.isascii() or not key.isprintable():
        what = "holds something that is no key" if key else "is not set"
        raise Refused(
            f"the key of preset {preset!r} is missing: {variable(preset)} {what}",
            f"Set it (or {variable(preset)}_FILE) in the environment of the indexer"
            f" for source {source.label!r}.",
        )
    return Login(source.label, user, key, preset)


def variable(preset: str) -> str:
    """The environment variable of a preset."""
    return f"{preset.upper()}_API_KEY"
