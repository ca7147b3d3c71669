"""An answer that is too long for clients is shortened: lists and texts, never fields."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from typing import Any, Final

from seoga_gateway.quoting import BUDGET_BYTES, FENCE, cut, size

# (bytes of a text, entries of a list) that are tried one after the other.
_STEPS: Final = (
    *((text, entries) for entries in (1000, 100, 30, 10, 3) for text in (4000, 1000, 300)),
    (100, 3),
    (100, 1),
    (20, 1),
)
# No model of an answer has so many fields: an object with more is a list of pairs.
_FIELDS: Final = 40
_DEEP: Final = 8
_KEY: Final = 60
_MORE: Final = 80
_LEFT_OUT: Final = "\n(The rest is left out to keep the answer short.)"
_CLOSING: Final = f"\n</{FENCE}>"


def json_size(value: Any) -> int:
    """Bytes of a value as JSON of UTF-8."""
    return size(json.dumps(value, ensure_ascii=False))


def cut_json(text: str, budget: int) -> str:
    """The beginning of a text of which JSON makes at most so many bytes, without its quotes."""
    shown = cut(text, budget)
    made = json_size(shown) - 2
    if made <= budget:
        return shown
    shorter = cut(shown, budget * size(shown) // made)
    # No character takes more than six times its bytes.
    return shorter if json_size(shorter) - 2 <= budget else cut(shown, budget // 6)


def fitted(value: Any, budget: int = BUDGET_BYTES, fields: int = _FIELDS) -> Any:
    """The same JSON value where its JSON fits the budget; else with shorter texts, then with
    shorter lists too, and objects of at most so many `fields`."""
    shown = value
    for text, entries in _STEPS:
        if json_size(shown) <= budget:
            break
        shown = _shortened(value, (text, entries, max(fields, min(entries, _FIELDS))))
    return shown


def listed(texts: Sequence[str], budget: int) -> list[str]:
    """These texts within a budget; the last one says how many are left out, where some are."""
    shown = fitted(list(texts), budget - _MORE)
    left = len(texts) - len(shown)
    return [*shown, *([f"{left} more left out to keep the answer short."] if left else [])]


def _shortened(value: Any, most: tuple[int, int, int], depth: int = 0) -> Any:
    text, entries, fields = most
    if isinstance(value, str):
        return value if size(value) <= text else cut_json(value, text - 3) + "…"
    if depth >= _DEEP and isinstance(value, list | dict):
        return type(value)()
    if isinstance(value, list | tuple):
        return [_shortened(each, most, depth + 1) for each in value[:entries]]
    if isinstance(value, dict):
        pairs = list(value.items())[:fields]
        return {cut(key, max(text, _KEY)): _shortened(each, most, depth + 1) for key, each in pairs}
    return value


def fitted_text(text: str) -> str:
    """The text where it fits the budget; else its beginning, with the fence that is open closed."""
    if size(text) <= BUDGET_BYTES:
        return text
    shown = cut(text, BUDGET_BYTES - len(_LEFT_OUT) - len(_CLOSING))
    # A tag that the cut went through is none.
    shown = re.sub(r"<[^<>]*\Z", "", shown)
    fences = re.findall(rf"^</?{FENCE}", shown, re.MULTILINE)
    still_open = bool(fences) and not fences[-1].startswith("</")
    return shown + _CLOSING * still_open + _LEFT_OUT
