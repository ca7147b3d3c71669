"""Jira's wiki markup (the text of Data Center) as HTML: blocks by lines, marks within a line."""

from __future__ import annotations

import re
from collections.abc import Iterator
from html import escape

_FENCE = re.compile(r"^\s*\{(code|noformat)(?::([^}]*))?\}(.*)$")
_BOX = re.compile(r"^\s*\{(quote|panel|info|note|tip|warning|color|expand)(?::([^}]*))?\}\s*(.*)$")
_HEADING = re.compile(r"^\s*h([1-6])\.\s*(.*)$")
_ITEM = re.compile(r"^\s*([*#-]+)\s+(.*)$")
_RULE = re.compile(r"^\s*----+\s*$")
_QUOTE = re.compile(r"^\s*bq\.\s*(.*)$")
_LANGUAGE = re.compile(r"^(?:.*\blanguage=)?([A-Za-z0-9+#]+)\b(?!=)")
_TITLE = re.compile(r"\btitle=([^|}]*)")
_LINK = re.compile(r"\[(?:([^\[\]|\n]{1,500})\|)?([^\[\]|\n]{1,2000})(?:\|[^\]\n]{0,100})?\]")
_IMAGE = re.compile(r"(?<!\w)!([^!\s|][^!\n|]{0,300})(?:\|([^!\n]{0,300}))?!(?!\w)")
_INLINE_TAG = re.compile(r"\{(?:color|quote|panel|anchor)(?::[^}\n]{0,100})?\}")
_MONO = re.compile(r"\{\{(.{1,300}?)\}\}")
_SIGNS = (("*", "b"), ("_", "i"), ("??", "cite"), ("+", "u"), ("^", "sup"), ("~", "sub"))


def _mark(sign: str) -> re.Pattern[str]:
    # Only around words: `a_b_c` and `2 * 3 * 4` are no marks.
    edge = re.escape(sign)
    return re.compile(rf"(?<![\w{edge}]){edge}(?=\S)(.{{1,300}}?)(?<=\S){edge}(?!\w)")


_MARKS = tuple((_mark(sign), tag) for sign, tag in _SIGNS)


def html_of(text: str) -> str:
    """The HTML of a text in wiki markup. Linear; what is not understood stays as it is written."""
    lines = text.replace("\r\n", "\n").replace("\r", "\n").split("\n")
    return "\n".join(_blocks(lines))


def _blocks(lines: list[str]) -> Iterator[str]:
    number, held = 0, _Held()
    while number < len(lines):
        line = lines[number]
        if fence := _FENCE.match(line):
            yield from held.out()
            end, body = _fenced(lines, number, fence.group(1), fence.group(3))
            yield _pre(fence.group(2) or "", body)
            number = end
        else:
            yield from held.take(line)
        number += 1
    yield from held.out()


def _fenced(lines: list[str], start: int, name: str, rest: str) -> tuple[int, str]:
    """The lines of a block up to the one that ends it, which may be the first one itself."""
    mark = f"{{{name}}}"
    if mark in rest:
        return start, rest.partition(mark)[0]
    body = [rest] if rest.strip() else []
    for number in range(start + 1, len(lines)):
        before, found, _ = lines[number].partition(mark)
        if found:
            return number, "\n".join([*body, before] if before.strip() else body)
        body.append(lines[number])
    return len(lines), "\n".join(body)


def _pre(parameters: str, body: str) -> str:
    title = _TITLE.search(parameters)
    found = _LANGUAGE.match(parameters)
    language = found.group(1).lower() if found and found.group(1) != "title" else ""
    mark = f' class="language-{language}"' if language else ""
    head = f"<p>{escape(title.group(1))}</p>" if title else ""
    return f"{head}<pre{mark}>{escape(body)}</pre>"


