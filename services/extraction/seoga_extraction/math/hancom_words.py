"""Words of the Hancom equation language, by what they do.

Source: Hancom's published description of the equation part of its file formats (revision 1.3) and
the EQN language that it names as its model. Words count in any case, except where case tells two
signs apart: arrows, bars, Greek letters, functions.
"""

from __future__ import annotations

from enum import Enum, auto
from typing import NamedTuple

from seoga_extraction.math.latex import words


class Does(Enum):
    """What a word does; the parser has one method for each."""

    SIGN = auto()  # a letter-like sign: part of a term
    OPERATOR = auto()  # a relation, an arrow, a binary operator: ends a term
    BIG = auto()  # takes limits below and above
    FUNCTION = auto()
    RAISED = auto()  # a superscript of its own, as a degree sign
    ACCENT = auto()
    FRACTION = auto()
    SCRIPT = auto()
    PRESCRIPT = auto()
    LIMIT = auto()
    ROOT = auto()
    BINOMIAL = auto()
    MATRIX = auto()
    COLUMN = auto()
    LINES = auto()
    LEFT = auto()
    RIGHT = auto()
    BIGG = auto()
    BRACE = auto()
    RELATION = auto()
    NOT = auto()
    STYLE = auto()
    DROP = auto()  # its arguments say how, not what
    DIVISION = auto()
    LADDER = auto()
    OF = auto()
    DELIMITER = auto()


class Word(NamedTuple):
    """What a word does, and the LaTeX (or detail) to do it with."""

    does: Does
    value: str = ""


def _same(does: Does, row: str) -> dict[str, Word]:
    return {word.upper(): Word(does, "\\" + word) for word in row.split()}


def _pairs(does: Does, pairs: str) -> dict[str, Word]:
    entries = (line.split() for line in pairs.strip().splitlines())
    return {word: Word(does, value) for line in entries for word, value in _twos(line)}


def _twos(line: list[str]) -> list[tuple[str, str]]:
    return list(zip(line[::2], line[1::2], strict=True))


GREEK = words(
    "alpha beta gamma delta epsilon zeta eta theta iota kappa lambda mu nu xi omicron pi rho sigma"
    " tau upsilon phi chi psi omega"
)
# LaTeX has commands only for the capitals that differ from Latin ones.
LATIN_CAPITALS = {
    "alpha": "A",
    "beta": "B",
    "epsilon": "E",
    "zeta": "Z",
    "eta": "H",
    "iota": "I",
    "kappa": "K",
    "mu": "M",
    "nu": "N",
    "omicron": "O",
    "rho": "P",
    "tau": "T",
    "chi": "X",
}

