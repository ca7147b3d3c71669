"""What the characters of symbol fonts (Symbol, Wingdings, Zapf Dingbats) mean outside them."""

from __future__ import annotations

# The Symbol font by its codes (Unicode's vendor table ADOBE/symbol.txt), from 0x20 on.
_SYMBOL = (
    " !∀#∃%&∋()∗+,−./0123456789:;<=>?"
    "≅ΑΒΧΔΕΦΓΗΙϑΚΛΜΝΟΠΘΡΣΤΥςΩΞΨΖ[∴]⊥_"
    "‾αβχδεφγηιϕκλμνοπθρστυϖωξψζ{|}∼\x00"
)
_SYMBOL_HIGH = (
    "€ϒ′≤⁄∞ƒ♣♦♥♠↔←↑→↓°±″≥×∝∂•÷≠≡≈…|—↵"
    "ℵℑℜ℘⊗⊕∅∩∪⊃⊇⊄⊂⊆∈∉∠∇®©™∏√⋅¬∧∨⇔⇐⇑⇒⇓"
    "◊〈®©™∑⎛⎜⎝⎡⎢⎣⎧⎨⎩⎪\x00〉∫⌠⎮⌡⎞⎟⎠⎤⎥⎦⎫⎬⎭"
)
# Of the Wingdings family only what stands in documents as a word would: boxes, ticks, arrows.
_WINGDINGS = {
    0x4A: "☺",
    0x6C: "●",
    0x6E: "■",
    0x6F: "☐",
    0x71: "❑",
    0x72: "❒",
    0x75: "◆",
    0x76: "❖",
    0x78: "☒",
    0x9F: "•",
    0xA7: "▪",
    0xA8: "☐",
    0xD8: "➢",
    0xDF: "←",
    0xE0: "→",
    0xE1: "↑",
    0xE2: "↓",
    0xE8: "➔",
    0xEF: "⇦",
    0xF0: "⇨",
    0xFB: "✗",
    0xFC: "✓",
    0xFD: "☒",
    0xFE: "☑",
}
# Zapf Dingbats where Unicode's block of them does not follow it (ADOBE/zdingbat.txt).
_DINGBATS = {
    0x25: "☎",
    0x2A: "☛",
    0x2B: "☞",
    0x48: "★",
    0x6C: "●",
    0x6E: "■",
    0x73: "▲",
    0x74: "▼",
    0x75: "◆",
    0x77: "◗",
    **dict(zip(range(0xA8, 0xB6), "♣♦♥♠①②③④⑤⑥⑦⑧⑨⑩", strict=True)),
    **dict(zip(range(0xD5, 0xD8), "→↔↕", strict=True)),
}


def symbol(code: int, font: str) -> str:
    """The character that a code (0x20..0xFF, or moved to U+F000) of a symbol font shows.

    "" where only the font knows.
    """
    if 0xF000 <= code <= 0xF0FF:
        code -= 0xF000
    elif 0xE000 <= code < 0xF900:
        return ""
    font = font.lower()
    if font == "symbol":
        if code < 0x80:
            return _SYMBOL[code - 0x20 : code - 0x1F].strip("\x00") if code >= 0x20 else ""
        return _SYMBOL_HIGH[code - 0xA0 : code - 0x9F].strip("\x00") if code >= 0xA0 else ""
    if font.startswith("wingdings"):
        return _WINGDINGS.get(code, "") if font == "wingdings" else _second(code)
    if font.endswith("dingbats"):
        return _DINGBATS.get(code, "") or _dingbat(code)
    return chr(code) if code < 0xD800 else ""


def _dingbat(code: int) -> str:
    if 0x21 <= code <= 0x7E:
        return chr(0x2701 + code - 0x21)
    return chr(0x2761 + code - 0xA1) if 0xA1 <= code <= 0xFE else ""


def _second(code: int) -> str:
    """Wingdings 2: ticks and boxes of forms."""
    return {0x50: "✓", 0x4F: "✗", 0x51: "☒", 0x52: "☑", 0x53: "☒", 0xA3: "☐"}.get(code, "")
