"""Inline markup of reStructuredText as the words that it shows."""

from __future__ import annotations

import re

_MARKUP: tuple[tuple[re.Pattern[str], str], ...] = (
    (re.compile(r"``(.+?)``"), r"`\1`"),
    (re.compile(r":math:`([^`]+)`"), r"[math: \1]"),
    # A role with a title of its own, and one whose target is the title.
    (re.compile(r":[\w:+.-]+:`([^`<]+?)\s*<[^<>`]*>`"), r"\1"),
    (re.compile(r":[\w:+.-]+:`[!~]?([^`]+)`"), r"\1"),
    (re.compile(r"`([^`<]+?)\s*<[^<>`]*>`__?"), r"\1"),
    (re.compile(r"`([^`\n]+)`__?(?!\w)"), r"\1"),
    (re.compile(r"(?<!\w)_`([^`]+)`"), r"\1"),
    (re.compile(r"\[#?(\*|[\w.-]+)\]_(?!\w)"), r"[\1]"),
    (re.compile(r"\|([^|\s][^|\n]*?)\|_{0,2}(?!\w)"), r"\1"),
    (re.compile(r"\*\*(?=\S)([^*\n]+?)(?<=\S)\*\*"), r"\1"),
    (re.compile(r"(?<![\w*])\*(?=[^\s*])([^*\n]+?)(?<=[^\s*])\*(?![\w*])"), r"\1"),
    (re.compile(r"\b(\w[\w.-]*\w)__?(?=[\s.,;:!?)]|$)"), r"\1"),
)
_ESCAPED = re.compile(r"\\([!-/:-@\[-`{-~])")
_HELD = re.compile("[\ue021-\ue07e]")
# Longer lines are no prose: the patterns above could go over them for long.
MAX_LINE = 5000


def shown(text: str) -> str:
    """Roles, links, emphasis and substitutions without their marks; code keeps back-ticks."""
    if len(text) > MAX_LINE or not any(one in text for one in "`*_|\\"):
        return text
    # What is escaped waits in the private area, where no pattern sees it.
    text = _ESCAPED.sub(lambda found: chr(0xE000 + ord(found[1])), text)
    for pattern, words in _MARKUP:
        text = pattern.sub(words, text)
    text = re.sub(r"\\\s", "", text)
    return _HELD.sub(lambda found: chr(ord(found[0]) - 0xE000), text)
