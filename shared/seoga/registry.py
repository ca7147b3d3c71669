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
    folder = import_module(package)
    for info in sorted(pkgutil.iter_modules(folder.__path__), key=lambda found: found.name):
        if not info.name.startswith("_"):
            yield import_module(f"{package}.{info.name}")
