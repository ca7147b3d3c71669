"""The numbers that Hangul shows before outline and list paragraphs, counted as Hangul counts."""

from __future__ import annotations

import re
from collections import defaultdict

from seoga_extraction.formats._hancom.model import Head, Level, Styles
from seoga_extraction.numerals import roman_numeral

# In the order of their codes in HWP 5 (its table "number shapes"); HWPX writes the names.
SHAPES = (
    "DIGIT",
    "CIRCLED_DIGIT",
    "ROMAN_CAPITAL",
    "ROMAN_SMALL",
    "LATIN_CAPITAL",
    "LATIN_SMALL",
    "CIRCLED_LATIN_CAPITAL",
    "CIRCLED_LATIN_SMALL",
    "HANGUL_SYLLABLE",
    "CIRCLED_HANGUL_SYLLABLE",
    "HANGUL_JAMO",
    "CIRCLED_HANGUL_JAMO",
    "HANGUL_PHONETIC",
    "IDEOGRAPH",
    "CIRCLED_IDEOGRAPH",
)
_ROWS = {
    "CIRCLED_DIGIT": "①②③④⑤⑥⑦⑧⑨⑩⑪⑫⑬⑭⑮⑯⑰⑱⑲⑳",
    "LATIN_CAPITAL": "ABCDEFGHIJKLMNOPQRSTUVWXYZ",
    "LATIN_SMALL": "abcdefghijklmnopqrstuvwxyz",
    "CIRCLED_LATIN_CAPITAL": "ⒶⒷⒸⒹⒺⒻⒼⒽⒾⒿⓀⓁⓂⓃⓄⓅⓆⓇⓈⓉⓊⓋⓌⓍⓎⓏ",
    "CIRCLED_LATIN_SMALL": "ⓐⓑⓒⓓⓔⓕⓖⓗⓘⓙⓚⓛⓜⓝⓞⓟⓠⓡⓢⓣⓤⓥⓦⓧⓨⓩ",
    "HANGUL_SYLLABLE": "가나다라마바사아자차카타파하거너더러머버서어저처커터퍼허",
    "CIRCLED_HANGUL_SYLLABLE": "㉮㉯㉰㉱㉲㉳㉴㉵㉶㉷㉸㉹㉺㉻",
    "HANGUL_JAMO": "ㄱㄴㄷㄹㅁㅂㅅㅇㅈㅊㅋㅌㅍㅎ",
    "CIRCLED_HANGUL_JAMO": "㉠㉡㉢㉣㉤㉥㉦㉧㉨㉩㉪㉫㉬㉭",
    "HANGUL_PHONETIC": "일이삼사오육칠팔구십",
    "IDEOGRAPH": "一二三四五六七八九十",
    "CIRCLED_IDEOGRAPH": "㊀㊁㊂㊃㊄㊅㊆㊇㊈㊉",
}
MAX_LEVEL = 9
_PLACE = re.compile(r"\^(10|[1-9])")
_WHOLE = re.compile(r"\^[nN]\.?")


class Counters:
    """Counts the items of every list of a document, in the order they stand."""

    def __init__(self, styles: Styles) -> None:
        self._styles = styles
        self._counts: dict[tuple[str, int], dict[int, int]] = defaultdict(dict)

    def mark(self, head: Head) -> str:
        """The mark of the next item: "-" for a bullet, "3." or "2.1" for a number, "" for none."""
        if head.kind == "bullet":
            return "-"
        levels = self._styles.levels.get(head.list_id)
        if not head.kind or levels is None:
            return ""
        depth = min(head.level, MAX_LEVEL)
        own = levels.get(depth, Level())
        counts = self._counts[head.kind, head.list_id]
        counts[depth] = counts.get(depth, own.start - 1) + 1
        for deeper in [one for one in counts if one > depth]:
            del counts[deeper]

        def shown_at(level: int) -> str:
            definition = levels.get(level, Level())
            return shown(counts.get(level, definition.start), definition.shape)

        # "^n" stands for the numbers of all levels down to this one.
        whole = ".".join(shown_at(level) for level in range(depth + 1))
        text = _WHOLE.sub(f"{whole}.", own.text)
        return _PLACE.sub(lambda found: shown_at(int(found[1]) - 1), text).strip()


def shown(number: int, shape: str) -> str:
    """A number in one of Hangul's shapes; in digits past the end of a row and for rare shapes."""
    if 1 <= number < 4000 and shape.startswith("ROMAN"):
        roman = roman_numeral(number)
        return roman.upper() if shape == "ROMAN_CAPITAL" else roman
    row = _ROWS.get(shape, "")
    return row[number - 1] if 1 <= number <= len(row) else str(number)
