"""Numbers as lists show them: letters, Roman, Korean, Chinese and Japanese numerals."""

from __future__ import annotations

_GANADA = "가나다라마바사아자차카타파하"
_CHOSUNG = "ㄱㄴㄷㄹㅁㅂㅅㅇㅈㅊㅋㅌㅍㅎ"
_AIUEO = (
    "アイウエオカキクケコサシスセソタチツテトナニヌネノハヒフヘホマミムメモヤユヨラリルレロワヲン"
)
_IROHA = (
    "イロハニホヘトチリヌルヲワカヨタレソツネナラムウヰノオクヤマ"
    "ケフコエテアサキユメミシヱヒモセスン"
)
_STEMS = "甲乙丙丁戊己庚辛壬癸"
_RUSSIAN = "абвгдежзиклмнопрстуфхцчшщыэюя"
_ROWS = {
    "ganada": _GANADA,
    "chosung": _CHOSUNG,
    "aiueo": _AIUEO,
    "aiueoFullWidth": _AIUEO,
    "iroha": _IROHA,
    "irohaFullWidth": _IROHA,
    "ideographTraditional": _STEMS,
    "ideographZodiac": "子丑寅卯辰巳午未申酉戌亥",
    "russianLower": _RUSSIAN,
    "russianUpper": _RUSSIAN.upper(),
    "chicago": "*†‡§",
}
# Digits and the words for 10, 100, 1000.
_HANJA = ("〇一二三四五六七八九", "十百千")
_HANGUL = ("영일이삼사오육칠팔구", "십백천")
_COUNTED = {
    "koreanCounting": _HANGUL,
    "chineseCounting": _HANJA,
    "chineseCountingThousand": _HANJA,
    "taiwaneseCounting": _HANJA,
    "taiwaneseCountingThousand": _HANJA,
    "japaneseCounting": _HANJA,
}
_DIGITS = {
    "koreanDigital": _HANGUL[0],
    "koreanDigital2": _HANJA[0],
    "ideographDigital": _HANJA[0],
    "japaneseDigitalTenThousand": _HANJA[0],
    "taiwaneseDigital": _HANJA[0],
    "decimalFullWidth": "０１２３４５６７８９",
    "decimalFullWidth2": "０１２３４５６７８９",
}
_NATIVE_TENS = ("", "열", "스물", "서른", "마흔", "쉰", "예순", "일흔", "여든", "아흔")
_NATIVE = ("", "하나", "둘", "셋", "넷", "다섯", "여섯", "일곱", "여덟", "아홉")
_ROMAN = (
    (1000, "m"),
    (900, "cm"),
    (500, "d"),
    (400, "cd"),
    (100, "c"),
    (90, "xc"),
    (50, "l"),
    (40, "xl"),
    (10, "x"),
    (9, "ix"),
    (5, "v"),
    (4, "iv"),
    (1, "i"),
)


def shown(number: int, kind: str) -> str:
    """A number in one of Word's formats (ECMA-376 part 1, 17.18.59); decimal for the rare ones."""
    if number < 1:
        return str(number)
    if kind in ("lowerLetter", "upperLetter"):
        # Word goes on with aa, bb, cc.
        letter = chr(ord("a") + (number - 1) % 26) * min((number - 1) // 26 + 1, 10)
        return letter if kind == "lowerLetter" else letter.upper()
    if kind in ("lowerRoman", "upperRoman"):
        roman = roman_numeral(number)
        return roman if kind == "lowerRoman" else roman.upper()
    if row := _ROWS.get(kind):
        return row[(number - 1) % len(row)]
    if digits := _DIGITS.get(kind):
        return "".join(digits[int(one)] for one in str(number))
    if counted := _COUNTED.get(kind):
        return _counted(number, *counted)
    return _other(number, kind)


def _other(number: int, kind: str) -> str:
    if kind.startswith(("decimalEnclosedCircle", "ideographEnclosedCircle")) and number <= 20:
        return chr(0x245F + number)
    if kind == "koreanLegal" and number < 100:
        return _NATIVE_TENS[number // 10] + _NATIVE[number % 10]
    if kind == "ordinal":
        teen = number % 100 in (11, 12, 13)
        return f"{number}{'th' if teen else {1: 'st', 2: 'nd', 3: 'rd'}.get(number % 10, 'th')}"
    styles = {"decimalZero": "{:02d}", "hex": "{:X}", "numberInDash": "- {} -"}
    return styles.get(kind, "{}").format(number)


def roman_numeral(number: int) -> str:
    """Small letters; past 10,999 the thousands stay ten, since a number of a file may be any."""
    out = ""
    for value, letters in _ROMAN:
        count, number = divmod(number, value)
        out += letters * min(count, 10)
    return out


def _counted(number: int, digits: str, powers: str) -> str:
    """십이, 二十三: a leading one is left out; only below ten thousand."""
    if number >= 10_000:
        return str(number)
    out = ""
    for power in (3, 2, 1, 0):
        digit = number // 10**power % 10
        if digit:
            one = digit == 1 and power > 0
            out += ("" if one else digits[digit]) + (powers[power - 1] if power else "")
    return out
