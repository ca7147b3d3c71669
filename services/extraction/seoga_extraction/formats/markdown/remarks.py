"""Comments at the head of a Markdown file: what its author says there to other authors."""

from __future__ import annotations

import re
from collections.abc import Sequence

from seoga_extraction.formats.markdown.blocks import MAX_LINE

MOST = 24
_WITHIN = 80
_TITLE = re.compile(r" {0,3}#(?:[ \t]|$)")
_UNDER = re.compile(r" {0,3}=+[ \t]*")
# `[//]: # (text)` is the target of a link that nobody follows.
_TARGET = re.compile(r"\s{0,3}\[(?://|comment)\]:\s{0,3}(?:#|<>)\s{1,3}[(\"'](.*)[)\"']\s*", re.I)


def remarks(lines: Sequence[str], first: int) -> list[str]:
    """The lines of the comments from the line `first` on: above a title of level 1 and below it,
    up to anything else."""
    out: list[str] = []
    at, end, titled = first, min(len(lines), first + _WITHIN), False
    while at < end and len(out) < MOST:
        line = lines[at][:MAX_LINE]
        below = lines[at + 1][:MAX_LINE] if at + 1 < len(lines) else ""
        if line.lstrip().startswith("<!--"):
            found, at = _comment(lines, at, end)
            out += found
        elif target := _TARGET.fullmatch(line):
            out.append(target[1].strip())
            at += 1
        elif not titled and line.strip() and (_TITLE.match(line) or _UNDER.fullmatch(below)):
            titled, at = True, at + (1 if _TITLE.match(line) else 2)
        elif line.strip():
            break
        else:
            at += 1
    return [line for line in out if line][:MOST]


def _comment(lines: Sequence[str], at: int, end: int) -> tuple[list[str], int]:
    """The lines of the comments that begin in this one, and the line behind them; where text
    follows on the last, or nothing closes it, there are no more."""
    held: list[str] = []
    for index in range(at, end):
        held.append(lines[index][:MAX_LINE])
        if "-->" in lines[index]:
            before, _, rest = held[-1].rpartition("-->")
            inner = "\n".join([*held[:-1], before])
            parts = re.split(r"-->|<!--", inner)
            said = [one.strip(" \t-") for part in parts for one in part.split("\n")]
            return said, end if rest.strip() else index + 1
    return [], end
