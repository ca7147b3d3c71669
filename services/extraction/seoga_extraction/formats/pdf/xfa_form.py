"""The XML of an XFA form: what its template says, with the values of its data (XFA 3.3)."""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Callable, Iterator
from itertools import chain
from typing import Any

from seoga_extraction.format import one_line

# Elements of the template that are looked at, each as often as it is repeated for data.
MOST_STEPS = 300_000
_GROUPS = ("subform", "subformSet", "area", "pageSet", "pageArea", "exclGroup")
_UNSEEN = ("hidden", "invisible")
_BLOCKS = ("p", "div", "li", "br", "tr")
_INDEX = re.compile(r"\[[^\]]*\]")
_TICKS = ("☐", "☑")


def local(node: Any) -> str:
    """The name of an element without its namespace; "" for what is no element."""
    return node.tag.rpartition("}")[2] if isinstance(node.tag, str) else ""


def child(node: Any, *names: str) -> Any:
    """The element that these names lead to, one below the other; None where there is none."""
    for name in names:
        if node is None:
            return None
        node = next((one for one in node if local(one) == name), None)
    return node


class Form:
    """One form; `data` is the element that holds its record, `cut` is told of what is too much."""

    def __init__(self, data: Any, cut: Callable[[str], None]) -> None:
        self._data = data
        self._cut = cut
        self._steps = 0
        # What is not taken yet of the children of each element of the data, by name.
        self._open: dict[Any, dict[str, deque[Any]]] = {}
        self._taken: set[Any] = set()

    def lines(self, template: Any) -> Iterator[str]:
        """Each text and each field with its value, "" between groups; what the template has no
        place for follows by its names in the data."""
        if template is not None:
            yield from self._group(template, self._data)
        if self._steps >= MOST_STEPS:
            self._cut(f"Of the XFA form, the first {MOST_STEPS:,} elements are read.")
        yield ""
        yield from self._rest()

    def _group(self, node: Any, data: Any) -> Iterator[str]:
        for one in node:
            self._steps += 1
            if self._steps >= MOST_STEPS:
                return
            kind = local(one)
            if kind in _GROUPS:
                yield from self._subform(one, data)
            elif kind == "field":
                yield from self._field(one, data)
            elif kind == "draw" and one.get("presence") not in _UNSEEN:
                yield from filter(None, [_said(child(one, "value"))])

    def _subform(self, node: Any, data: Any) -> Iterator[str]:
        """A group, once for each element of the data that is an instance of it."""
        name = _name(node)
        if local(node) == "exclGroup":
            yield from self._choice(node, data)
            return
        places = [data]
        if local(node) == "subform" and name and _match(node) != "none":
            many = (child(node, "occur") is not None) and child(node, "occur").get("max") != "1"
            places = self._bound(node, data, many) or [None]
        shown = node.get("presence") not in _UNSEEN
        for place in places:
            lines = self._group(node, place)
            if node.get("layout") == "row":
                lines = iter([" | ".join(filter(None, lines))])
            elif name:
                lines = chain([""], lines, [""])
            # What is hidden is gone through too: its data is no leftover.
            for line in lines:
                if shown:
                    yield line

    def _field(self, node: Any, data: Any) -> Iterator[str]:
        label, value = _label(node), self._value(node, data)
        if node.get("presence") in _UNSEEN or child(node, "ui", "passwordEdit") is not None:
            return
        options = _options(node)
        if child(node, "ui", "checkButton") is not None:
            on = options[0][0] if options else "1"
            yield f"{_TICKS[bool(value) and value == on]} {label}".rstrip()
            return
        shown = dict(options)
        value = "\n".join(shown.get(one, one) for one in value.split("\n"))
        if label and value:
            yield f"{label}{'' if label.endswith((':', '：', '?')) else ':'} {value}"
        elif label or value:
            yield label or value

    def _choice(self, node: Any, data: Any) -> Iterator[str]:
        """Fields of which one is ticked: the value of the group is that of the one that is."""
        chosen = self._value(node, data)
        if node.get("presence") in _UNSEEN:
            return
        if label := _label(node):
            yield label
        for one in node:
            if local(one) == "field" and one.get("presence") not in _UNSEEN:
                options = _options(one)
                own = options[0][0] if options else ""
                ticked = bool(own) and own == (chosen or _said(child(one, "value")))
                yield f"{_TICKS[ticked]} {_label(one) or own}".rstrip()

    def _value(self, node: Any, data: Any) -> str:
        """What the data has for a field, else what the template gives it."""
        found = self._bound(node, data, False) if _match(node) != "none" else []
        if not found:
            return _said(child(node, "value"))
        self._taken.update(found[0].iter())
        return _words(found[0])

    def _bound(self, node: Any, data: Any, many: bool) -> list[Any]:
        """The elements of the data that a field or a group is bound to, taken from what is left."""
        path = [_name(node)]
        if _match(node) == "dataRef":
            ref = _INDEX.sub("", child(node, "bind").get("ref", ""))
            start, *steps = ref.split(".")
            path = steps if start.startswith("$") else [start, *steps]
            if start in ("$record", "$data"):
                data = self._record if start == "$record" else self._data
        for step in path[:-1]:
            data = child(data, step)
        if data is None or not path or not path[-1]:
            return []
        waiting = self._children(data).get(path[-1], deque())
        return [waiting.popleft() for _ in range(len(waiting) if many else min(len(waiting), 1))]

    @property
    def _record(self) -> Any:
        return None if self._data is None else next((one for one in self._data if local(one)), None)

    def _children(self, data: Any) -> dict[str, deque[Any]]:
        if data not in self._open:
            named: dict[str, deque[Any]] = {}
            for one in data:
                named.setdefault(local(one), deque()).append(one)
            self._open[data] = named
        return self._open[data]

    def _rest(self) -> Iterator[str]:
        if self._data is None:
            return
        for one in self._data.iter():
            leaf = local(one) and not any(local(below) for below in one)
            if leaf and one not in self._taken and (text := one_line(one.text or "")):
                yield f"{local(one)}: {text}"


