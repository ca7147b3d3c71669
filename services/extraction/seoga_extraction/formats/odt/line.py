"""One paragraph of an OpenDocument text: what it shows, and what hangs on it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from seoga_extraction.formats.odt.package import attribute, local, number

if TYPE_CHECKING:
    from lxml.etree import _Element

_SILENT = frozenset(
    (
        "tracked-changes",
        "annotation-end",
        "bookmark-start",
        "bookmark-end",
        "binary-data",
        "hidden-text",
    )
)
MAX_BLANKS = 100


@dataclass(slots=True)
class Line:
    """`boxes` hold blocks (text boxes), `notes` are notes and annotations."""

    parts: list[str] = field(default_factory=list)
    boxes: list[_Element] = field(default_factory=list)
    notes: list[_Element] = field(default_factory=list)

    @property
    def text(self) -> str:
        """The text, trimmed."""
        return "".join(self.parts).strip()


def read_line(
    paragraph: _Element, label: Callable[[_Element], str], formula: Callable[[str], str]
) -> Line:
    """`label(note)` gives the mark of a note, `formula(href)` the source of an embedded one."""
    line = Line()
    _Reader(line, label, formula).gather(paragraph)
    return line


class _Reader:
    def __init__(
        self, line: Line, label: Callable[[_Element], str], formula: Callable[[str], str]
    ) -> None:
        self._line = line
        self._label = label
        self._formula = formula
        self._handlers: dict[str, Callable[[_Element], None]] = {
            "s": self._blanks,
            "tab": lambda _: line.parts.append("\t"),
            "line-break": lambda _: line.parts.append("\n"),
            "note": self._note,
            "annotation": line.notes.append,
            "text-box": line.boxes.append,
            "object": self._object,
            "ruby-text": self._ruby,
            "frame": self._frame,
        }

    def gather(self, element: _Element) -> None:
        """Text of the element and below; white space of the file is one blank."""
        self._add(element.text)
        for one in element:
            name = local(one)
            if handler := self._handlers.get(name):
                handler(one)
            elif name and name not in _SILENT:
                self.gather(one)
            self._add(one.tail)

    def _add(self, text: str | None) -> None:
        if text:
            blank = " " if text[0].isspace() and text[0] != "\xa0" else ""
            end = " " if text[-1].isspace() and text[-1] != "\xa0" and text.strip() else ""
            self._line.parts.append(blank + " ".join(text.split(None)) + end)

    def _blanks(self, element: _Element) -> None:
        count = min(number(attribute(element, "c"), 1), MAX_BLANKS)
        self._line.parts.append(" " * count)

    def _note(self, note: _Element) -> None:
        self._line.parts.append(self._label(note))
        self._line.notes.append(note)

    def _object(self, element: _Element) -> None:
        if source := self._formula(attribute(element, "href")):
            self._line.parts.append(source)

    def _ruby(self, element: _Element) -> None:
        if text := "".join(map(str, element.itertext())).strip():
            self._line.parts.append(f"({text})")

    def _frame(self, frame: _Element) -> None:
        """The first version of what a frame shows; a description where it shows no text."""
        before = len(self._line.parts), len(self._line.boxes)
        for one in frame:
            if local(one) in ("text-box", "object"):
                self._handlers[local(one)](one)
        if before == (len(self._line.parts), len(self._line.boxes)):
            for one in frame:
                if local(one) in ("desc", "title") and one.text and one.text.strip():
                    self._line.parts.append(f"[image: {' '.join(one.text.split())}]")
                    return
