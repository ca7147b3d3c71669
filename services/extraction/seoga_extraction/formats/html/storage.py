"""Confluence's storage format (`ac:` and `ri:` elements) as the HTML that it stands for."""

from __future__ import annotations

import re
from collections.abc import Callable
from html import escape
from typing import TYPE_CHECKING

from seoga_extraction.format import one_line

if TYPE_CHECKING:
    from lxml.html import HtmlElement

_CDATA = re.compile(r"<!\[CDATA\[(.*?)\]\]>", re.DOTALL)
_LABELLED = ("info", "note", "tip", "warning", "panel", "expand")
_MATH = frozenset(("mathinline", "mathblock", "mathdisplay", "latex", "latex-formatting"))
# What a macro without a body shows of its parameters; others make their content when they are seen.
_SHOWN = {
    "status": ("title",),
    "jira": ("key", "jqlQuery"),
    "include": ("",),
    "excerpt-include": ("",),
    "view-file": ("name",),
    "viewpdf": ("name",),
    "viewdoc": ("name",),
    "viewxls": ("name",),
    "viewppt": ("name",),
    "drawio": ("diagramName",),
    "gliffy": ("name",),
    "widget": ("url",),
    "iframe": ("src",),
    "mathinline": ("body",),
}
_EMOTICONS = {"tick": "✓", "cross": "✗", "warning": "⚠", "information": "ⓘ"}


def is_storage(text: str) -> bool:
    """Whether a page is written in it."""
    return "<ac:" in text or "<ri:" in text


def readable(text: str) -> str:
    """The text with its CDATA sections as escaped text: HTML knows none."""
    return _CDATA.sub(lambda found: escape(found.group(1), quote=False), text)


def prepare(root: HtmlElement) -> None:
    """Changes the tree into plain HTML; inner elements first, so that macros may hold macros."""
    for one in reversed([one for one in root.iter() if isinstance(one.tag, str)]):
        change = _CHANGES.get(one.tag)
        if change is not None:
            change(one)


def _become(element: HtmlElement, tag: str, text: str = "") -> None:
    """An element with nothing in it but text; what follows it stays."""
    tail = element.tail
    element.clear()
    element.tag, element.text, element.tail = tag, text, tail


def _renamed(tag: str) -> Callable[[HtmlElement], None]:
    def change(element: HtmlElement) -> None:
        element.tag = tag

    return change


def _gone(element: HtmlElement) -> None:
    _become(element, "span")


def _macro(element: HtmlElement) -> None:
    name = element.get("ac:name", "").lower()
    given = {
        child.get("ac:name", ""): one_line(child.text_content())
        for child in element.iterchildren("ac:parameter")
    }
    plain = next(element.iterchildren("ac:plain-text-body"), None)
    rich = next(element.iterchildren("ac:rich-text-body"), None)
    if rich is not None:
        _rich(element, rich, name, given.get("title", ""))
    elif plain is not None:
        _plain(element, plain.text_content(), name, given)
    else:
        shown = next((given[key] for key in _SHOWN.get(name, ()) if given.get(key)), "")
        _become(element, "span", f"[math: {shown}]" if shown and name in _MATH else shown)


def _rich(element: HtmlElement, body: HtmlElement, name: str, title: str) -> None:
    for child in list(element):
        if child is not body:
            element.remove(child)
    element.tag = body.tag = "div"
    element.text = None
    label = name.capitalize() if name in _LABELLED[:4] else ""
    if label and not title:
        # As in an export: the label opens the first paragraph.
        first = next((one for one in body.iter("p") if (one.text or "").strip()), body)
        first.text = f"{label}: {first.text or ''}"
    elif title:
        head = body.makeelement("p", {})
        head.text = f"{label}: {title}" if label else title
        body.insert(0, head)
        head.tail, body.text = body.text, None


def _plain(element: HtmlElement, text: str, name: str, given: dict[str, str]) -> None:
    if name in _MATH:
        _become(element, "span", f"[math: {one_line(text)}]")
        return
    _become(element, "div")
    if title := given.get("title"):
        head = element.makeelement("p", {})
        head.text = title
        element.append(head)
    code = element.makeelement("pre", {})
    code.text = text
    language = given.get("language", "").lower()
    if re.fullmatch(r"[\w+#-]+", language) and language not in ("text", "plain", "none"):
        code.set("class", f"language-{language}")
    element.append(code)


def _link(element: HtmlElement) -> None:
    body = next(element.iterchildren("ac:link-body", "ac:plain-text-link-body", "span"), None)
    named = next((_named(child) for child in element if child.tag.startswith("ri:")), "")
    text = one_line(body.text_content()) if body is not None else ""
    _become(element, "span", text or named)


def _named(resource: HtmlElement) -> str:
    """What a reference to a page, a file or a person says of it."""
    user = resource.get("ri:username")
    if user:
        return f"@{user}"
    for key in ("ri:content-title", "ri:filename", "ri:value", "ri:space-key"):
        if value := resource.get(key):
            return str(value)
    return ""


def _resource(element: HtmlElement) -> None:
    # Inside a link or an image it is read with that; alone it shows what it names.
    parent = element.getparent()
    if parent is not None and parent.tag not in ("ac:link", "ac:image"):
        _become(element, "span", _named(element))


def _image(element: HtmlElement) -> None:
    alt = element.get("ac:alt", "") or element.get("ac:title", "")
    caption = " ".join(one_line(one.text_content()) for one in element.iterchildren("ac:caption"))
    _become(element, "span", " ".join(part for part in (alt, caption) if part))


def _emoticon(element: HtmlElement) -> None:
    name = element.get("ac:name", "")
    _become(element, "span", element.get("ac:emoji-fallback", "") or _EMOTICONS.get(name, ""))


def _task_list(element: HtmlElement) -> None:
    element.tag = "ul"
    element.set("class", "inline-task-list")


def _task(element: HtmlElement) -> None:
    status = next(element.iterchildren("ac:task-status"), None)
    if status is not None and one_line(status.text_content()) == "complete":
        element.set("class", "checked")
    for child in list(element.iterchildren("ac:task-status", "ac:task-id", "ac:task-uuid")):
        element.remove(child)
    element.tag, element.text = "li", None


def _adf(element: HtmlElement) -> None:
    """New editors keep two forms of a panel; the first one is enough."""
    nodes = list(element.iterchildren("ac:adf-node", "div"))
    for child in list(element.iterchildren("ac:adf-fallback")):
        if nodes:
            element.remove(child)
    element.tag = "div"


def _time(element: HtmlElement) -> None:
    if not (element.text or "").strip():
        element.text = element.get("datetime", "")


_CHANGES: dict[str, Callable[[HtmlElement], None]] = {
    "ac:structured-macro": _macro,
    "ac:macro": _macro,
    "ac:link": _link,
    "ac:link-body": _renamed("span"),
    "ac:image": _image,
    "ac:emoticon": _emoticon,
    "ac:task-list": _task_list,
    "ac:task": _task,
    "ac:task-body": _renamed("div"),
    "ac:layout": _renamed("div"),
    "ac:layout-section": _renamed("div"),
    "ac:layout-cell": _renamed("div"),
    "ac:inline-comment-marker": _renamed("span"),
    "ac:placeholder": _gone,
    "ac:adf-extension": _adf,
    "ac:adf-node": _renamed("div"),
    "ac:adf-content": _renamed("div"),
    "ac:adf-attribute": _gone,
    "time": _time,
    **dict.fromkeys(
        ("ri:page", "ri:blog-post", "ri:attachment", "ri:url", "ri:user", "ri:space"), _resource
    ),
}
