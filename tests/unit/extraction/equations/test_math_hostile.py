"""Equations that no one would write: bounded in time, never an exception, LaTeX that parses."""

from __future__ import annotations

import time
from collections.abc import Callable

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from lxml import etree

from seoga_extraction.math.hancom import MAX_SCRIPT, hancom_to_latex
from seoga_extraction.math.hancom_words import ANY_CASE, EXACT, GREEK, SIGNS
from seoga_extraction.math.omml import MAX_ELEMENTS, omml_to_latex
from seoga_extraction.math.omml_tables import ACCENTS, DELIMITERS, GROUPS
from seoga_extraction.math.symbols import SYMBOLS

M = "{http://schemas.openxmlformats.org/officeDocument/2006/math}"
FUZZ = settings(
    max_examples=200,
    deadline=None,
    derandomize=True,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture],
)
PIECES = [
    *(*ANY_CASE, *EXACT, *GREEK, *SIGNS),
    *"{}()[]^_&#~`'\"|/\\%$,.<>+-=!xyz125",
    *("{", "}", "_", "^", " ", "over", "sqrt", "left(", "matrix{", "한글", "α", "≤", "□", "\0"),
]
SCRIPTS = st.lists(
    st.tuples(st.sampled_from(PIECES), st.sampled_from(["", " "])).map("".join), max_size=30
).map("".join)


@given(SCRIPTS)
@FUZZ
def test_any_mix_of_words_and_signs_gives_latex_that_parses(
    assert_parses: Callable[[str], None], script: str
) -> None:
    assert_parses(hancom_to_latex(script))


@given(st.text(st.characters(), max_size=60))
@FUZZ
def test_any_text_as_a_script_gives_latex_that_parses(
    assert_parses: Callable[[str], None], script: str
) -> None:
    assert_parses(hancom_to_latex(script))


REPEATED = """
{ ( [ x^ x_1 x' x^a_b~ left( left{a left<- matrix{ matrix{col{a} cases{a# hat~ sqrt~ sqrt[~ root{
x~over~ (~over~ )~over~ 1~over~(x~ {x}^{y}~over~ x~lsub~y~ from~to~ rel~<->{ bigg( rm~it~ not~ "a
~ # & a#b& longdiv{1}{2}{ 한 underbrace{x}{ eqalign{a&=b# color{1}{ binom~
"""


@pytest.mark.parametrize("piece", REPEATED.split())
def test_a_piece_repeated_to_the_longest_script_ends_soon_and_parses(
    piece: str, assert_parses: Callable[[str], None]
) -> None:
    unit = piece.replace("~", " ")
    began = time.process_time()
    latex = hancom_to_latex(unit * (MAX_SCRIPT // len(unit)))
    assert time.process_time() - began < 5
    assert len(latex) < 20 * MAX_SCRIPT
    # The strict reader takes exponential time over many brackets without a partner.
    assert_parses(hancom_to_latex(unit * 12))


def test_a_script_beyond_the_limit_comes_back_as_text() -> None:
    latex = hancom_to_latex("x over y " * 10_000)
    assert latex.startswith(r"\text{x over y x over y")
    assert len(latex) < 100_000


def test_nesting_deeper_than_the_limit_keeps_its_words(mathml: Callable[[str], str]) -> None:
    latex = hancom_to_latex("{" * 200 + "깊은 곳" + "}" * 200)
    assert "깊은 곳" in latex
    assert "깊은" in mathml(latex)


OBJECTS = """
oMath oMathPara r t f num den sSup sSub sSubSup sPre e sub sup rad deg nary d m mr eqArr func fName
acc bar groupChr limLow limUpp lim box borderBox phant fPr naryPr dPr accPr groupChrPr borderBoxPr
phantPr radPr rPr chr begChr endChr sepChr pos type limLoc degHide scr sty nor
"""
VALUES = st.sampled_from(
    [
        *(*ACCENTS, *DELIMITERS, *(key for key, _ in GROUPS)),
        *("noBar", "lin", "skw", "top", "bot", "0", "1", "", "☃"),
        *("undOvr", "subSup", "script", "double-struck", "b", "bi", "p"),
    ]
)
TEXTS = st.text(
    st.sampled_from([*"abz019 &#%_^~{}\\$'\"[]()|/.,+-=<>", *SYMBOLS, "한", "ℝ", "𝐱", "①", "́"]),
    max_size=8,
)


def made(name: str, value: str | None, text: str, inner: list[etree._Element]) -> etree._Element:
    element = etree.Element(f"{M}{name}")
    if value is not None:
        element.set(f"{M}val", value)
    if name == "t":
        element.text = text
    element.extend(inner)
    return element


def built(inner: st.SearchStrategy[list[etree._Element]]) -> st.SearchStrategy[etree._Element]:
    values = st.none() | VALUES
    return st.builds(made, st.sampled_from(OBJECTS.split()), values, TEXTS, inner)


def run(text: str, style: str) -> etree._Element:
    properties = made("rPr", None, "", [made("sty", style, "", []), made("scr", style, "", [])])
    return made("r", None, "", [properties, made("t", None, text, [])])


LEAVES = st.builds(run, TEXTS, VALUES)
TREES = st.recursive(LEAVES, lambda below: built(st.lists(below, max_size=4)), max_leaves=25)


@given(st.lists(TREES, max_size=4))
@FUZZ
def test_any_tree_of_objects_gives_latex_that_parses(
    assert_parses: Callable[[str], None], trees: list[etree._Element]
) -> None:
    assert_parses(omml_to_latex(made("oMath", None, "", trees)))


def test_objects_nested_without_end_keep_their_words(
    assert_parses: Callable[[str], None],
) -> None:
    root = inner = etree.Element(f"{M}oMath")
    for _ in range(5000):
        inner = etree.SubElement(etree.SubElement(inner, f"{M}rad"), f"{M}e")
    inner.append(run("deep", ""))
    latex = omml_to_latex(root)
    assert "deep" in latex
    assert_parses(latex)


def test_an_equation_of_too_many_elements_comes_back_as_text(
    assert_parses: Callable[[str], None],
) -> None:
    root = etree.Element(f"{M}oMath")
    for _ in range(MAX_ELEMENTS + 1):
        root.append(run("x", ""))
    root.append(run("last", ""))
    latex = omml_to_latex(root)
    assert_parses(latex)
    assert latex == rf"\text{{{'x' * (MAX_ELEMENTS + 1)}last}}"


@pytest.mark.parametrize(
    ("character", "latex"), SYMBOLS.items(), ids=[f"{ord(c):x}" for c in SYMBOLS]
)
def test_every_command_for_a_sign_is_known_to_readers_of_latex(
    character: str, latex: str, assert_parses: Callable[[str], None]
) -> None:
    assert_parses(latex)
