"""The objects of Office Math: a method for each kind."""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Callable

from lxml.etree import _Element

from seoga_extraction.math import latex
from seoga_extraction.math.omml_runs import ALIGN
from seoga_extraction.math.omml_tables import (
    ACCENTS,
    BRACKETED_MATRICES,
    DELIMITERS,
    GROUPS,
    INTEGRALS,
    LIMITED,
)
from seoga_extraction.math.omml_xml import child, children, flag, local, properties
from seoga_extraction.math.symbols import symbol

# One sign, or one number: a script needs no braces around it.
_ATOM = re.compile(r"(?:\\[A-Za-z]+|[^\\{}^_'\s]|[0-9.]+)\Z")
_SPACES = re.compile(r"\s+")


class Objects(ABC):
    """Handlers by local name; each takes its element and gives LaTeX."""

    def __init__(self) -> None:
        self.naming = False
        self.objects: dict[str, Callable[[_Element], str]] = {
            "f": self._fraction,
            "sSup": self._scripts,
            "sSub": self._scripts,
            "sSubSup": self._scripts,
            "sPre": self._pre_scripts,
            "rad": self._radical,
            "nary": self._nary,
            "d": self._delimiters,
            "m": self._matrix,
            "eqArr": self._lines,
            "func": self._function,
            "acc": self._accent,
            "bar": self._bar,
            "groupChr": self._group,
            "limLow": self._limit_below,
            "limUpp": self._limit_above,
            "borderBox": self._border,
            "phant": self._phantom,
        }

    @abstractmethod
    def row(self, element: _Element | None, *, naming: bool = False, aligning: bool = False) -> str:
        """What an element holds, left to right."""

    def part(self, element: _Element, name: str) -> str:
        """What the child of that name holds, without blanks around it."""
        return self.row(child(element, name)).strip()

    def _fraction(self, element: _Element) -> str:
        above, below = self.part(element, "num"), self.part(element, "den")
        form = properties(element).get("type")
        if form == "lin":
            return f"{_grouped(above)}/{_grouped(below)}"
        if form == "skw":
            return f"{{}}^{{{above}}}/{{}}_{{{below}}}"
        if form == "noBar":
            return f"{{{above or '{}'} \\atop {below or '{}'}}}"
        return f"\\frac{{{above}}}{{{below}}}"

    def _scripts(self, element: _Element) -> str:
        base = self._base(element)
        below, above = self.part(element, "sub"), self.part(element, "sup")
        return base + (f"_{{{below}}}" if below else "") + (f"^{{{above}}}" if above else "")

    def _base(self, element: _Element) -> str:
        inner = child(element, "e")
        shown = self.row(inner, naming=self.naming).strip()
        if inner is not None and _only(inner, "d") is not None and shown.startswith("\\left"):
            return shown
        return _grouped(shown)

    def _pre_scripts(self, element: _Element) -> str:
        below, above = self.part(element, "sub"), self.part(element, "sup")
        scripts = (f"_{{{below}}}" if below else "") + (f"^{{{above}}}" if above else "")
        return (f"{{}}{scripts}" if scripts else "") + self._base(element)

    def _radical(self, element: _Element) -> str:
        hidden = flag(properties(element), "degHide")
        degree = "" if hidden else self.part(element, "deg")
        return latex.root(degree, self.part(element, "e"))

    def _nary(self, element: _Element) -> str:
        found = properties(element)
        character = found.get("chr", "∫")
        sign = symbol(character[:1]) if character else "∫" if character is None else ""
        below = "" if flag(found, "subHide") else self.part(element, "sub")
        above = "" if flag(found, "supHide") else self.part(element, "sup")
        scripts = (f"_{{{below}}}" if below else "") + (f"^{{{above}}}" if above else "")
        where = self._placed(sign, character or "", found.get("limLoc")) if scripts else ""
        return latex.join([sign or "{}", where, scripts, self.part(element, "e")])

    def _placed(self, sign: str, character: str, where: str | None) -> str:
        """\\limits or \\nolimits, where the document differs from what LaTeX does by itself."""
        if not sign.startswith("\\") or where not in {"undOvr", "subSup"}:
            return ""
        beside = character in INTEGRALS
        if beside == (where == "subSup"):
            return ""
        return "\\limits" if beside else "\\nolimits"

    def _delimiters(self, element: _Element) -> str:
        found = properties(element)
        opening = _character(found, "begChr", "(")
        closing = _character(found, "endChr", ")")
        cells = [one for one in children(element) if local(one) == "e"]
        known = self._known_form(cells, opening, closing)
        if known:
            return known
        separator = _character(found, "sepChr", "|")
        middle = DELIMITERS.get(separator, ".")
        between = f"\\middle{middle}" if middle != "." else symbol(separator[:1])
        inner: list[str] = []
        for cell in cells:
            inner += [between, self.row(cell).strip()] if inner else [self.row(cell).strip()]
        return latex.join([*_opened(opening, "\\left"), *inner, *_opened(closing, "\\right")])

    def _known_form(self, cells: list[_Element], opening: str, closing: str) -> str:
        """Bracketed matrices, binomials and cases have commands of their own."""
        if len(cells) != 1:
            return ""
        matrix = _only(cells[0], "m")
        if matrix is not None and (opening, closing) in BRACKETED_MATRICES:
            return latex.environment(
                BRACKETED_MATRICES[opening, closing], self._matrix_rows(matrix)
            )
        lines = _only(cells[0], "eqArr")
        if lines is not None and (opening, closing) == ("{", ""):
            return latex.environment("cases", self._line_cells(lines))
        return self._binomial(cells[0]) if (opening, closing) == ("(", ")") else ""

    def _binomial(self, cell: _Element) -> str:
        fraction = _only(cell, "f")
        if fraction is None or properties(fraction).get("type") != "noBar":
            return ""
        return f"\\binom{{{self.part(fraction, 'num')}}}{{{self.part(fraction, 'den')}}}"

    def _matrix(self, element: _Element) -> str:
        return latex.environment("matrix", self._matrix_rows(element))

    def _matrix_rows(self, element: _Element) -> list[list[str]]:
        lines = [one for one in children(element) if local(one) == "mr"]
        return [[self.row(cell) for cell in children(line) if local(cell) == "e"] for line in lines]

    def _lines(self, element: _Element) -> str:
        return latex.stacked(self._line_cells(element))

    def _line_cells(self, element: _Element) -> list[list[str]]:
        lines = [one for one in children(element) if local(one) == "e"]
        return [self.row(line, aligning=True).split(ALIGN) for line in lines]

    def _function(self, element: _Element) -> str:
        name = self.row(child(element, "fName"), naming=True).strip()
        return latex.join([name, self.part(element, "e")])

    def _accent(self, element: _Element) -> str:
        character = _character(properties(element), "chr", "\u0302")
        inner = self.part(element, "e")
        commands = ACCENTS.get(character)
        if commands is None:
            mark = symbol(character[:1]) if character else ""
            return f"\\overset{{{mark}}}{{{inner}}}" if mark else _grouped(inner)
        return f"{commands[not _ATOM.match(inner)]}{{{inner}}}"

    def _bar(self, element: _Element) -> str:
        top = properties(element).get("pos") == "top"
        return f"\\{'overline' if top else 'underline'}{{{self.part(element, 'e')}}}"

    def _group(self, element: _Element) -> str:
        found = properties(element)
        character = _character(found, "chr", "⏟")
        position = found.get("pos") or "bot"
        inner = self.part(element, "e")
        command = GROUPS.get((character, position))
        if command:
            return f"{command}{{{inner}}}"
        mark = symbol(character[:1]) if character else ""
        return f"\\{'over' if position == 'top' else 'under'}set{{{mark}}}{{{inner}}}"

    def _limit_below(self, element: _Element) -> str:
        return self._limit(element, "_", "\\underset", "\\underbrace")

    def _limit_above(self, element: _Element) -> str:
        return self._limit(element, "^", "\\overset", "\\overbrace")

    def _limit(self, element: _Element, mark: str, command: str, brace: str) -> str:
        inner = child(element, "e")
        base = self.row(inner, naming=self.naming).strip()
        limit = _SPACES.sub(" ", self.part(element, "lim"))
        if base.startswith("\\operatorname{") and base.endswith("}") and self.naming:
            base = base.replace("\\operatorname", "\\operatorname*", 1)
            return f"{base}{mark}{{{limit}}}"
        braced = inner is not None and _only(inner, "groupChr") is not None
        if base in LIMITED or (braced and base.startswith(brace)):
            return f"{base}{mark}{{{limit}}}"
        return f"{command}{{{limit}}}{{{base}}}"

    def _border(self, element: _Element) -> str:
        found = properties(element)
        inner = self.part(element, "e")
        up, down = flag(found, "strikeBLTR"), flag(found, "strikeTLBR")
        if up or down or flag(found, "strikeH") or flag(found, "strikeV"):
            inner = f"\\{'xcancel' if up and down else 'bcancel' if down else 'cancel'}{{{inner}}}"
        sides = ("hideTop", "hideBot", "hideLeft", "hideRight")
        return (
            _grouped(inner) if all(flag(found, side) for side in sides) else f"\\boxed{{{inner}}}"
        )

    def _phantom(self, element: _Element) -> str:
        found = properties(element)
        inner = self.part(element, "e")
        if "show" not in found or flag(found, "show"):
            return _grouped(inner)
        flat = flag(found, "zeroAsc") and flag(found, "zeroDesc")
        kind = "vphantom" if flag(found, "zeroWid") else "hphantom" if flat else "phantom"
        return f"\\{kind}{{{inner}}}"


def _character(found: dict[str, str | None], name: str, default: str) -> str:
    value = found.get(name, default)
    return default if value is None else value


def _opened(character: str, command: str) -> list[str]:
    """`\\left(`; a bracket that cannot grow stands beside an empty one."""
    known = DELIMITERS.get(character)
    if known is not None:
        return [command + known]
    plain = symbol(character[:1])
    return [plain, f"{command}."] if command == "\\left" else [f"{command}.", plain]


def _only(element: _Element, name: str) -> _Element | None:
    """The one object that an argument consists of, if it has that name."""
    objects = [one for one in children(element) if not local(one).endswith("Pr")]
    return objects[0] if len(objects) == 1 and local(objects[0]) == name else None


def _grouped(shown: str) -> str:
    return shown if _ATOM.match(shown) else f"{{{shown}}}"
