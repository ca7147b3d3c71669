"""Front matter: the YAML subset that documents use (scalars, lists, one level of maps), and TOML.

No full YAML: anchors and aliases make bombs, tags make objects, and a broken line must not cost
the document. What is not understood is left out.
"""

from __future__ import annotations

import re
import tomllib
from typing import Any

MAX_LINES = 400
MAX_LINE = 2000
_KEY = re.compile(r"^(\s*)(?:- )?([^\s:#'\"\[\]{}][^:]*?|\"[^\"]*\"|'[^']*')\s*:(?:\s+(.*))?$")
_ITEM = re.compile(r"^\s*-(?:\s+(.*))?$")
_COMMENT = re.compile(r"\s+#.*$")
_BLOCK = re.compile(r"^[|>][+-]?\d?$")


def split_front_matter(lines: list[str]) -> tuple[dict[str, Any], int]:
    """The metadata and the index of the first line of the body; ({}, 0) without front matter."""
    mark = lines[0].rstrip() if lines else ""
    if mark not in ("---", "+++"):
        return {}, 0
    closing = (mark, "...") if mark == "---" else (mark,)
    for index in range(1, min(len(lines), MAX_LINES)):
        if lines[index].rstrip() in closing:
            inner = [line[:MAX_LINE] for line in lines[1:index]]
            meta = _toml(inner) if mark == "+++" else read_yaml(inner)
            # A rule at the top, some prose and another rule is no front matter.
            if meta is None or (not meta and any(line.strip() for line in inner)):
                return {}, 0
            return meta, index + 1
    return {}, 0


def _toml(lines: list[str]) -> dict[str, Any] | None:
    try:
        read = tomllib.loads("\n".join(lines))
    except (tomllib.TOMLDecodeError, RecursionError):
        return None
    return {key: value if _plain(value) else str(value) for key, value in read.items()}


def _plain(value: object) -> bool:
    if isinstance(value, list):
        return all(_plain(one) for one in value)
    if isinstance(value, dict):
        return all(_plain(one) for one in value.values())
    return isinstance(value, str | int | float | bool)


def read_yaml(lines: list[str]) -> dict[str, Any]:
    """`key: value`, `key: [a, b]`, block lists, block scalars and maps one level deep; strings."""
    out: dict[str, Any] = {}
    index = 0
    while index < len(lines):
        found = _KEY.match(lines[index])
        index += 1
        if found is None or found.group(1) or lines[index - 1].startswith("-"):
            continue
        start = index
        while index < len(lines) and _belongs(lines[index]):
            index += 1
        value = _COMMENT.sub("", found.group(3) or "").strip()
        out[_unquoted(found.group(2))] = _value(value, lines[start:index])
    return out


def _belongs(line: str) -> bool:
    """Whether a line continues the key above: indented, blank, or an item of its list."""
    return not line.strip() or line[0] in " \t" or _ITEM.match(line) is not None


def _value(value: str, below: list[str]) -> Any:
    rest = [line.strip() for line in below if line.strip() and not line.strip().startswith("#")]
    if _BLOCK.match(value):
        return ("\n" if value[0] == "|" else " ").join(rest)
    if value and not (value.startswith("[") and not value.endswith("]")):
        if value.startswith("[") or not rest:
            return _scalar(value)
        return _unquoted(" ".join([value, *rest]))
    if value.startswith("["):
        return _scalar(" ".join([value, *rest]))
    if any(_ITEM.match(line) for line in rest):
        return [_scalar(found.group(1) or "") for line in rest if (found := _ITEM.match(line))]
    nested = [found for line in rest if (found := _KEY.match(line))]
    if nested:
        return {_unquoted(one.group(2)): _scalar(one.group(3) or "") for one in nested}
    return " ".join(rest)


def _scalar(text: str) -> str | list[str]:
    text = text.strip()
    if text.startswith("[") and text.endswith("]"):
        inner = text[1:-1]
        parts = re.findall(r"\"[^\"]*\"|'[^']*'|[^,\"']+", inner)
        return [value for part in parts if (value := _unquoted(part.strip()))]
    return _unquoted(text)


def _unquoted(text: str) -> str:
    text = text.strip()
    if len(text) >= 2 and text[0] == text[-1] and text[0] in "\"'":
        inner = text[1:-1]
        return inner.replace("''", "'") if text[0] == "'" else inner.replace('\\"', '"')
    return text