class _Held:
    """Lines that belong together: of a paragraph, a list or a table."""

    def __init__(self) -> None:
        self._kind = ""
        self._lines: list[str] = []

    def take(self, line: str) -> Iterator[str]:
        """Gives the block that ends with this line, and the line where it is one by itself."""
        if box := _BOX.match(line):
            # The box itself is not shown, its title and its first line are.
            yield from self.out()
            title = _TITLE.search(box.group(2) or "")
            line = box.group(3)
            if title:
                yield f"<p>{escape(title.group(1))}</p>"
        if heading := _HEADING.match(line):
            yield from self.out()
            level = min(6, int(heading.group(1)) + 2)
            yield f"<h{level}>{_inline(heading.group(2))}</h{level}>"
            return
        if _RULE.match(line) or not line.strip():
            yield from self.out()
            return
        if quote := _QUOTE.match(line):
            yield from self.out()
            yield f"<blockquote>{_inline(quote.group(1))}</blockquote>"
            return
        kind = "table" if line.lstrip().startswith("|") else "list" if _ITEM.match(line) else "p"
        # A line below an item or a row that begins like text goes on with it.
        if kind != self._kind and not (kind == "p" and self._kind == "list"):
            yield from self.out()
            self._kind = kind
        self._lines.append(line)

    def out(self) -> Iterator[str]:
        """The block of the lines so far."""
        lines, self._lines = self._lines, []
        kind, self._kind = self._kind, ""
        if kind == "table":
            yield "<table>" + "".join(_row(line) for line in lines) + "</table>"
        elif kind == "list":
            yield "".join(_list(lines))
        elif lines:
            yield f"<p>{'<br>'.join(_inline(line.strip()) for line in lines)}</p>"


def _row(line: str) -> str:
    tag = "th" if line.lstrip().startswith("||") else "td"
    text = line.strip().strip("|").replace("||", "|")
    # A bar inside a link separates nothing.
    cells = re.split(r"\|(?![^\[\]|]{0,300}\])", text)
    return f"<tr>{''.join(f'<{tag}>{_inline(cell.strip())}</{tag}>' for cell in cells)}</tr>"


def _list(lines: list[str]) -> Iterator[str]:
    """Nested lists by the number of marks; at most six deep."""
    open_tags: list[str] = []
    for line in lines:
        item = _ITEM.match(line)
        if item is None:
            yield f"<br>{_inline(line.strip())}"
            continue
        level = min(6, len(item.group(1)))
        tag = "ol" if item.group(1)[-1] == "#" else "ul"
        while len(open_tags) > level or (len(open_tags) == level and open_tags[-1] != tag):
            yield f"</li></{open_tags.pop()}>"
        if len(open_tags) == level:
            yield "</li>"
        while len(open_tags) < level:
            open_tags.append(tag)
            yield f"<{tag}>" + ("<li>" if len(open_tags) < level else "")
        yield f"<li>{_inline(item.group(2))}"
    while open_tags:
        yield f"</li></{open_tags.pop()}>"


def _inline(text: str) -> str:
    # Monospaced text takes no marks: every second part is one.
    parts = _MONO.split(text)
    shown = [
        f"<code>{escape(one)}</code>" if n % 2 else _marked(one) for n, one in enumerate(parts)
    ]
    return "".join(shown)


def _marked(text: str) -> str:
    text = _INLINE_TAG.sub("", text)
    text = _IMAGE.sub(lambda found: _alt(found.group(2) or ""), text)
    text = escape(_LINK.sub(_link, text), quote=False)
    for pattern, tag in _MARKS:
        text = pattern.sub(rf"<{tag}>\1</{tag}>", text)
    return text.replace("\\\\", "<br>")


def _alt(parameters: str) -> str:
    found = re.search(r"\balt=([^,|]+)", parameters)
    return found.group(1).strip('"') if found else ""


def _link(found: re.Match[str]) -> str:
    text, target = found.group(1), found.group(2)
    if target.startswith("~"):
        return text or f"@{target[1:]}"
    if target.startswith(("#", "^")):
        return text or target[1:]
    return f"{text} ({target})" if text and text != target else target
