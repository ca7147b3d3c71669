"""Numbers as a spreadsheet shows them: number formats compiled once, then applied per cell.

Source of the rules: ECMA-376 part 1, 18.8.30 (formats by number) and 18.8.31 (format codes).
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from dataclasses import dataclass, field
from decimal import Decimal
from functools import lru_cache

from seoga_extraction.ooxml.dates import DateFormat, Piece
from seoga_extraction.ooxml.digits import Tokens, fixed, fraction, scientific

MAX_CODE = 512
_ISO_DAY = "yyyy\\-mm\\-dd"
# Those that follow the reader's locale are shown as a Korean program does, which is ISO 8601.
BUILT_IN = {
    1: "0", 2: "0.00", 3: "#,##0", 4: "#,##0.00", 5: '"$"#,##0_);("$"#,##0)',
    6: '"$"#,##0_);("$"#,##0)', 7: '"$"#,##0.00_);("$"#,##0.00)',
    8: '"$"#,##0.00_);("$"#,##0.00)', 9: "0%", 10: "0.00%", 11: "0.00E+00", 12: "# ?/?",
    13: "# ??/??", 14: _ISO_DAY, 15: "d-mmm-yy", 16: "d-mmm", 17: "mmm-yy", 18: "h:mm AM/PM",
    19: "h:mm:ss AM/PM", 20: "h:mm", 21: "h:mm:ss", 22: _ISO_DAY + " h:mm",
    27: 'yyyy"年" mm"月" dd"日"', 28: "mm-dd", 29: "mm-dd", 30: "mm-dd-yy",
    31: 'yyyy"년" mm"월" dd"일"', 32: 'h"시" mm"분"', 33: 'h"시" mm"분" ss"초"', 34: _ISO_DAY,
    35: _ISO_DAY, 36: 'yyyy"年" mm"月" dd"日"', 37: "#,##0_);(#,##0)", 38: "#,##0_);(#,##0)",
    39: "#,##0.00_);(#,##0.00)", 40: "#,##0.00_);(#,##0.00)", 41: '#,##0_);(#,##0);"-"_);@_)',
    42: '"$"#,##0_);("$"#,##0);"$-"_);@_)', 43: '#,##0.00_);(#,##0.00);"-"_);@_)',
    44: '"$"#,##0.00_);("$"#,##0.00);"$-"_);@_)', 45: "mm:ss", 46: "[h]:mm:ss", 47: "mm:ss.0",
    48: "##0.0E+0", 49: "@", 50: 'yyyy"年" mm"月" dd"日"', 51: "mm-dd", 52: _ISO_DAY, 53: _ISO_DAY,
    54: "mm-dd", 55: _ISO_DAY, 56: _ISO_DAY, 57: 'yyyy"年" mm"月" dd"日"', 58: "mm-dd",
}  # fmt: skip
_TOKEN = re.compile(
    r"""(?P<quoted>"[^"]*"?) | (?P<escaped>\\.) | (?P<blank>_.) | (?P<fill>\*.)
    | (?P<bracket>\[[^\]]*\]) | (?P<half>AM/PM|A/P|오전/오후)
    | (?P<general>General|G/표준|G/標準|G/通用格式|Standard) | (?P<end>;)
    | (?P<exponent>E[+-](?=[0#?])) | (?P<date>y+|m+|d+|h+|s+|e+|g+|b+|a{3,4}(?!\w))
    | (?P<digit>[0#?]) | (?P<point>\.) | (?P<comma>,) | (?P<percent>%) | (?P<slash>/)
    | (?P<text>@) | (?P<escaped2>\\) | (?P<literal>.)""",
    re.IGNORECASE | re.VERBOSE | re.DOTALL,
)
_CONDITION = re.compile(r"\[(<=|>=|<>|<|>|=)\s*(-?[\d.]{1,20})\]")
_ELAPSED = re.compile(r"\[(h+|m+|s+)\]", re.IGNORECASE)
_COMPARE: dict[str, Callable[[float, float], bool]] = {
    "<": lambda a, b: a < b,
    "<=": lambda a, b: a <= b,
    ">": lambda a, b: a > b,
    ">=": lambda a, b: a >= b,
    "=": lambda a, b: a == b,
    "<>": lambda a, b: a != b,
}
_LANGUAGES = {0x12: "ko", 0x11: "ja"}


@dataclass(slots=True)
class _Section:
    """One of the parts of a format between semicolons: its tokens as (kind, text)."""

    tokens: Tokens = field(default_factory=list)
    condition: tuple[str, float] | None = None
    language: str = ""
    date: DateFormat | None = None
    kinds: frozenset[str] = frozenset()


def general(value: float) -> str:
    """A number as the format "General" shows it in a wide column."""
    if value == int(value) and abs(value) < 1e15:
        return str(int(value))
    text = f"{value:.10g}" if 1e-5 <= abs(value) < 1e11 else f"{value:.6g}"
    mantissa, mark, exponent = text.partition("e")
    if not mark:
        return text
    return f"{mantissa}E{exponent[0]}{int(exponent[1:]):02d}"


class NumberFormat:
    """A compiled format code. Never fails: what it does not know is shown as General."""

    def __init__(self, code: str, date1904: bool = False) -> None:
        self._date1904 = date1904
        sections = _sections(code[:MAX_CODE])
        last = sections[-1] if "text" in sections[-1].kinds else None
        self._text = None if last is None or _is_plain_text(last) else last
        self._numbers = sections if last is None or len(sections) == 1 else sections[:-1]
        # An empty code is General; ";;;" is a code that hides the cell.
        self._general = not code.strip() or all(
            one.kinds and one.kinds <= {"general", "text"} for one in self._numbers
        )

    @property
    def changes_text(self) -> bool:
        """Whether it adds anything to a cell that holds text."""
        return self._text is not None

    def text(self, value: str) -> str:
        """A text as it is shown."""
        if self._text is None:
            return value
        return "".join(value if kind == "text" else shown for kind, shown in self._text.tokens)

    def number(self, value: float) -> str:
        """A number as it is shown."""
        if self._general or not math.isfinite(value):
            return general(value) if math.isfinite(value) else "#NUM!"
        section, signed = self._choose(value)
        if section is None:
            return general(value)
        if section.date is not None:
            shown = section.date.show(value, self._date1904)
            return general(value) if shown is None else shown.strip()
        if section.kinds & {"general", "text"}:
            body = general(abs(value))
            parts = (body if kind in ("general", "text") else t for kind, t in section.tokens)
            return ("-" * (signed and value < 0) + "".join(parts)).strip()
        try:
            return _decorated(section, value, signed)
        except ArithmeticError:
            # More digits than decimal arithmetic holds; no program shows those either.
            return general(value)

    def _choose(self, value: float) -> tuple[_Section | None, bool]:
        """The section for a number, and whether it has to show a minus itself."""
        sections = self._numbers
        if any(one.condition for one in sections):
            for index, one in enumerate(sections):
                test = one.condition
                if test is None or _COMPARE[test[0]](value, test[1]):
                    return one, index == 0 or test is None
            return None, True
        if len(sections) == 1:
            return sections[0], True
        if value < 0:
            return sections[1], False
        return (sections[2] if value == 0 and len(sections) > 2 else sections[0]), False


@lru_cache(maxsize=1024)
def number_format(code: str, date1904: bool = False) -> NumberFormat:
    """The compiled form of a code, kept."""
    return NumberFormat(code, date1904)


def _is_plain_text(section: _Section) -> bool:
    shown = "".join(text for kind, text in section.tokens if kind != "text")
    return not shown.strip() and sum(kind == "text" for kind, _ in section.tokens) == 1


def _sections(code: str) -> list[_Section]:
    sections = [_Section()]
    for found in _TOKEN.finditer(code):
        kind, text = str(found.lastgroup), found[0]
        if kind == "end":
            if len(sections) < 4:
                sections.append(_Section())
                continue
            break
        _add(sections[-1], kind, text)
    for one in sections:
        one.kinds = frozenset(kind for kind, _ in one.tokens)
        if one.kinds & {"date", "elapsed"}:
            one.date = DateFormat(_date_pieces(one.tokens), one.language)
    return sections


def _add(section: _Section, kind: str, text: str) -> None:
    if kind == "bracket":
        _add_bracket(section, text)
    elif kind == "quoted":
        section.tokens.append(("literal", text.strip('"')))
    elif kind == "escaped":
        section.tokens.append(("literal", text[1]))
    elif kind == "blank":
        section.tokens.append(("literal", " "))
    elif kind not in ("fill", "escaped2"):
        section.tokens.append((kind, text))


def _add_bracket(section: _Section, text: str) -> None:
    """Colours show nothing; [$₩-412] is a currency sign and a locale."""
    if condition := _CONDITION.fullmatch(text):
        try:
            section.condition = condition[1], float(condition[2])
        except ValueError:
            return
    elif _ELAPSED.fullmatch(text):
        section.tokens.append(("elapsed", text.lower()))
    elif text.startswith("[$"):
        sign, _, locale = text[2:-1].partition("-")
        if sign:
            section.tokens.append(("literal", sign))
        try:
            section.language = _LANGUAGES.get(int(locale or "0", 16) & 0x3FF, section.language)
        except ValueError:
            return


def _date_pieces(tokens: Tokens) -> list[Piece]:
    """Decides which m is a minute (after an hour or before a second), joins .000 to seconds."""
    pieces: list[Piece] = []
    for index, (kind, text) in enumerate(tokens):
        code = text.lower()
        if kind == "date":
            pieces.append(_date_piece(code, pieces, tokens[index + 1 :]))
        elif kind == "elapsed":
            pieces.append(Piece(code, ""))
        elif kind == "half":
            pieces.append(Piece(text, ""))
        elif kind == "point" and tokens[index + 1 : index + 2] == [("digit", "0")]:
            pieces.append(Piece(".", ""))
        elif kind == "digit" and pieces and pieces[-1].code.startswith("."):
            pieces[-1] = Piece(pieces[-1].code + "0", "")
        elif kind not in ("general", "text"):
            pieces.append(Piece("", text))
    return pieces


def _date_piece(code: str, before: list[Piece], after: Tokens) -> Piece:
    if code[0] == "e":
        return Piece("yyyy", "")
    if code[0] in "gb":
        return Piece("", "")
    if code in ("m", "mm"):
        last = next((one.code for one in reversed(before) if one.code), "")
        following = next((text.lower() for kind, text in after if kind in ("date", "elapsed")), "")
        if last.strip("[").startswith("h") or following.strip("[").startswith("s"):
            return Piece("n" * len(code), "")
    return Piece(code[:5], "")


def _decorated(section: _Section, value: float, signed: bool) -> str:
    """A number section: the digits, and what stands before, between and after them."""
    kinds = section.kinds
    sign = "-" if signed and value < 0 else ""
    exact = Decimal(f"{abs(value):.15g}")
    if "percent" in kinds:
        exact = exact.scaleb(2 * sum(kind == "percent" for kind, _ in section.tokens))
    if "digit" not in kinds:
        return (sign + "".join(text for _, text in section.tokens)).strip()
    if "slash" in kinds:
        body = fraction(section.tokens, exact)
    elif "exponent" in kinds:
        body = scientific(section.tokens, exact)
    else:
        body = fixed(section.tokens, exact)
    # -0.001 in the format 0.00 is shown without its sign.
    if sign and not re.search(r"[1-9]", body):
        sign = ""
    return (sign + body).strip()