_SIGNS = _same(
    Does.SIGN,
    "aleph hbar imath jmath ell wp vartheta varpi varsigma varphi varepsilon varrho varkappa"
    " emptyset forall partial nabla angle bot top triangle bullet bigstar cdots ldots vdots ddots"
    " infty therefore because",
) | _pairs(
    Does.SIGN,
    r"""
OHM \Omega LITER \ell IMAG \Im IMAGE \Im REIMAGE \Re ANGSTROM Å VARUPSILON \varUpsilon INF \infty
EXIST \exists EXISTS \exists NEXIST \nexists STAR \bigstar BIGCIRC \bigcirc DEL \nabla
TRIANGLED \triangledown TRIANGLEL \triangleleft TRIANGLER \triangleright LAPLACE \mathcal{L}
MSANGLE \measuredangle SANGLE \sphericalangle RTANGLE \sphericalangle LNOT \lnot NEG \neg
DOTS \ldots DOTSAXIS \cdots DOTSLOW \ldots DOTSVERT \vdots DOTSDIAG \ddots
ATT ※ HUND ‰ THOU ‱ WELL \# BASE ⌂ BENZENE ⌬ LINE |
""",
)
_OPERATORS = _same(
    Does.OPERATOR,
    "times div cap cup sqcap sqcup oplus ominus otimes odot oslash vee wedge subset supset subseteq"
    " supseteq in owns notin leq geq le ge sqsubset sqsupset sqsubseteq sqsupseteq lll ggg ll gg"
    " prec succ preceq succeq uplus circ ast cdot neq ne doteq sim approx simeq cong equiv asymp"
    " diamond propto dagger ddagger nwarrow searrow nearrow swarrow mapsto vdash dashv models"
    " parallel perp land lor amalg wr bigtriangleup bigtriangledown nsubseteq nsupseteq",
) | _pairs(
    Does.OPERATOR,
    r"""
PLUSMINUS \pm MINUSPLUS \mp DIVIDE \div IDENTICAL \equiv ISO \Bumpeq DSUM \dotplus XOR \veebar
SMALLUNION \cup SMALLINTER \cap SUPERSET \supset NSUBSET \not\subset NSUPSET \not\supset
HOOKLEFT \hookleftarrow HOOKRIGHT \hookrightarrow HLEFT \dashv ODIV \oslash
LSLANT \diagup RSLANT \diagdown EXARROW \rightleftarrows LRHARPOON \rightleftharpoons
""",
)
_BIG = _pairs(
    Does.BIG,
    r"""
SUM \sum PROD \prod COPROD \coprod INT \int DINT \iint TINT \iiint OINT \oint ODINT \oiint
OTINT \oiiint INTER \bigcap UNION \bigcup BIGCAP \bigcap BIGCUP \bigcup BIGSQCUP \bigsqcup
BIGOPLUS \bigoplus BIGOTIMES \bigotimes BIGODOT \bigodot BIGUPLUS \biguplus BIGVEE \bigvee
BIGWEDGE \bigwedge BIGSQCAP ⨅ BIGOMINUS \ominus BIGODIV \oslash SMALLSUM \sum SMALLPROD \prod
SMCOPROD \coprod SMALLCOPROD \coprod SMALLINT \int SMALLOINT \oint
""",
)
_ACCENTS = _pairs(
    Does.ACCENT,
    r"""
VEC \overrightarrow DYAD \overleftrightarrow ACUTE \acute GRAVE \grave DOT \dot DDOT \ddot
UNDER \underline BAR \overline HAT \widehat CHECK \check ARCH \overset{\frown} TILDE \widetilde
BOX \boxed DDDOT \dddot DOTDOT \ddot
""",
)
_STRUCTURE = {
    "OVER": Word(Does.FRACTION, "over"),
    "ATOP": Word(Does.FRACTION, "atop"),
    "CHOOSE": Word(Does.FRACTION, "choose"),
    "BINOM": Word(Does.BINOMIAL),
    "SUB": Word(Does.SCRIPT, "_"),
    "SUP": Word(Does.SCRIPT, "^"),
    "LSUB": Word(Does.PRESCRIPT, "_"),
    "LSUP": Word(Does.PRESCRIPT, "^"),
    "FROM": Word(Does.LIMIT, "_"),
    "TO": Word(Does.LIMIT, "^"),
    "SQRT": Word(Does.ROOT),
    "ROOT": Word(Does.ROOT),
    "OF": Word(Does.OF),
    "MATRIX": Word(Does.MATRIX, "matrix"),
    "PMATRIX": Word(Does.MATRIX, "pmatrix"),
    "BMATRIX": Word(Does.MATRIX, "bmatrix"),
    "DMATRIX": Word(Does.MATRIX, "vmatrix"),
    "CASES": Word(Does.MATRIX, "cases"),
    "PILE": Word(Does.MATRIX, "matrix"),
    "LPILE": Word(Does.MATRIX, "matrix"),
    "CPILE": Word(Does.MATRIX, "matrix"),
    "RPILE": Word(Does.MATRIX, "matrix"),
    "EQALIGN": Word(Does.LINES),
    "COL": Word(Does.COLUMN),
    "LCOL": Word(Does.COLUMN),
    "CCOL": Word(Does.COLUMN),
    "RCOL": Word(Does.COLUMN),
    "LEFT": Word(Does.LEFT),
    "RIGHT": Word(Does.RIGHT),
    "BIGG": Word(Does.BIGG),
    "OVERBRACE": Word(Does.BRACE, "^"),
    "UNDERBRACE": Word(Does.BRACE, "_"),
    "REL": Word(Does.RELATION, "2"),
    "BUILDREL": Word(Does.RELATION, "1"),
    "NOT": Word(Does.NOT),
    "RM": Word(Does.STYLE, "\\mathrm"),
    "IT": Word(Does.STYLE),
    "BOLD": Word(Does.STYLE, "\\mathbf"),
    "COLOR": Word(Does.DROP, "group"),
    "SCALE": Word(Does.DROP, "number"),
    "SIZE": Word(Does.DROP, "number"),
    "UNDEROVER": Word(Does.DROP),
    "LONGDIV": Word(Does.DIVISION),
    "LADDER": Word(Does.LADDER),
    "SLADDER": Word(Does.LADDER),
    "CENTIGRADE": Word(Does.RAISED, "C"),
    "FAHRENHEIT": Word(Does.RAISED, "F"),
    "PRIME": Word(Does.RAISED, "'"),
}
# Brackets that words name; between LEFT and RIGHT they grow, alone they are signs.
DELIMITERS = {
    "LCEIL": "\\lceil",
    "RCEIL": "\\rceil",
    "LFLOOR": "\\lfloor",
    "RFLOOR": "\\rfloor",
    "DLINE": "\\Vert",
    "LINE": "|",
    "LBRACE": "\\{",
    "RBRACE": "\\}",
    "LANGLE": "\\langle",
    "RANGLE": "\\rangle",
    "UPARROW": "\\uparrow",
    "DOWNARROW": "\\downarrow",
}
_SHOWN = {word: Word(Does.DELIMITER, latex) for word, latex in DELIMITERS.items()}
ANY_CASE = _SHOWN | _SIGNS | _OPERATORS | _BIG | _ACCENTS | _STRUCTURE

