"""Where the links lead that name what replaced a document: shown text loses it."""

from __future__ import annotations

import re
from collections.abc import Sequence

# Statements stand at the top of a document, or under a heading of their own not far below.
_LINES = 300
_LONGEST = 400
_LINK = re.compile(r"`[^`<>]{0,200}<([^<>`\s]{1,300})>`_{1,2}|:doc:`(?:[^`<>]{0,200}<)?([^`<>]+)")
_BY = re.compile(r"\W{0,6}(?:superseded|replaced|obsoleted)[- ]by\b", re.IGNORECASE)
_OF = re.compile(r"\W{0,6}(?:supersedes|replaces|obsoletes)\b", re.IGNORECASE)


def relations(lines: Sequence[str]) -> dict[str, list[str]]:
    """The targets of links in lines that begin so, under the names that front matter uses."""
    out: dict[str, list[str]] = {}
    for line in lines[:_LINES]:
        key = "superseded-by" if _BY.match(line) else "supersedes" if _OF.match(line) else ""
        if key:
            out.setdefault(key, []).extend(targets(line))
    return {key: found for key, found in out.items() if found}


def targets(line: str) -> list[str]:
    """Where the links of a line lead."""
    return [link[1] or link[2].strip() for link in _LINK.finditer(line[:_LONGEST])]
