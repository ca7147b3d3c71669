"""Pages of a Confluence export: breadcrumbs become metadata, macros become what they show."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from seoga_extraction.format import one_line

if TYPE_CHECKING:
    from lxml.html import HtmlElement

_BRUSH = re.compile(r"brush:\s*([\w+#-]+)")
_MACRO = re.compile(r"confluence-information-macro-(note|information|info|warning|tip)\b")
_OLD_MACRO = re.compile(r"^(note|info|warning|tip)Macro$")
_CDATA = re.compile(r"^\s*(?:<!\[CDATA\[)?(.*?)(?:\]\]>)?\s*$", re.DOTALL)
_NAMES = {"information": "Info"}


def is_export(root: HtmlElement) -> bool:
    """Whether Confluence wrote this page."""
    return any(
        one.get("id") in ("breadcrumb-section", "breadcrumbs", "title-heading", "main-content")
        or "wiki-content" in one.get("class", "")
        for one in root.iter("div", "ol", "h1")
    )


def prepare(root: HtmlElement) -> dict[str, Any]:
    """Changes the tree so that it reads as the page is seen; returns metadata."""
    meta: dict[str, Any] = {}
    for one in list(root.iter("div", "ol", "span", "pre", "script", "table", "section")):
        own, classes = one.get("id", ""), one.get("class", "")
        if own == "breadcrumb-section":
            trail = [one_line(item.text_content()) for item in one.iter("li")]
            if trail := [item for item in trail if item]:
                meta["breadcrumb"] = trail
            _hide(one)
        elif own in ("footer", "footer-logo") or "toc-macro" in classes:
            _hide(one)
        elif one.tag == "span" and classes == "author" and (name := one_line(one.text_content())):
            meta.setdefault("author", name)
        else:
            _macro(one, classes)
    return meta


def _macro(element: HtmlElement, classes: str) -> None:
    if element.tag == "script" and "syntaxhighlighter" in element.get("type", ""):
        # Older versions keep the program text in a script element.
        element.text = _CDATA.sub(r"\1", element.text or "")
        element.tag = "pre"
        _language(element, classes)
    elif element.tag == "pre":
        _language(element, element.get("data-syntaxhighlighter-params", ""))
    elif found := _MACRO.search(classes) or _OLD_MACRO.match(classes):
        kind = _NAMES.get(found.group(1), found.group(1).capitalize())
        # The label opens the first paragraph: a title, or the text itself.
        inside = next((one for one in element.iter("p") if (one.text or "").strip()), element)
        inside.text = f"{kind}: {inside.text or ''}"


def _language(element: HtmlElement, parameters: str) -> None:
    found = _BRUSH.search(parameters)
    if found and found.group(1) not in ("text", "plain", "none"):
        element.set("class", f"language-{found.group(1)}")


def _hide(element: HtmlElement) -> None:
    element.set("hidden", "")
