"""A decision, the one that replaced it, and a question that both answer."""

from __future__ import annotations

from .conftest import Shelf

OLD = "The gateway signs session cookies with a shared secret of sixteen letters."
NEW = "Sessions are held by the identity provider; the gateway keeps no secret."
QUERY = "gateway signs session cookies shared secret"


def old(shelf: Shelf, *states: tuple[str, str], path: str = "old.md", label: str = "docs") -> int:
    return shelf.put(path, OLD, states=[list(one) for one in states], label=label)


def new(shelf: Shelf, *states: tuple[str, str], path: str = "new.md", label: str = "docs") -> int:
    return shelf.put(path, NEW, states=[list(one) for one in states], label=label)
