"""The closed classes of Korean and English: words that a language has no new ones of, in the forms
that questions give them. No noun that names a subject and no verb of a thing done is among them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

# With any chain of particles and endings of the copula behind them.
_PRONOUNS: Final = (
    "얼마 얼마나 언제 어디 누구 무엇 무어 뭐 뭣 며칠 어느것 어느쪽 어떤것 이것 그것 저것 이거"
    " 그거 저거 여기 거기 저기 우리 저희 너희 누군가 뭔가 것 거 때"
)
_COUNTED: Final = (
    "개 명 번 시 분 일 월 년 달 주 회 살 장 권 대 건 층 원 배 점 차 호 쪽 초 시간 개월"
    " 가지 퍼센트 사람 년도 주일"
)
_TAILS: Final = (
    "은 는 이 가 을 를 의 에 와 과 도 로 만 랑 께 에서 으로 까지 부터 에게 한테 처럼 보다 마다"
    " 이랑 나 이나 든 든지 이든 이든지 라도 이라도 란 이란 라는 이라는 정도 쯤 씩 만큼 대로 요"
    " 이요 인가 인가요 인지 인지요 입니까 입니다 일까 일까요 이죠 죠 이지 지 이야 예요 이에요"
    " 에요 였나 였나요 이었나 이었나요 였는지 이었는지 인데 인데요 이며 이고 고 라고 이라고 냐 이냐"
    " 서"
)
_SHORT: Final = (
    "얼마야 누구야 언제야 뭐야"
    "왜 왜요 왜냐면 왜냐하면 몇 무슨 어느 어떤 어떠한 어떻게 어떡해 어떠 어때 어때요 어떤가"
    " 어떤가요 어떤지 어떨까 어떨까요 어떻습니까 어찌 뭘 뭔 뭔데 누가 누굴 어딜 어딘가요 어딘지"
    " 언젠가 얼만가요 얼만지 이 그 저 이런 그런 저런 이렇게 그렇게 저렇게 그리고 그러면 그럼"
    " 그런데 근데 그래서 하지만 또는 혹은 및 등 즉 제가 내가 네가 수가 수는 수도"
    " 남은 남는 모든 여러 다른 같은 가장 제일 매우 아주 너무"
)
# Verbs that only carry another word: stem forms and the endings that each may have.
_AFTER_VOWEL: Final = (
    "나 나요 는 는지 는지요 는가 는가요 는데 는데요 면 며 고 지 지요 죠 려면 려고 도록 다 니 니까"
)
_AFTER_CONSONANT: Final = (
    "나 나요 는지 는지요 는가 는가요 는데 는데요 을 을까 을까요 을지 습니까 습니다 다 다면 다는 어"
    " 어요 어서 어야 어도 으면 으며 으니 으니까 으려면 던 던가 던가요 지 지요 죠 고 거나"
)
_CARRIERS: Final = (
    ("하 되", _AFTER_VOWEL),
    ("하", "여 여야 였나 였나요 셨나요 시나요"),
    ("되", "어 어야 어서 어도"),
    ("해 돼", "요 야 서 야지 야죠 야하나 야하나요 야하는지 야합니까 야해요 야될까요 야되나요"),
    ("할 될", "까 까요 지 지요 수 수록"),
    ("한 된", "다 다면 다는 다고 가 가요 지요 데"),
    ("합 됩 아닙", "니까 니다"),
    ("했 됐 하였 되었 있었 없었 싶었 않았", _AFTER_CONSONANT),
    ("있 없 않", f"{_AFTER_CONSONANT} 는 은 게 지만 음 네 네요 을지요 겠나 겠나요 겠습니까"),
    ("싶", "은 은데 은데요 어 어요 습니다 다 다면 으면 을 고 은지"),
    ("아니", "면 다 고 라 라면 어도 요"),
    ("아닌", "가 가요 지 지요 데"),
    ("쓰", "나 나요 는 는지 는가 면 려면 려고"),
    ("쓸", "까 까요 지 수"),
    ("써", "야 도 요 서"),
    ("보", "나 나요 는지 려면 려고 면"),
    ("볼", "까 까요 수"),
    ("봐", "야 도 요"),
    ("주", "나 나요 는지 는가 면 세요 십시오 시나요 실래요 시겠어요 려면"),
    ("줄", "까 까요 수 래 래요"),
    ("줘 줘야 줍 준", "요 니까 다 다면 야 하나요"),
    ("알", "고 아 아야 려면 려 려줘 려줘요 려주세요 려주십시오 수 고싶어요 고싶습니다"),
    ("아", "나요 는지 시나요 세요"),
    ("말하", "나 나요 는 는지 는가 면 려면"),
    ("말해", "줘 줘요 주세요 주십시오 야 요"),
    ("말합", "니까 니다"),
    ("모르", "나 나요 는데 는지 면 겠어요 겠습니다"),
    ("수있 수없", _AFTER_CONSONANT + " 는 는지"),
    ("할수있 될수있 쓸수있 알수있 볼수있", _AFTER_CONSONANT + " 는 는지"),
)
_BARE: Final = "할 될 한 된 쓸 줘 써 해 돼 알려 알려줘 알려주세요 가르쳐줘 가르쳐주세요 아니 아닌"

_ENGLISH: Final = (
    "a an the this that these those is are was were be been being am do does did done doing have"
    " has had having can could may might must shall should will would ought what which who whom"
    " whose when where why how whether i me my mine myself we us our ours you your yours he him"
    " his she her hers it its they them their theirs one ones someone somebody something anyone"
    " anybody anything everyone everybody everything nobody nothing there here each every either"
    " neither all any some such another other others of in on at to for from by with about into"
    " over under than then between through during within without upon onto among since until till"
    " while because although though unless if and or nor but not no so as too also just only ever"
    " please tell know let say says said want wants like get gets got"
)
_WHOLE: Final = frozenset(["can't", "won't", "shan't", "ain't", "don't", "let's"])
_SHORTENED: Final = re.compile(r"(.+?)(?:n't|'(?:s|re|ve|ll|d|m|t))")

_PRONOUN_WORDS: Final = frozenset(_PRONOUNS.split())
_TAIL_WORDS: Final = frozenset(_TAILS.split())
_ENGLISH_WORDS: Final = frozenset(_ENGLISH.split())


def _conjugated() -> Iterator[str]:
    for stems, endings in _CARRIERS:
        for stem in stems.split():
            yield from (stem + ending for ending in endings.split())


_KNOWN: Final = frozenset([*_SHORT.split(), *_BARE.split(), *_conjugated()])
_COUNTS: Final = tuple(sorted((f"몇{each}" for each in _COUNTED.split()), key=len, reverse=True))


def is_korean_grammar(run: str) -> bool:
    """True for a Hangul word that asks, points or carries, with whatever is glued behind it."""
    if run in _KNOWN:
        return True
    heads = [run[:size] for size in (1, 2, 3) if run[:size] in _PRONOUN_WORDS]
    heads += [each for each in _COUNTS if run.startswith(each)]
    return any(_is_tail(run[len(head) :]) for head in heads)


def _is_tail(rest: str) -> bool:
    """True for a chain of particles and endings; "" is one."""
    cuts = range(1, len(rest) + 1)
    return not rest or any(rest[:at] in _TAIL_WORDS and _is_tail(rest[at:]) for at in cuts)


def is_english_grammar(word: str) -> bool:
    """True for a word of the closed classes of English, shortened ones among them."""
    plain = word.casefold().replace("’", "'").strip("'")
    if plain in _ENGLISH_WORDS or plain in _WHOLE:
        return True
    short = _SHORTENED.fullmatch(plain)
    return short is not None and short.group(1) in _ENGLISH_WORDS
