"""Atlassian's document format (the JSON of Cloud) as HTML."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from html import escape
from typing import Any

_MOST_DEEP = 60
_BLOCKS = {
    "paragraph": "p", "blockquote": "blockquote", "bulletList": "ul", "orderedList": "ol",
    "listItem": "li", "table": "table", "tableRow": "tr", "tableCell": "td", "tableHeader": "th",
    "panel": "div", "expand": "div", "nestedExpand": "div", "layoutSection": "div",
    "layoutColumn": "div", "mediaSingle": "div", "mediaGroup": "div", "caption": "p",
    "decisionList": "ul", "decisionItem": "li", "taskList": "ul", "taskItem": "li",
    "bodiedExtension": "div", "doc": "div", "multiBodiedExtension": "div", "extensionFrame": "div",
}  # fmt: skip
_MARKS = {"strong": "b", "em": "i", "strike": "s", "underline": "u", "code": "code"}
_SUBSUP = {"sub": "sub", "sup": "sup"}
# Inline nodes that are their own text: where that stands in their attributes.
_SHOWN = {
    "mention": ("text", "id"),
    "emoji": ("text", "shortName"),
    "status": ("text",),
    "inlineCard": ("url",),
    "blockCard": ("url",),
    "embedCard": ("url",),
    "media": ("alt",),
    "mediaInline": ("alt",),
    "placeholder": (),
}


def html_of(node: Any, depth: int = 0) -> str:
    """The HTML of a node; what is unknown is its content, what is no node is nothing."""
    if not isinstance(node, Mapping) or depth > _MOST_DEEP:
        return ""
    kind = str(node.get("type", ""))
    own = _OWN.get(kind)
    if own is not None:
        return own(node, depth)
    if kind in _SHOWN:
        return escape(_first(node, *_SHOWN[kind]))
    inside = _inside(node, depth)
    tag = _BLOCKS.get(kind)
    return f"<{tag}{_attributes(kind, node)}>{inside}</{tag}>" if tag else inside


def _inside(node: Mapping[str, Any], depth: int) -> str:
    content = node.get("content")
    return "".join(html_of(one, depth + 1) for one in content) if isinstance(content, list) else ""


def _attrs(node: Mapping[str, Any]) -> Mapping[str, Any]:
    attrs = node.get("attrs")
    return attrs if isinstance(attrs, Mapping) else {}


def _first(node: Mapping[str, Any], *names: str) -> str:
    attrs = _attrs(node)
    return next((str(attrs[name]) for name in names if attrs.get(name)), "")


def _attributes(kind: str, node: Mapping[str, Any]) -> str:
    attrs = _attrs(node)
    if kind == "taskList":
        return ' class="inline-task-list"'
    if kind == "taskItem" and attrs.get("state") == "DONE":
        return ' class="checked"'
    if kind == "orderedList" and isinstance(start := attrs.get("order"), int):
        return f' start="{start}"'
    spans = {name: attrs.get(name) for name in ("colspan", "rowspan")}
    if kind in ("tableCell", "tableHeader"):
        return "".join(f' {k}="{v}"' for k, v in spans.items() if isinstance(v, int) and v > 1)
    return ""


def _text(node: Mapping[str, Any], _: int) -> str:
    text = escape(str(node.get("text", "")))
    marks = node.get("marks")
    for mark in marks if isinstance(marks, list) else []:
        kind = mark.get("type") if isinstance(mark, Mapping) else ""
        tag = _MARKS.get(str(kind))
        if kind == "subsup":
            tag = _SUBSUP.get(_first(mark, "type"))
        if kind == "link" and (href := _first(mark, "href")) and href not in str(node.get("text")):
            text = f"{text} ({escape(href)})"
        text = f"<{tag}>{text}</{tag}>" if tag else text
    return text


def _heading(node: Mapping[str, Any], depth: int) -> str:
    level = _attrs(node).get("level")
    # Below the headings that the document of an issue has itself.
    number = min(6, 2 + level) if isinstance(level, int) and level > 0 else 3
    return f"<h{number}>{_inside(node, depth)}</h{number}>"


def _code(node: Mapping[str, Any], depth: int) -> str:
    language = _first(node, "language")
    mark = f' class="language-{escape(language)}"' if language.isalnum() else ""
    return f"<pre{mark}>{_inside(node, depth)}</pre>"


def _expand(node: Mapping[str, Any], depth: int) -> str:
    title = escape(_first(node, "title"))
    return f"<div>{f'<p>{title}</p>' if title else ''}{_inside(node, depth)}</div>"


def _date(node: Mapping[str, Any], _: int) -> str:
    from datetime import UTC, datetime

    try:
        return datetime.fromtimestamp(int(_first(node, "timestamp")) / 1000, UTC).date().isoformat()
    except (ValueError, OverflowError, OSError):
        return ""


_OWN: dict[str, Callable[[Mapping[str, Any], int], str]] = {
    "text": _text,
    "heading": _heading,
    "codeBlock": _code,
    "expand": _expand,
    "nestedExpand": _expand,
    "date": _date,
    "hardBreak": lambda _, __: "<br>",
    "rule": lambda _, __: "<hr>",
}
