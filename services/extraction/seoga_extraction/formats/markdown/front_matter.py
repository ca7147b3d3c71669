"""Front matter: the YAML subset that documents use (scalars, lists, one level of maps), and TOML.

No full YAML: anchors and aliases make bombs, tags make objects, and a broken line must not cost
the document. What is not understood is left out, and told under the key FAULTS.
"""

from __future__ import annotations

import re
import tomllib
from typing import Any

from seoga.models import FAULTS

MAX_LINES = 400
MOST_FAULTS = 3
MAX_LINE = 2000
_KEY = re.compile(r"^(\s*)(?:- )?([^\s:#'\"\[\]{}][^:]*?|\"[^\"]*\"|'[^']*')\s*:(?:\s+(.*))?$")
_ITEM = re.compile(r"^\s*-(?:\s+(.*))?$")
_COMMENT = re.compile(r"\s+#.*$")
_BLOCK = re.compile(r"^[|>][+-]?\d?$")
# "status:superseded" is a scalar to YAML, and a key to whoever wrote it.
_GLUED = re.compile(r"^([^\W\d_][\w-]*):([^\s/:].*)$")


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
            if not meta.keys() - {FAULTS} and any(line.strip() for line in inner):
                return (meta if mark == "+++" else {}), 0
            return meta, index + 1
    if mark == "---" and len(lines) > 1 and _KEY.match(lines[1][:MAX_LINE]):
        return {FAULTS: ["The front matter has no closing line ---."]}, 0
    return {}, 0


def _toml(lines: list[str]) -> dict[str, Any]:
    try:
        read = tomllib.loads("\n".join(lines))
    except (tomllib.TOMLDecodeError, RecursionError) as error:
        return {FAULTS: [f"The front matter is no TOML: {error}"[:MAX_LINE]]}
    return {key: value if _plain(value) else str(value) for key, value in read.items()}


def _plain(value: object) -> bool:
    if isinstance(value, list):
        return all(_plain(one) for one in value)
    if isinstance(value, dict):
        return all(_plain(one) for one in value.values())
    return isinstance(value, str | int | float | bool)


def read_yaml(lines: list[str]) -> dict[str, Any]:
    """`key: value`, `key: [a, b]`, block lists, block scalars and maps one level deep; strings.
    Lines that are none of these are named under FAULTS, counted from the mark above them."""
    out: dict[str, Any] = {}
    faults: list[str] = []
    index = 0
    while index < len(lines):
        line = lines[index]
        key, value = _key_of(line)
        index += 1
        if fault := _fault(line, key):
            faults.append(f"Line {index + 1} of the front matter {fault}: {line.strip()[:60]!r}")
        if not key:
            continue
        start = index
        plain = bool(value) and not _BLOCK.match(value) and value[0] not in "[{\"'"
        while index < len(lines) and _belongs(lines[index], plain):
            index += 1
        value = _COMMENT.sub("", value).strip()
        if value.startswith("[") and "]" not in " ".join([value, *lines[start:index]]):
            faults.append(f"Line {start + 1} of the front matter has a list without an end.")
        out[_unquoted(key)] = _value(value, lines[start:index])
    return {**out, FAULTS: faults[:MOST_FAULTS]} if faults else out


def _key_of(line: str) -> tuple[str, str]:
    """The key and the value of a line, also where YAML would not have it; ("", "") without one."""
    if line.startswith("-"):
        return "", ""
    if found := _KEY.match(line):
        return found.group(2), found.group(3) or ""
    glued = _GLUED.match(line.strip())
    return (glued.group(1), glued.group(2)) if glued else ("", "")


def _fault(line: str, key: str) -> str:
    """What is wrong with a line that no key above has taken; "" for nothing."""
    if not line.strip() or line.lstrip().startswith("#"):
        return ""
    if not key:
        return "is no key with a value"
    if line[0] in " \t":
        return "is indented below nothing"
    return "" if _KEY.match(line) else "lacks a space behind its colon"


def _belongs(line: str, plain: bool) -> bool:
    """Whether a line continues the key above: indented, blank, or an item of its list. Below a
    `plain` value a key is one of its own, however far it is indented."""
    if plain and _KEY.match(line) and not _ITEM.match(line):
        return False
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
