"""From what an LLM said to a context and keywords, whatever form it chose; None where there are
none. Linear, pure."""

from __future__ import annotations

import json
import re
import unicodedata
from collections.abc import Iterator
from typing import Final

from seoga_embedding.split import clean

MOST_CONTEXT: Final = 600
MOST_KEYWORDS: Final = 24
_LONGEST_KEYWORD: Final = 60
_MOST_ANSWER: Final = 20_000

_THOUGHT = re.compile(r"<(think|thinking|thought|reasoning)>.*?(?:</\1>|\Z)", re.I | re.S)
_FENCE = re.compile(r"^\s*```[\w-]*\s*$", re.M)
_LABEL = re.compile(
    r"^[\s>#*_\-•\d.)\[\"'`]{0,12}"
    r"(?P<name>context|문맥|맥락|배경|요약|키워드|핵심어|주요어|key[ -]?words?|search terms)"
    r"(?:\s{0,2}\([^()\n]{0,40}\))?[\s*_\]\"'`]{0,6}[:：][\s*_]{0,6}",
    re.I | re.M,
)
_HEADING = re.compile(
    r"^\s{0,3}(?:#{1,6}\s{0,4}|\*\*\s?)(?P<name>context|문맥|맥락|key[ -]?words?|키워드|핵심어)"
    r"\s?(?:\*\*)?\s*$",
    re.I | re.M,
)
_BULLET = re.compile(r"^\s*(?:[-*•·]|\d{1,2}[.)])\s+", re.M)
_SEPARATOR = re.compile(r"[,，、;；\n|·•]|\s/\s")
_EDGES: Final = " \t\r\n\"'`*_[](){}<>“”‘’「」『』.。:："
_SPACE = re.compile(r"\s+")
_CONTEXT_NAMES: Final = ("context", "문맥", "맥락", "배경", "요약")


def parse(answer: str) -> tuple[str, str] | None:
    """Context and keywords (", " between). At least the context must be there."""
    text = clean(answer[:_MOST_ANSWER])
    text = _FENCE.sub("", _THOUGHT.sub("", text)).strip()
    found = _json(text) or _labelled(text)
    if found is None:
        return None
    context, keywords = _sentences(found[0]), ", ".join(_keywords(found[1]))
    return (context, keywords) if context else None


def _json(text: str) -> tuple[str, str] | None:
    start, end = text.find("{"), text.rfind("}")
    if start < 0 or end <= start:
        return None
    try:
        data = json.loads(text[start : end + 1])
    except (ValueError, RecursionError):
        return None
    if not isinstance(data, dict):
        return None
    parts = {str(key).lower(): value for key, value in data.items()}
    context = next((parts[name] for name in _CONTEXT_NAMES if name in parts), "")
    keywords = next((parts[n] for n in ("keywords", "키워드", "핵심어") if n in parts), "")
    if isinstance(keywords, dict):
        keywords = [one for group in keywords.values() for one in _listed(group)]
    return str(context), "\n".join(_listed(keywords))


def _listed(value: object) -> list[str]:
    return [str(one) for one in value] if isinstance(value, list) else [str(value)]


def _labelled(text: str) -> tuple[str, str] | None:
    """The parts behind their labels, in any order; what stands before the first is small talk."""
    marks = sorted(
        (*_LABEL.finditer(text), *_HEADING.finditer(text)), key=lambda match: match.start()
    )
    parts: dict[bool, str] = {}
    for number, mark in enumerate(marks):
        end = marks[number + 1].start() if number + 1 < len(marks) else len(text)
        is_context = mark["name"].lower() in _CONTEXT_NAMES
        # A label that comes twice is a second try, or the text quoted: the first counts.
        parts.setdefault(is_context, text[mark.end() : end])
    if True not in parts:
        return None
    return parts[True], parts.get(False, "")


def _sentences(text: str) -> str:
    """The first paragraph, in one line, of at most 600 characters."""
    paragraph = text.strip().split("\n\n")[0]
    line = _SPACE.sub(" ", _BULLET.sub("", paragraph)).strip().strip("\"'`*_ “”")
    if len(line) <= MOST_CONTEXT:
        return line
    cut = line[:MOST_CONTEXT]
    end = max(cut.rfind(mark) for mark in (". ", "다. ", "! ", "? ", "。"))
    return cut[: end + 1] if end > MOST_CONTEXT // 3 else cut.rsplit(" ", 1)[0]


def _keywords(text: str) -> Iterator[str]:
    seen: set[str] = set()
    # A blank line after the list begins something else.
    block = re.split(r"\n\s*\n", text.strip())[0] if "\n" in text.strip() else text
    for piece in _SEPARATOR.split(_BULLET.sub("", block)):
        word = _SPACE.sub(" ", unicodedata.normalize("NFKC", piece)).strip(_EDGES)
        word = re.sub(r"^(?:korean|english|한국어|영어|ko|en)\s*[:：]\s*", "", word, flags=re.I)
        word = word.replace('"', "").replace("`", "").replace("*", "").strip(_EDGES)
        if not word or len(word) > _LONGEST_KEYWORD or word.casefold() in seen:
            continue
        seen.add(word.casefold())
        yield word
        if len(seen) == MOST_KEYWORDS:
            return
