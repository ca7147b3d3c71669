"""Pages inside a page (`iframe srcdoc`): they are shown where they stand."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from lxml.html import HtmlElement

MOST = 200
MAX_INNER = 3


def frames(
    root: HtmlElement, tree: Callable[[str], HtmlElement], depth: int = 0, used: int = 0
) -> int:
    """Puts what frames hold in their own text in their place, MOST at most; how many were."""
    for frame in list(root.iter("iframe")):
        text = frame.get("srcdoc", "")
        if not text.strip() or depth >= MAX_INNER or used >= MOST:
            continue
        used += 1
        inner = tree(text)
        used = frames(inner, tree, depth + 1, used)
        body = inner.find("body")
        # What stands in the element itself is for programs that know no frames.
        for child in frame:
            frame.remove(child)
        frame.text, frame.tag = None, "div"
        del frame.attrib["srcdoc"]
        if body is not None:
            body.tag = "div"
            frame.append(body)
    return used
