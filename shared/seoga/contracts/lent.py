"""Keys that the one who asks lends for a call: kept beside the call, in memory and in a header,
nowhere else."""

from __future__ import annotations

import base64
import binascii
import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from types import MappingProxyType
from typing import Final

HEADER: Final = "x-seoga-lent-keys"
_MOST: Final = 8
_NONE: Final[Mapping[str, str]] = MappingProxyType({})
_lent: ContextVar[Mapping[str, str]] = ContextVar("lent", default=_NONE)


@contextmanager
def lending(keys: Mapping[str, str]) -> Iterator[None]:
    """Calls made in this block by this thread may use these keys, by the name of the variable
    that would hold them."""
    token = _lent.set(keys)
    try:
        yield
    finally:
        _lent.reset(token)


def lent_key(variable: str) -> str:
    """The key that is lent in the place of an environment variable; "" where none is."""
    return _lent.get().get(variable, "")


def to_headers() -> dict[str, str]:
    """The header of a request that passes them on; none where nothing is lent."""
    keys = dict(_lent.get())
    if not keys:
        return {}
    return {HEADER: base64.b64encode(json.dumps(keys).encode()).decode("ascii")}


def from_header(value: str) -> Mapping[str, str]:
    """Inverse of `to_headers`; what cannot be read lends nothing."""
    if not value:
        return _NONE
    try:
        keys = json.loads(base64.b64decode(value, validate=True))
    except (binascii.Error, ValueError):
        return _NONE
    if not isinstance(keys, dict):
        return _NONE
    pairs = [(k, v) for k, v in keys.items() if isinstance(k, str) and isinstance(v, str)]
    return dict(pairs[:_MOST])