def _name(node: Any) -> str:
    return str(node.get("name", ""))


def _match(node: Any) -> str:
    bind = child(node, "bind")
    return "" if bind is None else str(bind.get("match", ""))


def _label(node: Any) -> str:
    caption = child(node, "caption")
    seen = caption is not None and caption.get("presence") not in _UNSEEN
    if seen and (text := _said(child(caption, "value"))):
        return one_line(text)
    tip = child(node, "assist", "toolTip")
    return one_line(tip.text or "") if tip is not None else ""


def _options(node: Any) -> list[tuple[str, str]]:
    """What is kept for each choice, and what is shown for it."""
    lists = [one for one in node if local(one) == "items"]
    if not lists:
        return []
    kept = next((one for one in lists if one.get("save") == "1"), lists[0])
    shown = next((one for one in lists if one is not kept), kept)
    return [
        (one_line(a.text or ""), one_line(b.text or "")) for a, b in zip(kept, shown, strict=False)
    ]


def _said(value: Any) -> str:
    """What a value element holds in words: text, a number, a date, or a page of HTML."""
    if value is None:
        return ""
    shapes = ("", "image", "line", "rectangle")
    held = next((one for one in value if local(one) not in shapes), None)
    return "" if held is None else _words(held)


def _words(node: Any) -> str:
    """The text of an element; of a page of HTML, a line for each of its blocks."""
    from lxml import etree

    page = any(local(one) in _BLOCKS for one in node.iter())
    pieces: list[str] = []
    for event, one in etree.iterwalk(node, events=("start", "end", "comment", "pi")):
        start = event == "start"
        text = (one.text if start else one.tail if one is not node else "") or ""
        if page:
            # Its line ends are blanks.
            pieces.append("\n" if start and local(one) in _BLOCKS else "")
            text = text.replace("\n", " ")
        pieces.append(text)
    return "\n".join(filter(None, map(one_line, "".join(pieces).split("\n"))))
