"""Presentation MathML of web pages and OpenDocument to LaTeX (MathML Core, chapter 3).

Only local names count, so that pages without namespaces are read too.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

from lxml.etree import _Element

from seoga_extraction.math import latex
from seoga_extraction.math.omml_runs import Style, run
from seoga_extraction.math.omml_tables import ACCENTS, GROUPS, LIMITED
from seoga_extraction.math.omml_xml import children, local

# Far above what people write; a page holds many equations, so one may not take all the time.
MAX_DEPTH = 24
MAX_ELEMENTS = 20_000
_ATOM = re.compile(r"(?:\\[A-Za-z]+|[A-Za-z]|[0-9]+(?:\.[0-9]+)?)\Z")
_BLANKS = re.compile(r"\s{2,}")
_PRIMES = frozenset("'′″‴")
_SKIPPED = frozenset(
    {"annotation", "annotation-xml", "mphantom", "none", "mprescripts", "maligngroup"}
)
_VARIANTS = {
    "bold": Style(weight="b"),
    "bold-italic": Style(weight="bi"),
    "double-struck": Style(script="double-struck"),
    "script": Style(script="script"),
    "fraktur": Style(script="fraktur"),
    "sans-serif": Style(script="sans-serif"),
    "monospace": Style(script="monospace"),
}
_ABOVE = {sign: command for (sign, place), command in GROUPS.items() if place == "top"}
_BELOW = {sign: command for (sign, place), command in GROUPS.items() if place == "bot"}
_LINES_ABOVE = frozenset("¯‾―_\u0305\u0304―─")


class _TooMuchError(Exception):
    """More elements than an equation has."""


def mathml_to_latex(element: _Element) -> str:
    """LaTeX of a math element, without delimiters around it.

    Never raises: what is nested too deep comes flat as text, and an equation of more than 20,000
    elements comes back whole as escaped text. Time is linear in the number of elements.
    """
    try:
        made = _Converter().row(element)
    except (_TooMuchError, RecursionError, ValueError, LookupError):
        made = latex.text(_flat(element))
    return _BLANKS.sub(" ", made).strip()


def _flat(element: _Element) -> str:
    """The signs as they stand."""
    return " ".join(" ".join(map(str, element.itertext())).split())


class _Converter:
    """Walks one equation, counting elements and depth."""

    def __init__(self) -> None:
        self._left = MAX_ELEMENTS
        self._depth = 0
        self._known: dict[str, Callable[[_Element], str]] = {
            "mi": self._identifier,
            "mn": self._token,
            # Words as operators: lim, mod.
            "mo": self._identifier,
            "mtext": lambda one: latex.text(one.text or ""),
            "ms": lambda one: latex.text(f"“{one.text or ''}”"),
            "mspace": lambda _: " ",
            "mfrac": self._fraction,
            "msqrt": lambda one: latex.root("", self.row(one)),
            "mroot": self._root,
            "msub": self._scripts,
            "msup": self._scripts,
            "msubsup": self._scripts,
            "munder": self._below,
            "mover": self._above,
            "munderover": self._both,
            "mmultiscripts": self._many_scripts,
            "mtable": self._table,
            "mfenced": self._fenced,
            "menclose": self._enclosed,
            "semantics": self._first,
            "maction": self._first,
        }

    def row(self, element: _Element) -> str:
        """What an element holds, left to right."""
        if self._depth >= MAX_DEPTH:
            return latex.text(_flat(element))
        self._depth += 1
        try:
            return latex.join(map(self.one, children(element)))
        finally:
            self._depth -= 1

    def one(self, element: _Element) -> str:
        """An element, with what it holds."""
        self._left -= 1
        if self._left < 0:
            raise _TooMuchError
        name = local(element)
        if name in _SKIPPED:
            return ""
        handler = self._known.get(name)
        return self.row(element) if handler is None else self._deeper(handler, element)

    def _deeper(self, handler: Callable[[_Element], str], element: _Element) -> str:
        if self._depth >= MAX_DEPTH:
            return latex.text(_flat(element))
        self._depth += 1
        try:
            return handler(element)
        finally:
            self._depth -= 1

    def _parts(self, element: _Element, count: int) -> list[str]:
        """The LaTeX of so many arguments; "" for those that are not there."""
        made = [self.one(one) for one in children(element)]
        return (made + [""] * count)[:count]

    def _identifier(self, element: _Element) -> str:
        text = (element.text or "").strip()
        style = _VARIANTS.get(element.get("mathvariant", ""), Style())
        if style == Style() and len(text) > 1 and text.isascii() and text.isalpha():
            return latex.named(text) if text in latex.FUNCTIONS else f"\\mathrm{{{text}}}"
        return run(text, style)

    def _token(self, element: _Element) -> str:
        style = _VARIANTS.get(element.get("mathvariant", ""), Style())
        return run((element.text or "").strip(), style)

    def _first(self, element: _Element) -> str:
        return next(map(self.one, children(element)), "")

    def _fraction(self, element: _Element) -> str:
        above, below = self._parts(element, 2)
        if re.match(r"0(?:\.0*)?[a-z%]*\Z", element.get("linethickness", "")):
            return f"{{{above or '{}'} \\atop {below or '{}'}}}"
        return f"\\frac{{{above}}}{{{below}}}"

    def _root(self, element: _Element) -> str:
        radicand, degree = self._parts(element, 2)
        return latex.root(degree, radicand)

    def _scripts(self, element: _Element) -> str:
        name = local(element)
        below = name != "msup"
        held = list(children(element))
        if name == "msup" and len(held) == 2 and _flat(held[1]) and set(_flat(held[1])) <= _PRIMES:
            return f"{_base(self.one(held[0]))}{_primes(_flat(held[1]))}"
        parts = self._parts(element, 3 if name == "msubsup" else 2)
        lower = f"_{{{parts[1]}}}" if below else ""
        upper = f"^{{{parts[-1]}}}" if name != "msub" else ""
        return _base(parts[0]) + lower + upper

    def _many_scripts(self, element: _Element) -> str:
        held = list(children(element))
        base = _base(self.one(held[0])) if held else "{}"
        names = [local(one) for one in held]
        middle = names.index("mprescripts") if "mprescripts" in names else len(held)
        after = "{}".join(self._pairs(held[1:middle]))
        before = "".join("{}" + pair for pair in self._pairs(held[middle + 1 :]))
        return before + base + after

    def _pairs(self, held: list[_Element]) -> Iterator[str]:
        for at in range(0, len(held), 2):
            lower, upper = [*(self.one(one) for one in held[at : at + 2]), ""][:2]
            yield (f"_{{{lower}}}" if lower else "") + (f"^{{{upper}}}" if upper else "")

    def _below(self, element: _Element) -> str:
        base, under = self._parts(element, 2)
        return self._marked(base, under, _mark(element, 1), above=False)

    def _above(self, element: _Element) -> str:
        base, over = self._parts(element, 2)
        return self._marked(base, over, _mark(element, 1), above=True)

    def _both(self, element: _Element) -> str:
        base, under, over = self._parts(element, 3)
        if base in LIMITED or base.startswith("\\int"):
            return f"{base}_{{{under}}}^{{{over}}}"
        inner = self._marked(base, under, _mark(element, 1), above=False)
        return self._marked(inner, over, _mark(element, 2), above=True)

    def _marked(self, base: str, shown: str, mark: str, *, above: bool) -> str:
        """A base with something over or under it: a limit, an accent, a brace, or just that."""
        if base in LIMITED:
            return f"{base}{'^' if above else '_'}{{{shown}}}"
        if command := (_ABOVE if above else _BELOW).get(mark):
            return f"{command}{{{base}}}"
        if mark in _LINES_ABOVE and mark:
            return f"\\{'overline' if above else 'underline'}{{{base}}}"
        if above and mark in ACCENTS:
            return f"{ACCENTS[mark][len(base) > 1]}{{{base}}}"
        return f"\\{'overset' if above else 'underset'}{{{shown}}}{{{base}}}"

    def _table(self, element: _Element) -> str:
        lines = []
        for row in children(element):
            cells = list(children(row))
            # The number of an equation stands first.
            cells = cells[1:] if local(row) == "mlabeledtr" else cells
            lines.append([self.one(cell) for cell in cells] or [""])
        return latex.environment("matrix", lines or [[""]])

    def _fenced(self, element: _Element) -> str:
        opening, closing = element.get("open", "("), element.get("close", ")")
        marks = "".join(element.get("separators", ",").split())
        parts = [run(opening, Style())]
        for at, one in enumerate(children(element)):
            if at and marks:
                parts.append(run(marks[min(at, len(marks)) - 1], Style()))
            parts.append(self.one(one))
        return latex.join([*parts, run(closing, Style())])

    def _enclosed(self, element: _Element) -> str:
        inner = self.row(element)
        kinds = element.get("notation", "longdiv").split()
        if "radical" in kinds:
            return latex.root("", inner)
        return f"\\boxed{{{inner}}}" if {"box", "roundedbox", "circle"} & set(kinds) else inner


def _base(shown: str) -> str:
    return shown if _ATOM.match(shown) else f"{{{shown}}}"


def _primes(text: str) -> str:
    return "'" * sum({"″": 2, "‴": 3}.get(one, 1) for one in text)


def _mark(element: _Element, at: int) -> str:
    """The sign that an argument consists of; "" for more than one."""
    held = list(children(element))
    text = _flat(held[at]) if at < len(held) else ""
    return text if len(text) == 1 else ""
