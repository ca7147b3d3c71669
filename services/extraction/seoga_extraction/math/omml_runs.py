"""Runs of Office Math: their characters and their style as LaTeX."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from seoga_extraction.math import latex
from seoga_extraction.math.omml_tables import SCRIPTS, STYLES
from seoga_extraction.math.symbols import symbol

# Stands for an alignment mark until rows are split; cleaned text never holds it.
ALIGN = "\0"
_PIECES = re.compile(r"(?P<word>[A-Za-z]+)|(?P<number>[0-9]+(?:[.,][0-9]+)*)|(?P<other>.)", re.S)
# Typed in a run, `y^2` means a superscript; elsewhere a caret is just a sign.
_CARET = re.compile(r"(?<=[A-Za-z0-9)\]])\^([0-9]+|[A-Za-z])(?![\^'′A-Za-z0-9])")
_AFTER_BASE = re.compile(r"[\w)\]}]\Z")


class Style(NamedTuple):
    """Style of a run: alphabet, weight and slant, and whether it is ordinary text."""

    script: str = ""
    weight: str = ""
    normal: bool = False


def run(text: str, style: Style, *, naming: bool = False, aligning: bool = False) -> str:
    """LaTeX of a run's text. In `naming`, words are functions; in `aligning`, & is a mark."""
    if not aligning:
        return _marked(text, style, naming)
    return ALIGN.join(_marked(part, style, naming) for part in text.split("&"))


def _marked(text: str, style: Style, naming: bool) -> str:
    text = latex.clean(text)
    if style.normal:
        return latex.text(text)
    parts: list[str] = []
    last = 0
    for match in _CARET.finditer(text):
        parts += [*_signs(text[last : match.start()], style, naming), f"^{{{match[1]}}}"]
        last = match.end()
    parts += _signs(text[last:], style, naming)
    return latex.join(parts)


def _signs(text: str, style: Style, naming: bool) -> Iterator[str]:
    words = ""
    before = ""
    for match in _PIECES.finditer(text):
        shown = _piece(match, style, naming, before)
        before = match[0]
        if shown.startswith("\\text{") or (words and match[0] == " "):
            words += match[0]
            continue
        if words:
            yield latex.text(words)
            words = ""
        yield shown
    if words:
        yield latex.text(words)


def _piece(match: re.Match[str], style: Style, naming: bool, before: str) -> str:
    piece = match[0]
    if match.lastgroup == "word":
        return _word(piece, style, naming)
    if match.lastgroup == "number":
        return _styled(piece, style) if style.script or style.weight == "b" else piece
    if piece == " ":
        between = before.isalpha() and match.string[match.end() : match.end() + 1].isalpha()
        return "\\ " if between else " "
    shown = symbol(piece)
    if shown.startswith("'"):
        return shown if _AFTER_BASE.search(before) else "{}" + shown
    bold = style.weight in STYLES and piece.isalpha() and shown.startswith("\\")
    return f"\\boldsymbol{{{shown}}}" if bold and not shown.startswith("\\text") else shown


def _word(word: str, style: Style, naming: bool) -> str:
    if style.script or style.weight in STYLES:
        return _styled(word, style)
    if naming and (len(word) > 1 or word in latex.FUNCTIONS):
        return latex.named(word)
    if style.weight == "p" and len(word) > 1:
        return latex.named(word) if word in latex.FUNCTIONS else f"\\mathrm{{{word}}}"
    return word


def _styled(piece: str, style: Style) -> str:
    command = SCRIPTS.get(style.script) or STYLES.get(style.weight, "")
    return f"{command}{{{piece}}}" if command else piece
