"""Footnotes, endnotes and comments: what stands behind a reference, each told once."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

from seoga.models import Section, SectionKind
from seoga_extraction.formats.docx.package import Package
from seoga_extraction.ooxml.package import attribute, children

if TYPE_CHECKING:
    from lxml.etree import _Element

_PREFIX = {"footnote": "", "endnote": "e"}


class Notes:
    """Notes are numbered in the order they are referred to, both kinds from 1."""

    def __init__(self, package: Package) -> None:
        self._package = package
        self._labels: dict[tuple[str, str], str] = {}
        self._told: set[tuple[str, str]] = set()

    def label(self, kind: str, own: str) -> str:
        """The mark in the text: "[^1]", "[^e1]" for endnotes, "" for comments."""
        prefix = _PREFIX.get(kind)
        if prefix is None or own not in self._parts[kind]:
            return ""
        if (kind, own) not in self._labels:
            count = sum(known == kind for known, _ in self._labels) + 1
            self._labels[kind, own] = f"[^{prefix}{count}]"
        return self._labels[kind, own]

    def take(self, kind: str, own: str) -> _Element | None:
        """The content of a note or comment, the first time that it is asked for."""
        if (kind, own) in self._told:
            return None
        self._told.add((kind, own))
        return self._parts[kind].get(own)

    def section(
        self, kind: str, element: _Element, text: str, path: tuple[str, ...]
    ) -> Section | None:
        """A note with its mark, or a comment with its author and date; None without text."""
        if not text:
            return None
        if kind != "comment":
            label = self._labels.get((kind, attribute(element, "id")), "")
            shown = f"{label}: {text}" if label else text
            return Section(shown, SectionKind.NOTE, path, meta={"note": kind})
        author, date = attribute(element, "author").strip(), attribute(element, "date")[:10]
        by = (f" by {author}" if author else "") + (f", {date}" if date else "")
        meta = {"note": kind, "author": author, "date": date}
        return Section(
            f"Comment{by}: {text}",
            SectionKind.COMMENT,
            path,
            meta={key: value for key, value in meta.items() if value},
        )

    @cached_property
    def _parts(self) -> dict[str, dict[str, _Element]]:
        return {kind: self._read(kind) for kind in ("footnote", "endnote", "comment")}

    def _read(self, kind: str) -> dict[str, _Element]:
        """By id. Separators are known by their type: ids -1, 0 and 1 are both theirs and notes'."""
        part = self._package.part(f"{kind}s")
        return {
            attribute(one, "id"): one
            for one in children(part, kind)
            if attribute(one, "type") in ("", "normal")
        }
