"""LaTeX that always parses: escaped text, joined parts, environments. Shared by the converters."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Sequence


def words(row: str) -> frozenset[str]:
    """The words of a row: tables are easier to read so."""
    return frozenset(row.split())


# What LaTeX reads as a command, as math of its own; braces cannot stand in \text for all readers.
SPECIAL = {
    "\\": "\\backslash",
    "{": "\\{",
    "}": "\\}",
    "$": "\\$",
    "&": "\\&",
    "#": "\\#",
    "%": "\\%",
    "_": "\\_",
    "^": "\\wedge",
    "~": "\\sim",
}
FUNCTIONS = words(
    "sin cos tan cot sec csc sinh cosh tanh coth arcsin arccos arctan log ln lg exp lim max min sup"
    " inf det gcd arg dim hom ker deg Pr limsup liminf"
)
_PIECES = re.compile(r"([\\{}$&#%_^~])")
_COMMAND = re.compile(r"\\[A-Za-z]+\Z")
_LONGEST_COMMAND = 32


def clean(raw: str) -> str:
    """Without what no reader takes: control characters, halves of surrogate pairs, non-characters.

    Line breaks and tabs become spaces.
    """
    if raw.isascii() and raw.isprintable():
        return raw
    kept = []
    for character in raw:
        category = unicodedata.category(character)
        if character in "\t\n\r\v\f" or category.startswith("Z"):
            kept.append(" ")
        elif category not in {"Cc", "Cf", "Cs", "Cn"}:
            kept.append(character)
    return "".join(kept)


def text(raw: str) -> str:
    """Words inside math: `\\text{...}`, with what LaTeX would read as a command beside it."""
    parts = []
    for piece in _PIECES.split(" ".join(clean(raw).split(" "))):
        if piece in SPECIAL:
            parts.append(SPECIAL[piece])
        elif piece.strip():
            parts.append(f"\\text{{{piece}}}")
        elif piece:
            parts.append(" ")
    return join(parts)


def join(parts: Iterable[str]) -> str:
    """The parts in a row, with a space where a command would swallow the letter after it."""
    out: list[str] = []
    open_command = False
    for part in parts:
        if not part:
            continue
        if open_command and part[0].isascii() and part[0].isalpha():
            out.append(" ")
        out.append(part)
        open_command = bool(_COMMAND.search(part[-_LONGEST_COMMAND:]))
    return "".join(out)


def rows(lines: Sequence[Sequence[str]]) -> str:
    """The inside of a matrix. A row that starts with `[` or `*` would be read as an option."""
    shown = []
    for line in lines:
        row = " & ".join(cell.strip() for cell in line)
        shown.append("{}" + row if row.startswith(("[", "*")) else row)
    return " \\\\ ".join(shown)


def environment(name: str, lines: Sequence[Sequence[str]]) -> str:
    """`\\begin{name} ... \\end{name}` around rows of cells."""
    return f"\\begin{{{name}}} {rows(lines)} \\end{{{name}}}"


def stacked(lines: Sequence[Sequence[str]]) -> str:
    """Several lines of one equation: aligned where they have alignment marks."""
    if len(lines) == 1 and len(lines[0]) <= 1:
        return "".join(lines[0])
    name = "aligned" if any(len(line) > 1 for line in lines) else "gathered"
    return environment(name, lines)


def root(degree: str, radicand: str) -> str:
    """A radical; an empty degree is left out."""
    return f"\\sqrt{option(degree)}{{{radicand}}}"


def option(value: str) -> str:
    """An optional argument, left out when empty; brackets in it must not end it."""
    value = value.strip()
    if not value:
        return ""
    return f"[{{{value}}}]" if "]" in value or "[" in value else f"[{value}]"


def named(name: str) -> str:
    """A function's name set upright."""
    if name in FUNCTIONS:
        return "\\" + name
    return f"\\operatorname{{{name}}}" if name.isascii() and name.isalnum() else text(name)
