"""Extension folders: every module in one is found by its name, so that adding a file is the
whole change."""

from __future__ import annotations

import pkgutil
from collections.abc import Iterator
from importlib import import_module
from types import ModuleType


def discover(package: str) -> Iterator[ModuleType]:
    """The modules and packages directly inside `package`, by name; names with a leading
    underscore are left out."""
    for name in _names(package):
        yield import_module(f"{package}.{name}")


def named(package: str, name: str) -> ModuleType | None:
    """The module or package of that name among them, without a look at the others; None where
    there is none."""
    return import_module(f"{package}.{name}") if name in _names(package) else None


def _names(package: str) -> list[str]:
    folder = import_module(package)
    names = sorted(info.name for info in pkgutil.iter_modules(folder.__path__))
    return [name for name in names if not name.startswith("_")]
