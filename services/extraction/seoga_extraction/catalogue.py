"""What the format modules declare, kept in the cache: to say which formats there are, and in which
versions, no module has to be loaded. What a machine lacks for them is looked at each time.
"""

from __future__ import annotations

import json
import os
import sys
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import asdict, dataclass
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from xxhash import xxh3_128


@dataclass(frozen=True, slots=True)
class Entry:
    """What `Format` declares, as values of JSON; `extensions` are whole names too, `lacks` is
    `module:function` or ""."""

    name: str
    extensions: list[str]
    needs: list[str]
    lane: str
    version: str
    cheap: bool
    nests: bool
    lacks: str

    def why_not(self, options: Mapping[str, Any]) -> str:
        """What is not here that the format needs, by the options of its lane; "" for nothing."""
        if missing := ", ".join(need for need in self.needs if find_spec(need) is None):
            return f"needs {missing}"
        if not self.lacks:
            return ""
        module, _, function = self.lacks.partition(":")
        why: str = getattr(import_module(module), function)(options)
        return why


def entries(package: str, cache: Path) -> tuple[Entry, ...]:
    """The formats of a package, by name. Kept in the folder `cache` as long as no module there
    changes."""
    file = cache / f"formats-{package}.json"
    stamp = _stamp(package)
    # Whatever is wrong with what is kept, it is only a short cut.
    with suppress(OSError, ValueError, KeyError, TypeError):
        kept = json.loads(file.read_text(encoding="utf-8"))
        if kept["stamp"] == stamp:
            return tuple(Entry(**one) for one in kept["formats"])
    found = tuple(_declared(package))
    kept = {"stamp": stamp, "formats": [asdict(one) for one in found]}
    with suppress(OSError):
        _write(file, json.dumps(kept))
    return found


def _declared(package: str) -> Iterator[Entry]:
    from seoga_extraction.detect import formats

    for one in sorted(formats(package), key=lambda each: each.name):
        lacks = f"{one.lacks.__module__}:{one.lacks.__qualname__}" if one.lacks else ""
        names = [*one.extensions, *one.names]
        more = (one.lane, one.version, one.cheap, one.nests, lacks)
        yield Entry(one.name, names, list(one.needs), *more)


def _stamp(package: str) -> str:
    """Changes with every module of the package and of this one: by their content, since images are
    built with one time for all files."""
    seen = xxh3_128(sys.version.encode())
    for name in sorted({package, __package__ or package}):
        spec = find_spec(name)
        for place in spec.submodule_search_locations or () if spec else ():
            for path in sorted(Path(place).rglob("*.py")):
                seen.update(f"\0{path}\0".encode("utf-8", "surrogatepass"))
                seen.update(path.read_bytes())
    return seen.hexdigest()


def _write(file: Path, text: str) -> None:
    """All of it or nothing: another process may do the same."""
    file.parent.mkdir(parents=True, exist_ok=True)
    descriptor, name = tempfile.mkstemp(prefix=f"{file.name}-", dir=file.parent)
    with os.fdopen(descriptor, "w", encoding="utf-8") as out:
        out.write(text)
    Path(name).replace(file)
