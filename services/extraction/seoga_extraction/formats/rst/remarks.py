"""The head of a reStructuredText file: comments, and a directive that retires all of it."""

from __future__ import annotations

import re
from collections.abc import Sequence

from seoga_extraction.formats.rst.inline import shown
from seoga_extraction.formats.rst.lines import SILENT
from seoga_extraction.formats.rst.relations import targets

_WITHIN = 80
_MOST = 24
_LONGEST = 300
_RULE = re.compile(r"([!-/:-@\[-`{-~])\1{2,}\s*")
_DEPRECATED = re.compile(r"\.\.\s+deprecated(?:-removed)?\s*::(.*)")
_DIRECTIVE = re.compile(r"\.\.\s+(?:\|[^|]+\|\s+)?([\w:+.-]+?)\s*::")
# The target of a link, a footnote, an anonymous target.
_MARKED = re.compile(r"\.\.\s+[_\[|]|__\s")
_COMMENT = re.compile(r"\.\.(?:\s+(.*))?")
_FIELD = re.compile(r":[^:\n]{1,80}:(?:\s|$)")
_STEERS = SILENT | {"sectionauthor", "moduleauthor", "codeauthor", "py:module", "py:currentmodule"}


def remarks(lines: Sequence[str]) -> list[str]:
    """What stands above the title or straight below it, up to anything else: the lines of
    comments; of `.. deprecated::` a status, and the links of its text. A directive below a title
    that has others of its rank beside it is about a part of the file."""
    out: list[str] = []
    at, end, mark = 0, min(len(lines), _WITHIN), ""
    while at < end:
        line = lines[at].rstrip()
        if not line:
            at += 1
        elif line.startswith("..") or _MARKED.match(line):
            stop = _block_end(lines, at)
            found = _of_block(lines[at:stop], bool(mark) and not _is_alone(lines, mark))
            if found is None:
                break
            out += found
            at = stop
        elif _FIELD.match(line):
            at = _block_end(lines, at, blank=True)
        else:
            height = 0 if mark else _title(lines, at)
            if not height:
                break
            mark = lines[at + height - 1][0]
            at += height
    return [line for line in out if line][:_MOST]


def _of_block(block: Sequence[str], part: bool) -> list[str] | None:
    """What an explicit block says of the file; None where its text begins with this."""
    head = block[0].rstrip()
    if found := _DEPRECATED.match(head):
        said = [found[1], *block[1:]]
        links = [link for line in said for link in targets(line)]
        reason = [f"deprecation-reason: in favour of {link}" for link in links[:1]]
        return [] if part else ["status: deprecated", *reason]
    if found := _DIRECTIVE.match(head):
        return [] if found[1].lower() in _STEERS else None
    if _MARKED.match(head):
        return []
    comment = _COMMENT.fullmatch(head)
    said = [comment[1] or "" if comment else "", *block[1:]]
    return [shown(line.strip())[:_LONGEST] for line in said]


def _block_end(lines: Sequence[str], start: int, blank: bool = False) -> int:
    """The line behind what is indented below this one; with `blank`, no empty line is in it."""
    at = start + 1
    while at < len(lines) and (lines[at][:1].isspace() or not (blank or lines[at].strip())):
        at += 1
    return at


def _title(lines: Sequence[str], at: int) -> int:
    """How many lines the title that begins here has; 0 for none."""
    rows = [line.rstrip() for line in lines[at : at + 3]]
    if len(rows) == 3 and _RULE.fullmatch(rows[0]) and rows[1] and rows[2] == rows[0]:
        return 3
    titled = len(rows) > 1 and not _RULE.fullmatch(rows[0]) and _RULE.fullmatch(rows[1])
    return 2 if titled and not rows[0][0].isspace() else 0


def _is_alone(lines: Sequence[str], mark: str) -> bool:
    """Whether one heading at most is underlined with this."""
    rows = (line.rstrip() for line in lines)
    before = ""
    count = 0
    for row in rows:
        if row[:1] == mark and before and before[0] != mark and _RULE.fullmatch(row):
            count += 1
        before = row
    return count < 2
