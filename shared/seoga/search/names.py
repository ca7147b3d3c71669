"""Which documents of an index the references in their statements name."""

from __future__ import annotations

import sqlite3
from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from seoga.search.nameindex import Key, NameIndex, keys_of_file, rows_of
from seoga.search.references import (
    FAMILIES,
    Reference,
    folded,
    keys_of,
    number_key,
    path_key,
    stem_key,
)


@dataclass(frozen=True, slots=True)
class Name:
    """A document by its name."""

    id: int
    label: str
    path: str
    title: str = ""


@dataclass(slots=True)
class Names:
    """The documents that anything asks for."""

    _found: dict[Key, list[Name]] = field(default_factory=lambda: defaultdict(list))
    by_id: dict[int, Name] = field(default_factory=dict)

    def resolve(self, reference: Reference, referrer: Name) -> Name | None:
        """The document that is meant; None where there is none, or several equally likely."""
        for target in reference.targets:
            for key in keys_of(target, referrer.path):
                if found := self._among(key, referrer):
                    return found
        return None

    def _among(self, key: Key, referrer: Name) -> Name | None:
        found = self._found.get(key, [])
        if key[0] == "number" and key[1].startswith(":"):
            # A bare number says nothing outside the folder that counts so.
            found = [one for one in found if _beside(one, referrer)]
        if not found and key[0] == "number":
            found = self._of_family(key[1], referrer)
        if len(found) <= 1:
            return found[0] if found else None
        near = sorted(found, key=lambda one: _nearness(one, referrer), reverse=True)
        return None if _nearness(near[0], referrer) == _nearness(near[1], referrer) else near[0]

    def _of_family(self, key: str, referrer: Name) -> list[Name]:
        """`ADR-0005` names `adr/0005-use-x.md`, `5` names `eip-5.md` for another EIP."""
        family, _, number = key.partition(":")
        if family:
            bare = self._found.get(("number", f":{number}"), [])
            same = [one for one in bare if family in FAMILIES and _beside(one, referrer)]
            return same if len(same) == 1 else [one for one in bare if _in_folder(one, family)]
        own = number_key(stem_key(folded(referrer.path)))
        return self._found.get(("number", f"{own.partition(':')[0]}:{number}"), [])


def _beside(name: Name, referrer: Name) -> bool:
    own, other = (folded(each.path).rpartition("/")[0] for each in (name, referrer))
    return name.label == referrer.label and own == other


def _in_folder(name: Name, family: str) -> bool:
    return any(part.rstrip("s") == family for part in folded(name.path).split("/")[:-1])


def _nearness(name: Name, referrer: Name) -> tuple[bool, int]:
    """The same source first, then the longest common beginning of their folders."""
    shared = 0
    for one, other in zip(
        folded(name.path).split("/")[:-1], folded(referrer.path).split("/")[:-1], strict=False
    ):
        if one != other:
            break
        shared += 1
    return name.label == referrer.label, shared


def wanted_by(references: Iterable[tuple[Reference, str]]) -> set[Key]:
    """The keys under which referenced documents may be found; each reference comes with the path
    of the document it stands in."""
    out: set[Key] = set()
    for reference, path in references:
        own = number_key(stem_key(folded(path))).partition(":")[0]
        for target in reference.targets:
            for kind, key in keys_of(target, path):
                out.add((kind, key))
                if kind == "number":
                    number = key.partition(":")[2]
                    out |= {("number", f":{number}"), ("number", f"{own}:{number}")}
    return out


def find_names(
    conn: sqlite3.Connection, index: NameIndex, wanted: set[Key], ids: Mapping[int, Iterable[str]]
) -> Names:
    """The documents behind wanted keys; `ids` are identifiers that documents give themselves, and
    the documents to be known by id in any case."""
    names = Names()
    asked = index.files(conn, wanted) if wanted else set()
    for file_id, label, path, title in rows_of(conn, asked.union(ids)):
        hits = [key for key in keys_of_file(label, path, title) if key in wanted]
        for given in ids.get(file_id, ()):
            number = number_key(given)
            hits += [key for key in (("number", number), ("title", folded(given))) if key in wanted]
        if hits or file_id in ids:
            name = Name(file_id, label, path, title)
            names.by_id[file_id] = name
            for key in dict.fromkeys(hits):
                names._found[key].append(name)
    return names


__all__ = ["Key", "Name", "Names", "find_names", "path_key", "wanted_by"]
