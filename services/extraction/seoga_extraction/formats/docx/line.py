"""One paragraph taken apart: the text that shows, and what hangs on it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from seoga_extraction.ooxml.drawing import alternative, chosen
from seoga_extraction.ooxml.package import attribute, child, children, local, number, related
from seoga_extraction.symbols import symbol

if TYPE_CHECKING:
    from lxml.etree import _Element

# Deleted or moved-away text, field codes and properties never show.
SILENT = frozenset(
    [
        "del",
        "moveFrom",
        "delText",
        "instrText",
        "delInstrText",
        "pPr",
        "rPr",
        "sdtPr",
        "sdtEndPr",
        "tblPr",
        "tblGrid",
        "trPr",
        "tcPr",
        "sectPr",
        "fldData",
        "proofErr",
        "bookmarkStart",
        "bookmarkEnd",
        "ctrlPr",
    ]
)
_SIGNS = {"tab": "\t", "br": "\n", "cr": "\n", "noBreakHyphen": "-", "ptab": "\t"}
_OFF = ("0", "false", "off")


@dataclass(slots=True)
class Line:
    """What one paragraph holds: `boxes` are the text boxes, `hung` the ids of notes and comments
    ("footnote", "endnote" or "comment", id), `charts` and `diagrams` relationship ids."""

    parts: list[str] = field(default_factory=list)
    boxes: list[_Element] = field(default_factory=list)
    hung: list[tuple[str, str]] = field(default_factory=list)
    charts: list[str] = field(default_factory=list)
    diagrams: list[str] = field(default_factory=list)

    @property
    def text(self) -> str:
        """The text, trimmed."""
        return "".join(self.parts).strip()


class Reader:
    """Reads the paragraphs of one story in order: fields may run over several of them.

    `label(kind, id)` gives the mark of a note where it is referred to; "" for none.
    """

    def __init__(self, story: _Element, label: Callable[[str, str], str]) -> None:
        self._label = label
        # One entry an open field: whether its code is over. Broken fields must hide nothing.
        self._fields: list[bool] = []
        self._gated = _balanced(story)
        self._special: dict[str, Callable[[_Element, Line], None]] = {
            "r": self._run,
            "t": self._text,
            "txbxContent": lambda one, line: line.boxes.append(one),
            "AlternateContent": self._alternate,
            "fldChar": self._field,
            "sym": self._symbol,
            "ruby": self._ruby,
            "oMath": self._math,
            "oMathPara": self._math,
            "drawing": self._drawing,
            "pict": self._drawing,
            "object": self._drawing,
            "p": self._inner,
            "textpath": self._watermark,
            "chart": lambda one, line: line.charts.append(related(one)),
            "relIds": lambda one, line: line.diagrams.append(related(one, "dm")),
            "footnoteReference": self._hung,
            "endnoteReference": self._hung,
            "commentReference": self._hung,
        }

    def line(self, paragraph: _Element) -> Line:
        """One paragraph."""
        line = Line()
        self._gather(paragraph, line)
        return line

    @property
    def _hidden(self) -> bool:
        """Inside the code of a field: fields there have results too, which do not show."""
        return self._gated and not all(self._fields)

    def _gather(self, element: _Element, line: Line) -> None:
        for one in element:
            name = local(one)
            if handler := self._special.get(name):
                handler(one, line)
            elif name in _SIGNS:
                self._add(_SIGNS[name], line)
            elif name and name not in SILENT:
                self._gather(one, line)

    def _add(self, text: str, line: Line) -> None:
        if text and not self._hidden:
            line.parts.append(text)

    def _run(self, run: _Element, line: Line) -> None:
        properties = child(run, "rPr")
        if properties is not None:
            vanish = child(properties, "vanish")
            if vanish is not None and attribute(vanish, "val") not in _OFF:
                for one in children(run, "fldChar"):
                    self._field(one, line)
                return
        self._gather(run, line)

    def _text(self, element: _Element, line: Line) -> None:
        text = "".join(str(piece) for piece in element.itertext())
        if any("\uf000" <= character <= "\uf0ff" for character in text):
            fonts = child(element.getparent(), "rPr", "rFonts")
            font = attribute(fonts, "ascii") or attribute(fonts, "hAnsi") or "Wingdings"
            text = "".join(
                symbol(ord(one), font) if "\uf000" <= one <= "\uf0ff" else one for one in text
            )
        self._add(text, line)

    def _symbol(self, element: _Element, line: Line) -> None:
        try:
            code = int(attribute(element, "char"), 16)
        except ValueError:
            return
        self._add(symbol(code, attribute(element, "font")), line)

    def _field(self, element: _Element, line: Line) -> None:
        step = attribute(element, "fldCharType")
        if step == "begin":
            self._add(_form(child(element, "ffData")), line)
            self._fields.append(False)
        elif step == "separate" and self._fields:
            self._fields[-1] = True
        elif step == "end" and self._fields:
            self._fields.pop()

    def _alternate(self, element: _Element, line: Line) -> None:
        # The same drawing twice, for new and for old programs.
        if (version := chosen(element)) is not None:
            self._gather(version, line)

    def _ruby(self, element: _Element, line: Line) -> None:
        base, above = child(element, "rubyBase"), child(element, "rt")
        if base is not None:
            self._gather(base, line)
        reading = self.line(above).text if above is not None else ""
        self._add(f"({reading})" if reading else "", line)

    def _math(self, element: _Element, line: Line) -> None:
        from seoga_extraction.math.omml import omml_to_latex

        if latex := omml_to_latex(element):
            # Equations side by side stay apart.
            apart = " " if line.parts and line.parts[-1].endswith("]") else ""
            self._add(f"{apart}[math: {latex}]", line)

    def _drawing(self, element: _Element, line: Line) -> None:
        before = len(line.parts), len(line.boxes)
        self._gather(element, line)
        if before == (len(line.parts), len(line.boxes)) and (text := alternative(element)):
            self._add(f"[image: {text}]", line)

    def _inner(self, paragraph: _Element, line: Line) -> None:
        """A paragraph of a drawing, inside the line that holds the drawing."""
        self._gather(paragraph, line)
        self._add("\n", line)

    def _watermark(self, element: _Element, line: Line) -> None:
        self._add(attribute(element, "string"), line)

    def _hung(self, element: _Element, line: Line) -> None:
        kind = local(element).removesuffix("Reference")
        own = attribute(element, "id")
        if not self._hidden:
            line.hung.append((kind, own))
            self._add(self._label(kind, own), line)


def _balanced(story: _Element) -> bool:
    """Whether every field that begins also ends."""
    depth = 0
    for one in story.iter("{*}fldChar"):
        if any(local(above) in ("del", "moveFrom") for above in one.iterancestors()):
            continue
        depth += {"begin": 1, "end": -1}.get(attribute(one, "fldCharType"), 0)
        if depth < 0:
            return False
    return depth == 0


def _form(data: _Element | None) -> str:
    """What an old form field shows: a box with or without a cross, or the entry chosen."""
    if (box := child(data, "checkBox")) is not None:
        state = child(box, "checked")
        state = child(box, "default") if state is None else state
        return "☐" if state is None or attribute(state, "val") in _OFF else "☒"
    if (choice := child(data, "ddList")) is not None:
        entries = [attribute(one, "val") for one in children(choice, "listEntry")]
        place = number(attribute(child(choice, "result"), "val"))
        return entries[place] if 0 <= place < len(entries) else ""
    return ""
