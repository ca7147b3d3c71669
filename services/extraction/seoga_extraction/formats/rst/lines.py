"""Lines of reStructuredText: indents, widths, and the directives by what becomes of them."""

from __future__ import annotations

from unicodedata import east_asian_width

CODE = frozenset(("code-block", "code", "sourcecode", "parsed-literal", "literal", "doctest"))
ADMONITIONS = frozenset(
    (
        "note",
        "warning",
        "tip",
        "hint",
        "important",
        "caution",
        "danger",
        "error",
        "attention",
        "seealso",
        "admonition",
        "deprecated",
        "versionadded",
        "versionchanged",
        "todo",
        "topic",
        "sidebar",
    )
)
PICTURES = frozenset(("image", "figure"))
# What only steers the program that makes pages.
SILENT = frozenset(
    (
        "toctree",
        "contents",
        "index",
        "include",
        "literalinclude",
        "raw",
        "highlight",
        "module",
        "currentmodule",
        "meta",
        "default-role",
        "role",
        "sectnum",
        "automodule",
        "autoclass",
        "autofunction",
        "automethod",
        "only",
        "tabularcolumns",
    )
)


def without_colons(line: str) -> str:
    """`text::` shows `text:`; a lone `::` shows nothing."""
    if not line.rstrip().endswith("::"):
        return line
    text = line.rstrip()[:-2]
    return text.rstrip() if not text.strip() or text.endswith(" ") else f"{text}:"


def dedented(lines: list[str]) -> list[str]:
    """Lines without the blanks that all of them begin with."""
    indents = [len(line) - len(line.lstrip()) for line in lines if line.strip()]
    indent = min(indents, default=0)
    return [line[indent:].rstrip() for line in lines]


def deeper_end(lines: list[str], start: int, end: int) -> int:
    """The line after the block that is indented deeper than line `start`."""
    own = len(lines[start]) - len(lines[start].lstrip(" -*+•"))
    index = start + 1
    while index < end:
        line = lines[index]
        if line.strip() and len(line) - len(line.lstrip()) <= min(own, _indent(lines[start])):
            return index
        index += 1
    return index


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip())


def width(text: str) -> int:
    """Columns on a terminal: Hangul and Chinese characters take two."""
    return sum(2 if east_asian_width(one) in "WF" else 1 for one in text)
