"""Office Math (OMML) of Word and PowerPoint to LaTeX.

Names of objects and their defaults: ECMA-376, part 1, chapter 22. Both namespaces, transitional and
strict, are read: only local names count.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from itertools import groupby

from lxml.etree import _Element

from seoga_extraction.math import latex
from seoga_extraction.math.omml_objects import Objects
from seoga_extraction.math.omml_runs import Style, run
from seoga_extraction.math.omml_tables import IGNORED
from seoga_extraction.math.omml_xml import children, flag, local, properties, visible_text

# Far above what people write; a document holds many equations, so one may not take all the time.
MAX_DEPTH = 24
MAX_ELEMENTS = 20_000
_BLANKS = re.compile(r" {2,}")


class _TooMuchError(Exception):
    """More elements than an equation has."""


def omml_to_latex(element: _Element) -> str:
    """LaTeX of an m:oMath or m:oMathPara element, without delimiters around it.

    Never raises: what is nested too deep comes flat as text, and an equation of more than 20,000
    elements comes back whole as escaped text. Time is linear in the number of elements.
    """
    try:
        made = _Converter().equation(element)
    except (_TooMuchError, RecursionError, ValueError, LookupError):
        made = latex.text(visible_text(element))
    return _BLANKS.sub(" ", made.replace("\0", "")).strip()


class _Converter(Objects):
    """Walks one equation, counting elements and depth."""

    def __init__(self) -> None:
        super().__init__()
        self._left = MAX_ELEMENTS
        self._depth = 0

    def equation(self, element: _Element) -> str:
        """An oMath, or the lines of an oMathPara."""
        if local(element) != "oMathPara":
            return self.row(element)
        lines = [self.row(one) for one in children(element) if local(one) == "oMath"]
        return latex.stacked([[line] for line in lines if line.strip()] or [[""]])

    def row(self, element: _Element | None, *, naming: bool = False, aligning: bool = False) -> str:
        """What an element holds, left to right; runs of one style are read as one."""
        if element is None:
            return ""
        if self._depth >= MAX_DEPTH:
            return latex.text(visible_text(element))
        self._depth += 1
        was, self.naming = self.naming, naming
        try:
            return latex.join(self._parts(element, aligning))
        finally:
            self._depth -= 1
            self.naming = was

    def _parts(self, element: _Element, aligning: bool) -> Iterator[str]:
        for style, group in groupby(self._content(element), key=self._style_or_none):
            if style is not None:
                text = "".join(map(_run_text, group))
                yield run(text, style, naming=self.naming, aligning=aligning)
            else:
                for one in group:
                    yield self._object(one, aligning)

    def _content(self, element: _Element) -> Iterator[_Element]:
        for one in children(element):
            self._left -= 1
            if self._left < 0:
                raise _TooMuchError
            name = local(one)
            if name not in IGNORED and not name.endswith("Pr"):
                yield one

    def _style_or_none(self, element: _Element) -> Style | None:
        if local(element) != "r":
            return None
        found = properties(element)
        return Style(found.get("scr") or "", found.get("sty") or "", flag(found, "nor"))

    def _object(self, element: _Element, aligning: bool) -> str:
        handler: Callable[[_Element], str] | None = self.objects.get(local(element))
        if handler is None:  # a wrapper: inserted text, a content control, a hyperlink
            return self.row(element, naming=self.naming, aligning=aligning)
        return handler(element)


def _run_text(element: _Element) -> str:
    parts = []
    for one in children(element):
        name = local(one)
        if name == "t":
            parts.append(one.text or "")
        elif name in {"br", "cr", "tab"}:
            parts.append(" ")
    return "".join(parts)
