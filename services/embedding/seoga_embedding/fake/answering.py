"""What the fake says about a passage: made of the prompt, by rule."""

from __future__ import annotations

import re
from collections import Counter

from seoga_embedding.fake.ordering import order_of
from seoga_embedding.fake.protocols import Body, Protocol
from seoga_embedding.fake.rules import Rules
from seoga_embedding.packing import tokens_of

_WORD = re.compile(r"[A-Za-z]{4,}|[가-힣]{2,}")


def said(protocol: Protocol, body: Body, rules: Rules) -> Body:
    """The whole answer of an LLM to a request, with its tokens."""
    prompt = protocol.prompt(body)
    text = rules.answer or order_of(prompt, rules) or answer_to(prompt)
    return protocol.reply(text, tokens_of(prompt), tokens_of(text))


def answer_to(prompt: str) -> str:
    """A context of the passage's heading and first words, and its most frequent words."""
    passage = _between(prompt, "passage")
    heading = _between(prompt, "heading") or _between(prompt, "title")
    words = Counter(word.lower() for word in _WORD.findall(passage))
    start = " ".join(passage.split()[:12])
    keywords = ", ".join(word for word, _ in words.most_common(6))
    return f"CONTEXT: {heading or 'A document'}: {start}\nKEYWORDS: {keywords}"


def _between(prompt: str, tag: str) -> str:
    found = re.search(rf"<{tag}>\n(.*?)\n</{tag}>", prompt, re.S)
    return " ".join(found.group(1).split()) if found else ""
