"""What a page shows without being running text: fields of forms, drawings, readings of letters."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

from seoga_extraction.format import one_line

if TYPE_CHECKING:
    from lxml.html import HtmlElement

# Fields whose value nobody sees, or that only do something.
_UNSEEN = frozenset(("hidden", "password", "submit", "button", "reset", "image", "file", "color"))
_RUBY = {"rb": "rb", "rt": "rt", "rtc": "rt", "rp": "rp"}
_MOST_INNER = 50
# What a drawing keeps for later, or says to programs.
_UNDRAWN = frozenset(
    ("defs", "symbol", "style", "script", "metadata", "clippath", "mask", "title", "desc")
)
_MOST_TEXTS = 20_000
_LATIN = re.compile("[A-Za-z]")


def field(element: HtmlElement) -> str:
    """What is filled into an input, or whether it is ticked."""
    kind = element.get("type", "").strip().lower()
    if kind in ("checkbox", "radio"):
        return "[ ] " if element.get("checked") is None else "[x] "
    value = "" if kind in _UNSEEN else one_line(element.get("value", ""))
    return f" {value} " if value else ""


def written(element: HtmlElement) -> str:
    """What is filled into a field of several lines."""
    text = str(element.text_content()).strip("\n").rstrip()
    return f"\n{text}\n" if "\n" in text else f" {text} " if text else ""


def chosen(element: HtmlElement) -> str:
    """The options that show: of a list all, else the one that is chosen or the first."""
    options = list(element.iter("option"))
    listed = element.get("multiple") is not None or element.get("size", "1").strip() not in "01"
    if not listed:
        options = [one for one in options if one.get("selected") is not None][-1:] or options[:1]
    shown = (one_line(one.text_content()) or one_line(one.get("label", "")) for one in options)
    text = ", ".join(filter(None, shown))
    return f" {text} " if text else ""


def drawn(element: HtmlElement) -> str:
    """The words of a drawing; of one without any its name."""
    texts = [text for text in _texts(element) if text]
    if not texts:
        title = next(element.iterchildren("title"), None)
        named = "" if title is None else str(title.text_content())
        texts = [one_line(named or element.get("aria-label", ""))]
    return "\n" + "\n".join(texts) + "\n" if any(texts) else ""


def _texts(element: HtmlElement) -> Iterator[str]:
    waiting = [iter(element)]
    count = 0
    while waiting and count < _MOST_TEXTS:
        child = next(waiting[-1], None)
        if child is None:
            waiting.pop()
        elif isinstance(child.tag, str) and child.tag not in _UNDRAWN and _is_seen(child):
            if child.tag in ("text", "foreignobject"):
                count += 1
                yield one_line(" ".join(child.itertext()))
            else:
                waiting.append(iter(child))


def _is_seen(element: HtmlElement) -> bool:
    style = element.get("style", "").replace(" ", "").lower()
    return element.get("display") != "none" and "display:none" not in style


def ruby(element: HtmlElement, text_of: Callable[[HtmlElement], str]) -> str:
    """Letters with their reading behind them in parentheses: a word stays in one piece."""
    parts = [*_parts(element, "rb", text_of)]
    letters = one_line("".join(text for kind, text in parts if kind == "rb"))
    readings = [text for kind, said in parts if kind == "rt" and (text := one_line(said))]
    # Syllables of the Latin alphabet are words, those of kana are not.
    reading = (" " if _LATIN.search("".join(readings)) else "").join(readings)
    return f"{letters}({reading})" if reading and letters else letters or reading


def _parts(
    element: HtmlElement, kind: str, text_of: Callable[[HtmlElement], str], depth: int = 0
) -> Iterator[tuple[str, str]]:
    """Texts, each of letters (rb), of a reading (rt) or of a mark around it (rp). Ends of these
    may be left out: then the next one stands inside."""
    yield kind, element.text or ""
    for child in element:
        if child.tag in _RUBY and depth < _MOST_INNER:
            yield from _parts(child, _RUBY[child.tag], text_of, depth + 1)
        elif isinstance(child.tag, str):
            yield kind, text_of(child)
        yield kind, child.tail or ""
