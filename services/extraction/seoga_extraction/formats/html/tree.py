"""What of a page is content, and its inline text."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import TYPE_CHECKING

from seoga_extraction.formats.html.shown import chosen, drawn, field, ruby, written

if TYPE_CHECKING:
    from lxml.html import HtmlElement

DROPPED = frozenset(
    [
        "script",
        "style",
        "noscript",
        "template",
        "nav",
        "head",
        "iframe",
        "object",
        "embed",
        "canvas",
        "button",
        "dialog",
        "audio",
        "video",
        "map",
    ]
)
_DROPPED_ROLES = frozenset(("navigation", "search", "menu", "menubar", "toolbar", "tablist"))
INLINE = frozenset(
    [
        "a",
        "abbr",
        "acronym",
        "b",
        "bdi",
        "bdo",
        "big",
        "cite",
        "code",
        "data",
        "del",
        "dfn",
        "em",
        "font",
        "i",
        "img",
        "input",
        "ins",
        "kbd",
        "label",
        "mark",
        "math",
        "q",
        "ruby",
        "rb",
        "rt",
        "rp",
        "rtc",
        "s",
        "samp",
        "select",
        "small",
        "span",
        "strike",
        "strong",
        "sub",
        "sup",
        "svg",
        "textarea",
        "time",
        "tt",
        "u",
        "var",
        "wbr",
        "br",
    ]
)
_SKIP_LINKS = re.compile(
    r"\b(?:noprint|mw-editsection|sr-only|visually-hidden|vector-menu|mwe-math-fallback-image\S*)\b"
)
_DISPLAY = re.compile(r"^\{\\displaystyle\s*(.*)\}$", re.DOTALL)
# The parser stops at 2,048; the walk takes up to two frames of Python's thousand for each.
MAX_DEPTH = 200


def dropped(element: HtmlElement) -> bool:
    """Whether an element is not content: scripts, navigation, hidden, comments."""
    if not isinstance(element.tag, str) or element.tag in DROPPED:
        return True
    get = element.get
    if get("hidden") is not None or get("aria-hidden") == "true" or get("role") in _DROPPED_ROLES:
        return True
    style = get("style", "")
    if style and "display:none" in style.replace(" ", "").lower() and not _has_math(element):
        return True
    return _SKIP_LINKS.search(get("class", "")) is not None


def _has_math(element: HtmlElement) -> bool:
    """Wikipedia hides its MathML from the eye, and shows a picture of it."""
    return next(element.iter("math"), None) is not None


def inline(element: HtmlElement, depth: int = 0) -> str:
    """The text of inline content; `<br>` is a line end, code keeps back-ticks, images their alt."""
    if element.tag in _LEAVES:
        return _LEAVES[element.tag](element)
    if depth > MAX_DEPTH:
        return one_space("".join(element.itertext()))
    if element.tag == "ruby":
        return ruby(element, lambda part: inline(part, depth + 1))
    # White space of the source is one blank; only <br> breaks a line.
    parts = [one_space(element.text or "")]
    for child in element:
        if not dropped(child):
            blank = "" if child.tag in INLINE else " "
            mark = "- " if child.tag == "li" else ""
            parts += [blank, mark, inline(child, depth + 1), blank]
        parts.append(one_space(child.tail or ""))
    text = "".join(parts)
    if element.tag in ("code", "kbd", "samp", "tt") and text.strip() and "`" not in text:
        return f"`{text.strip()}`"
    return text


def _math(element: HtmlElement) -> str:
    """The TeX that the page carries beside its MathML, else its MathML as LaTeX."""
    tex = element.get("alttext", "")
    for one in element.iter("annotation"):
        if "tex" in one.get("encoding", "").lower():
            tex = one.text or ""
    tex = one_space(tex).strip()
    if found := _DISPLAY.match(tex):
        tex = found.group(1).strip()
    if not tex:
        from seoga_extraction.math.mathml import mathml_to_latex

        tex = mathml_to_latex(element)
    return f"[math: {tex}]" if tex else ""


_LEAVES: dict[str, Callable[[HtmlElement], str]] = {
    "br": lambda _: "\n",
    "img": lambda element: str(element.get("alt", "")),
    "math": _math,
    "input": field,
    "select": chosen,
    "textarea": written,
    "svg": drawn,
}


def one_space(text: str) -> str:
    """Line ends of the source as blanks."""
    return re.sub(r"[ \t\r\n\f]+", " ", text)


def tidy(text: str) -> str:
    """Lines trimmed, blank lines out."""
    lines = (re.sub(r"[ \t\r\f\xa0]+", " ", line).strip() for line in text.split("\n"))
    return "\n".join(line for line in lines if line)


def has_block(element: HtmlElement) -> bool:
    """Whether blocks stand inside that show; leaves have none."""
    waiting = [iter(() if element.tag in _LEAVES else element)]
    while waiting:
        child = next(waiting[-1], None)
        if child is None:
            waiting.pop()
        elif isinstance(child.tag, str) and child.tag not in _LEAVES and child.tag not in DROPPED:
            if child.tag not in INLINE:
                return True
            waiting.append(iter(child))
    return False