_FUNCTION_NAMES = words(
    "sin cos tan cot sec csc cosec sinh cosh tanh coth arcsin arccos arctan asin acos atan arc log"
    " ln lg exp Exp max min lim Lim det gcd lcm mod arg dim hom ker deg Pr"
)
# Words set upright that read as words, not as functions.
_ROMAN_WORDS = ("if", "for", "and")
_CASED_ARROWS = {
    "LARROW": "leftarrow",
    "RARROW": "rightarrow",
    "UPARROW": "uparrow",
    "DOWNARROW": "downarrow",
    "UDARROW": "updownarrow",
    "LRARROW": "leftrightarrow",
}
EXACT = {
    **{name: Word(Does.FUNCTION, name) for name in _FUNCTION_NAMES},
    **{name: Word(Does.FUNCTION, "\\text") for name in _ROMAN_WORDS},
    **{word: Word(Does.OPERATOR, f"\\{arrow.title()}") for word, arrow in _CASED_ARROWS.items()},
    **{word.lower(): Word(Does.OPERATOR, f"\\{to}") for word, to in _CASED_ARROWS.items()},
    "vert": Word(Does.SIGN, "\\vert"),
    "VERT": Word(Does.SIGN, "\\Vert"),
    "DEG": Word(Does.RAISED, "\\circ"),
    "Deg": Word(Does.RAISED, "\\circ"),
}
# `sinx` is the sine of x: these names count with one letter, or a Greek one, right after them.
PREFIXES = sorted(
    words("arcsin arccos arctan sinh cosh tanh coth cosec sin cos tan cot sec csc log ln exp"),
    key=len,
    reverse=True,
)
SIGNS = {
    "<->": "\\leftrightarrow",
    "<=>": "\\Leftrightarrow",
    "<<<": "\\lll",
    ">>>": "\\ggg",
    "...": "\\ldots",
    "->": "\\rightarrow",
    "<-": "\\leftarrow",
    "=>": "\\Rightarrow",
    "<=": "\\leq",
    ">=": "\\geq",
    "!=": "\\neq",
    "==": "\\equiv",
    "+-": "\\pm",
    "-+": "\\mp",
    "<<": "\\ll",
    ">>": "\\gg",
}
EXTENDED = {
    "\\leftrightarrow": "\\xleftrightarrow",
    "\\rightarrow": "\\xrightarrow",
    "\\leftarrow": "\\xleftarrow",
    "\\Leftrightarrow": "\\xLeftrightarrow",
    "\\Rightarrow": "\\xRightarrow",
    "\\Leftarrow": "\\xLeftarrow",
    "\\rightleftarrows": "\\xrightleftharpoons",
    "\\rightleftharpoons": "\\xrightleftharpoons",
    "\\mapsto": "\\xmapsto",
    "\\hookleftarrow": "\\xhookleftarrow",
    "\\hookrightarrow": "\\xhookrightarrow",
}


def find(word: str) -> Word | None:
    """The entry of a run of Latin letters, or None when it is just letters."""
    entry = EXACT.get(word) or ANY_CASE.get(word.upper())
    if entry is not None:
        return entry
    lower = word.lower()
    if lower not in GREEK:
        return None
    if word[0].islower():
        return Word(Does.SIGN, f"\\{lower}")
    return Word(Does.SIGN, LATIN_CAPITALS.get(lower, f"\\{lower.title()}"))
