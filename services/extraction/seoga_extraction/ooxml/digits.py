"""The digits of a number in one section of a number format: fixed, scientific, as a fraction.

`tokens` are the (kind, text) pairs of the section, `value` is not negative and already scaled for
percent signs.
"""

from __future__ import annotations

import re
from decimal import ROUND_HALF_UP, Decimal
from fractions import Fraction

Tokens = list[tuple[str, str]]
_MAX_DIGITS = 30


def fixed(tokens: Tokens, value: Decimal) -> str:
    """A number in a section such as `#,##0.00`, with what stands between its digits."""
    point = next((at for at, (kind, _) in enumerate(tokens) if kind == "point"), len(tokens))
    digits = [at for at, (kind, _) in enumerate(tokens) if kind == "digit"]
    whole = [at for at in digits if at < point]
    decimals = [at for at in digits if at > point]
    edge = whole[-1] if whole else point
    commas = [at for at, (kind, _) in enumerate(tokens) if kind == "comma"]
    # A comma between digits groups them, each one after the last divides by a thousand.
    grouped = any(whole and whole[0] < at < edge for at in commas)
    last = digits[-1] if digits else 0
    scale = sum(1 for at in commas if at > edge and (at < point or at > last))
    value = _rounded(value.scaleb(-3 * scale), min(len(decimals), _MAX_DIGITS))
    head, _, tail = f"{value:f}".partition(".")
    shown = _whole_digits(tokens, whole, "" if head == "0" else head, grouped)
    shown.update(_decimal_digits(tokens, decimals, tail))
    out = []
    for at, (kind, text) in enumerate(tokens):
        if kind == "point" and at == point:
            out.append("." if any(shown.get(one, "").strip() for one in decimals) else "")
        elif kind == "digit":
            out.append(shown.get(at, ""))
        elif kind != "comma":
            out.append(text)
    if not whole and head != "0":
        out.insert(0, head)
    return "".join(out)


def _rounded(value: Decimal, places: int) -> Decimal:
    if value.adjusted() + places > 27:
        return value
    return value.quantize(Decimal(1).scaleb(-places), ROUND_HALF_UP)


def _whole_digits(tokens: Tokens, places: list[int], digits: str, grouped: bool) -> dict[int, str]:
    """Which digits each placeholder before the point shows; the first takes what is left over."""
    shown: dict[int, str] = {}
    rest, count = digits, 0
    for at in reversed(places):
        own = rest[-1:] or {"0": "0", "?": " "}.get(tokens[at][1], "")
        rest = rest[:-1]
        comma = "," if grouped and count and count % 3 == 0 and own.strip() else ""
        shown[at] = own + comma
        count += bool(own)
    if places and rest:
        more = ""
        for digit in reversed(rest):
            more = digit + ("," if grouped and count % 3 == 0 else "") + more
            count += 1
        shown[places[0]] = more + shown[places[0]]
    return shown


def _decimal_digits(tokens: Tokens, places: list[int], digits: str) -> dict[int, str]:
    kept = len(digits.rstrip("0"))
    shown = {}
    for index, at in enumerate(places):
        own = digits[index : index + 1] or "0"
        shown[at] = own if index < kept else {"0": own, "?": " "}.get(tokens[at][1], "")
    return shown


def scientific(tokens: Tokens, value: Decimal) -> str:
    """A number in a section such as `0.00E+00`; the exponent is a multiple of the whole digits."""
    mark = next(at for at, (kind, _) in enumerate(tokens) if kind == "exponent")
    head, tail = tokens[:mark], tokens[mark + 1 :]
    point = next((at for at, (kind, _) in enumerate(head) if kind == "point"), len(head))
    width = max(1, sum(kind == "digit" for kind, _ in head[:point]))
    places = sum(kind == "digit" for kind, _ in head[point:])
    exponent = 0
    if value:
        exponent = value.adjusted() // width * width
        if _rounded(value.scaleb(-exponent), places) >= Decimal(10) ** width:
            exponent += width
    mantissa = fixed(head, value.scaleb(-exponent))
    sign = "-" if exponent < 0 else ("+" if tokens[mark][1][1] == "+" else "")
    digits = sum(kind == "digit" and text == "0" for kind, text in tail)
    rest = "".join(text for kind, text in tail if kind == "literal")
    return f"{mantissa}E{sign}{abs(exponent):0{max(digits, 1)}d}{rest}"


def fraction(tokens: Tokens, value: Decimal) -> str:
    """A number in a section such as `# ?/?` or `# ?/8`. ArithmeticError above 1e28."""
    slash = next(at for at, (kind, _) in enumerate(tokens) if kind == "slash")
    below = "".join(text for _, text in tokens[slash + 1 :]).strip()
    above = sum(kind == "digit" for kind, _ in tokens[:slash])
    top = 0
    for kind, _ in reversed(tokens[:slash]):
        if kind != "digit":
            break
        top += 1
    whole, rest = (int(value), value % 1) if above > top else (0, value)
    if fixed := re.match(r"[1-9]\d{0,5}", below):
        bottom = int(fixed[0])
        part = Fraction(round(Fraction(rest) * bottom), 1)
        numerator, denominator = part.numerator, bottom
    else:
        limit = 10 ** min(max(below.count("?") + below.count("#"), 1), 4) - 1
        close = Fraction(rest).limit_denominator(limit)
        numerator, denominator = close.numerator, close.denominator
    if above > top and numerator == denominator:
        whole, numerator = whole + 1, 0
    if above > top and not numerator:
        return str(whole)
    return f"{whole or ''} {numerator}/{denominator}".strip()
