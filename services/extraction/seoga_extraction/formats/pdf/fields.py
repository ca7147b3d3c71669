"""Forms: what is filled into each field and ticked, as lines beside their labels."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from seoga_extraction.format import one_line
from seoga_extraction.formats.pdf.rendering import mupdf
from seoga_extraction.formats.pdf.tables import Word
from seoga_extraction.layout import LEVEL, Line

# What the library calls the mark of a field.
WIDGET = 21
MOST = 2000
# Flags of marks (ISO 32000-2, table 167: hidden, not shown) and of fields (12.7.5.3: several
# lines, a password).
_UNSHOWN = 1 << 1 | 1 << 5
_SEVERAL_LINES = 1 << 12
_PASSWORD = 1 << 13
_USUAL_SIZE = 10.0
_TICKS = ("☐", "☑")
# Between a label and its field at most, times the size of the letters.
_NEAR = 6
# The least part of the lower of two boxes that both have in height where they are in one row.
_ROW = 0.5
# A line to write on, as it is typed under a field.
_RULE = re.compile(r"[_.·…]{3,}|[_.·…]+$")
_DIRECTIONS = {0: LEVEL, 90: (0.0, -1.0), 180: (-1.0, 0.0), 270: (0.0, 1.0)}


def textpage(page: Any, flags: int, cut: Callable[[str], object]) -> tuple[Any, list[Line]]:
    """The text of a page without its filled fields, and those; buttons and signatures stay as
    they are drawn. `cut` is told of fields beyond MOST. Raises what the library raises."""
    library = mupdf()
    low = library.mupdf
    with _unturned(page) as turn:
        held = low.FzStextPage(low.fz_bound_page(page.this))
        device = low.fz_new_stext_device(held, low.FzStextOptions(flags))
        view, cookie = low.FzMatrix(), low.FzCookie()
        low.fz_run_page_contents(page.this, device, view, cookie)
        low.fz_run_page_annots(page.this, device, view, cookie)
        filled, count = [], 0
        for widget in _widgets(page):
            count += 1
            text = _filled(widget) if count <= MOST else ""
            if text:
                filled.append(_line(widget, text, turn))
            else:
                low.pdf_run_annot(widget, device, view, cookie)
        low.fz_close_device(device)
    if count > MOST:
        cut(f"Of {count:,} fields on page {page.number + 1}, {MOST:,} stand beside their labels.")
    return library.TextPage(held), filled


@contextmanager
def _unturned(page: Any) -> Iterator[int]:
    """The page without its rotation, as the library reads text; gives the rotation in degrees."""
    turn = int(page.rotation)
    if turn:
        page.set_rotation(0)
    try:
        yield turn
    finally:
        if turn:
            page.set_rotation(turn)


def _widgets(page: Any) -> Iterator[Any]:
    low = mupdf().mupdf
    widget = low.pdf_first_widget(low.pdf_page_from_fz_page(page.this))
    while widget.m_internal:
        if not low.pdf_annot_flags(widget) & _UNSHOWN:
            yield widget
        widget = low.pdf_next_widget(widget)


def _filled(widget: Any) -> str:
    """What a field says, "" where only its looks say something."""
    low = mupdf().mupdf
    field = low.pdf_annot_obj(widget)
    kind = low.pdf_widget_type(widget)
    if kind in (low.PDF_WIDGET_TYPE_CHECKBOX, low.PDF_WIDGET_TYPE_RADIOBUTTON):
        return _TICKS[_is_on(field)]
    if kind in (low.PDF_WIDGET_TYPE_COMBOBOX, low.PDF_WIDGET_TYPE_LISTBOX):
        return _chosen(field)
    if kind == low.PDF_WIDGET_TYPE_TEXT and not low.pdf_field_flags(field) & _PASSWORD:
        said = str(low.pdf_field_value(field) or "")
        return "\n".join(line for one in said.splitlines() if (line := one_line(one)))
    return ""


def _is_on(field: Any) -> bool:
    low = mupdf().mupdf
    state = low.pdf_dict_gets(field, "AS")
    if not state.m_internal:
        state = low.pdf_dict_gets_inheritable(field, "V")
    return str(low.pdf_to_name(state)) not in ("", "Off")


def _chosen(field: Any) -> str:
    """The choices as they are shown: a field keeps what they are called in its data."""
    low = mupdf().mupdf
    value = low.pdf_dict_gets_inheritable(field, "V")
    values = [value]
    if low.pdf_is_array(value):
        count = min(low.pdf_array_len(value), MOST)
        values = [low.pdf_array_get(value, at) for at in range(count)]
    shown = _shown(low.pdf_dict_gets_inheritable(field, "Opt"))
    said = [low.pdf_to_text_string(one) for one in values if low.pdf_is_string(one)]
    return ", ".join(filter(None, [one_line(shown.get(one, one)) for one in said]))


def _shown(options: Any) -> dict[str, str]:
    low = mupdf().mupdf
    count = min(low.pdf_array_len(options), MOST) if low.pdf_is_array(options) else 0
    pairs = [low.pdf_array_get(options, at) for at in range(count)]
    return {
        low.pdf_to_text_string(low.pdf_array_get(pair, 0)): low.pdf_to_text_string(
            low.pdf_array_get(pair, 1)
        )
        for pair in pairs
        if low.pdf_is_array(pair) and low.pdf_array_len(pair) > 1
    }


def _line(widget: Any, text: str, turn: int) -> Line:
    """A field as a line of text: in the middle of its box, or at the top of one for several."""
    low = mupdf().mupdf
    box = low.pdf_bound_widget(widget)
    x0, y0, x1, y1 = box.x0, box.y0, box.x1, box.y1
    size = min(_USUAL_SIZE, max(y1 - y0, 1.0))
    if turn in (0, 180) and y1 - y0 > 2 * size:
        several = low.pdf_field_flags(low.pdf_annot_obj(widget)) & _SEVERAL_LINES
        middle = y0 + size if several and not turn else (y0 + y1) / 2
        y0, y1 = middle - 0.6 * size, middle + 0.6 * size
    return Line(x0, y0, x1, y1, text, size, direction=_DIRECTIONS.get(turn, LEVEL), filled=True)


def among(lines: Sequence[Line], fields: Sequence[Line], words: Sequence[Word]) -> list[Line]:
    """The lines of a page and its fields, as they come; a line that runs below fields, such as
    "Name: ____ Date: ____", is cut where they stand."""
    out: list[Line] = []
    for line in lines:
        over = [one for one in fields if line.x0 < one.x0 < line.x1 and _is_level(line, one)]
        out += _pieces(line, over, words) if over and line.direction == LEVEL else [line]
    return [*out, *fields]


def _pieces(line: Line, fields: Sequence[Line], words: Sequence[Word]) -> list[Line]:
    starts = sorted(one.x0 for one in fields)
    parts: list[list[Word]] = [[] for _ in range(len(starts) + 1)]
    for word in words:
        middle = (word.y0 + word.y1) / 2
        if line.y0 <= middle <= line.y1 and line.x0 - 1 <= word.x0 and word.x1 <= line.x1 + 1:
            parts[sum(word.x0 >= start for start in starts)].append(word)
    pieces = [
        line._replace(x0=part[0].x0, x1=part[-1].x1, text=text)
        for part in parts
        if (text := one_line(" ".join([_unruled(word, fields) for word in part])))
    ]
    return pieces or [line]


def _unruled(word: Word, fields: Sequence[Line]) -> str:
    below = any(word.x0 < one.x1 and word.x1 > one.x0 for one in fields)
    return _RULE.sub("", word.text) if below else word.text


def placed(lines: Sequence[Line]) -> list[Line]:
    """The lines with each field as one with its label where that is near, else behind what begins
    left of it in its row, before what is right of it, or behind what is above it: columns of
    labels and of answers are then no columns of text."""
    fields = [line for line in lines if line.filled]
    out = [line for line in lines if not line.filled]
    for one in sorted(fields, key=lambda field: (field.y0, field.x0)):
        left, right = _beside(one, out)
        if one.text in _TICKS and left is not None and right is not None:
            # A box belongs to the nearer caption.
            left = left if one.x0 - out[left].x1 < out[right].x0 - one.x1 else None
        if left is not None:
            out[left : left + 1] = _joined(out[left], one)
        elif right is not None:
            out[right : right + 1] = _joined(one, out[right])
        else:
            out.insert(_below(one, out), one)
    return out


def _beside(one: Line, lines: Sequence[Line]) -> tuple[int | None, int | None]:
    """What begins next to a field in its row, on its left and on its right."""
    row = [(line.x0, at) for at, line in enumerate(lines) if _is_level(line, one)]
    left = max((known for known in row if known[0] < one.x0), default=None)
    right = min((known for known in row if known[0] >= one.x0), default=None)
    return left and left[1], right and right[1]


def _joined(left: Line, right: Line) -> list[Line]:
    label = right if left.filled and not right.filled else left
    field = left if label is right else right
    if right.x0 - left.x1 > _NEAR * label.size:
        whole = field._replace(size=label.size, bold=label.bold)
        return [whole, right] if field is left else [left, whole]
    text = f"{left.text} {right.text}"
    x0, x1 = min(left.x0, right.x0), max(left.x1, right.x1)
    return [label._replace(x0=x0, x1=x1, text=text, cells=2, filled=True)]


def _below(one: Line, lines: Sequence[Line]) -> int:
    above = [
        (line.y1, at)
        for at, line in enumerate(lines)
        if line.y0 < one.y0 and line.x0 < one.x1 and line.x1 > one.x0
    ]
    return max(above)[1] + 1 if above else len(lines)


def _is_level(line: Line, other: Line) -> bool:
    common = min(line.y1, other.y1) - max(line.y0, other.y0)
    return common > _ROW * min(line.height, other.height)
