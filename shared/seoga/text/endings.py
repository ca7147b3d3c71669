"""Grammar in a query: tokens of particles, verb endings and function words, which ask for nothing.

A Hangul bigram that reaches into an ending (the last of `보고서는`, three of the four of
`롤백하려면`) says little of what is looked for, yet a small index has often never seen it and would
hold it for the rarest word of the question.
"""

from __future__ import annotations

import re
from typing import Final

from seoga.text.closed import is_english_grammar, is_korean_grammar
from seoga.text.normal import compatible
from seoga.text.tokens import query_terms

_RUN = re.compile("[가-힣]+")
_LATIN = re.compile(r"[A-Za-z'’]+")

_PARTICLES: Final = (
    "은 는 이 가 을 를 의 에 와 과 도 로 만 랑 께 에서 으로 까지 부터 에게 한테 처럼 보다"
    " 마다 이랑 에는 에도 에만 에서는 에서도 에게는 으로는 로는 까지는 부터는 만은 이나 이란"
    " 라는 이라는 조차 은요 는요 들은 들이 들을 들의 께서 만큼 대로 밖에 이고 이며 이면 인지"
)
_ENDINGS: Final = (
    "하려면 하면 하는 하고 하여 하나 하나요 하는지 하는가 합니까 합니다 하지 하죠 해야"
    " 해야지 해도 했나요 했을 할까 할까요 한다 한다면 하려고 할 한 해 되나요 되나 되는 되면"
    " 됩니까 된다 되었나 될까요 되는지 돼요 되지 되어 인가요 인가 인데 입니까 입니다 이죠"
    " 이야 나요 는가 는지 습니까 습니다 을까요 을까 을 어야 아야 려면 으려면 으면 면 었나요"
    " 았나요 었을 았을 었던 았던 었다 았다 어도 아도 어서 아서 으니 는데 은데 던가 던 지요"
    " 죠 까요 까 거나 면서 으며 며 라면 도록 려고 으려고 세요 십시오"
)
_FUNCTION: Final = (
    "수 것 것은 것이 것을 무엇 무엇인가 무엇인가요 무엇을 무엇이 뭐 뭐야 뭔가요 어떻게 어떤"
    " 어느 어디 어디에 어디서 어디에서 언제 언제까지 언제부터 누가 누구 누구에게 누구인가 왜"
    " 얼마 얼마나 얼마인가요 얼마죠 몇 며칠 무슨 있나 있나요 있는 있는가 있는지 있습니까"
    " 있을까요 있어 있다 없나요 없는 없다 없이 하나요 합니까 하는 한 할 해 해야 되나요 되는"
    " 됩니까 된 될 그 이 저 그리고 또는 및 때 때에 때는 위해 위한 대해 대한 관한 관해 따라"
    " 따른 통해 경우 경우에 안 못 잘 더 좀 다 모두 알려줘 알려주세요"
)
# A question's own endings behind a syllable with this final consonant, which is a part of them.
_FUSED: Final = (("가요", 4), ("까", 8), ("까요", 8), ("니까", 17), ("니다", 17))
_CLOSING: Final = ("인가요", "나요", "습니까", "습니다")
_SUFFIXES: Final = frozenset(f"{_PARTICLES} {_ENDINGS}".split())
_LONGEST: Final = max(map(len, _SUFFIXES))
_WORDS: Final = frozenset(_FUNCTION.split())


def grammar_terms(text: str) -> frozenset[str]:
    """Those terms of a query that are nothing but grammar wherever they stand in it."""
    soft: set[str] = set()
    hard: set[str] = set()
    clean = compatible(text)
    for run in _RUN.findall(clean):
        kept = 0 if _asks_nothing(run) else len(run)
        kept = min(kept, stem_length(run))
        for at, token in enumerate(query_terms_in_order(run)):
            (hard if at + 2 <= kept or (len(run) == 1 and kept) else soft).add(token)
    for word in _LATIN.findall(clean):
        (soft if is_english_grammar(word) else hard).update(query_terms(word))
    return frozenset(soft - hard)


def content_words(text: str) -> list[frozenset[str]]:
    """The tokens of each word of a query that asks for something: of a Hangul word those of its
    stem. What holds only some of a word's bigrams holds another word."""
    out: list[frozenset[str]] = []
    for word in compatible(text).split():
        runs = (run for run in _RUN.findall(word) if not _asks_nothing(run))
        out += [frozenset(query_terms_in_order(run[: asking_length(run)])) for run in runs]
        rest = [part for part in _RUN.sub(" ", word).split() if not _is_function(part)]
        out += [frozenset(query_terms(part)) for part in rest]
    return [word for word in dict.fromkeys(out) if word]


def _is_function(word: str) -> bool:
    return is_english_grammar(word.strip(".,;:!?()[]\"'"))


def _asks_nothing(run: str) -> bool:
    return run in _WORDS or is_korean_grammar(run)


def query_terms_in_order(run: str) -> list[str]:
    """The bigrams of a Hangul run, repeats kept; a lone syllable is itself."""
    return [run] if len(run) == 1 else [run[at : at + 2] for at in range(len(run) - 1)]


def asking_length(run: str) -> int:
    """Syllables of a Hangul run before its ending, where a question's own endings may leave one
    syllable, and take the one that they are fused into: 2 of `희귀한가요`, 1 of `색인가요`."""
    kept = stem_length(run)
    for ending, final in _FUSED:
        before = len(run) - len(ending) - 1
        if before >= 0 and run.endswith(ending) and _final(run[before]) == final:
            kept = min(kept, before)
    for ending in _CLOSING:
        if run.endswith(ending):
            kept = min(kept, len(run) - len(ending))
    return max(kept, 1)


def _final(syllable: str) -> int:
    """The number of a syllable's final consonant (Unicode, section 3.12); 0 for none."""
    return (ord(syllable) - 0xAC00) % 28


def stem_length(run: str) -> int:
    """Syllables of a Hangul run before its longest ending. A stem has two at least: what would
    leave fewer is no ending."""
    for length in range(min(_LONGEST, len(run) - 2), 0, -1):
        if run[-length:] in _SUFFIXES:
            return len(run) - length
    return len(run)
