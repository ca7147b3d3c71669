"""MathML to LaTeX: every construct, a way there and back, anything at all, pages and documents."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import latex2mathml.converter
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from lxml import etree

from seoga_extraction.math.mathml import MAX_ELEMENTS, mathml_to_latex

SPACE = "http://www.w3.org/1998/Math/MathML"
X, Y, N = "<mi>x</mi>", "<mi>y</mi>", "<mn>2</mn>"
CONSTRUCTS = {
    "<mfrac><mi>a</mi><mi>b</mi></mfrac>": r"\frac{a}{b}",
    '<mfrac linethickness="0"><mi>n</mi><mi>k</mi></mfrac>': r"{n \atop k}",
    "<msqrt><mi>x</mi><mo>+</mo><mn>1</mn></msqrt>": r"\sqrt{x+1}",
    "<mroot><mi>x</mi><mn>3</mn></mroot>": r"\sqrt[3]{x}",
    "<msup><mi>x</mi><mn>2</mn></msup>": "x^{2}",
    "<msub><mi>x</mi><mi>i</mi></msub>": "x_{i}",
    "<msubsup><mi>x</mi><mi>i</mi><mn>2</mn></msubsup>": "x_{i}^{2}",
    "<msup><mrow><mo>(</mo><mi>a</mi><mo>)</mo></mrow><mi>n</mi></msup>": "{(a)}^{n}",
    "<msup><mi>f</mi><mo>′</mo></msup>": "f'",
    "<munderover><mo>∑</mo><mrow><mi>i</mi><mo>=</mo><mn>1</mn></mrow><mi>n</mi></munderover>": (
        r"\sum_{i=1}^{n}"
    ),
    "<munder><mi>lim</mi><mrow><mi>x</mi><mo>→</mo><mn>0</mn></mrow></munder>": (
        r"\lim_{x\rightarrow0}"
    ),
    "<msubsup><mo>∫</mo><mn>0</mn><mi>∞</mi></msubsup>": r"\int_{0}^{\infty}",
    "<mover><mi>x</mi><mo>¯</mo></mover>": r"\overline{x}",
    "<mover accent='true'><mi>x</mi><mo>^</mo></mover>": r"\hat{x}",
    "<mover><mrow><mi>A</mi><mi>B</mi></mrow><mo>→</mo></mover>": r"\overrightarrow{AB}",
    "<munder><mrow><mi>a</mi><mo>+</mo><mi>b</mi></mrow><mo>⏟</mo></munder>": r"\underbrace{a+b}",
    "<mover><mo>=</mo><mtext>def</mtext></mover>": r"\overset{\text{def}}{=}",
    "<mi>sin</mi><mo>\u2061</mo><mi>x</mi>": r"\sin x",
    "<mi>velocity</mi>": r"\mathrm{velocity}",
    '<mi mathvariant="double-struck">R</mi>': r"\mathbb{R}",
    '<mi mathvariant="bold">v</mi>': r"\mathbf{v}",
    "<mi>α</mi><mo>≤</mo><mi>β</mi>": r"\alpha\leq\beta",
    "<mtext>속도 변화</mtext>": r"\text{속도 변화}",
    "<mo>{</mo><mi>x</mi><mo>}</mo>": r"\{x\}",
    '<mfenced open="[" close=")"><mi>a</mi><mi>b</mi></mfenced>': "[a,b)",
    "<mtable><mtr><mtd><mn>1</mn></mtd><mtd><mn>2</mn></mtd></mtr>"
    "<mtr><mtd><mn>3</mn></mtd><mtd><mn>4</mn></mtd></mtr></mtable>": (
        r"\begin{matrix} 1 & 2 \\ 3 & 4 \end{matrix}"
    ),
    "<mmultiscripts><mi>C</mi><mn>6</mn><none/><mprescripts/><none/><mn>14</mn></mmultiscripts>": (
        "{}^{14}C_{6}"
    ),
    '<menclose notation="box"><mi>x</mi></menclose>': r"\boxed{x}",
    "<semantics><mi>x</mi><annotation>ignored</annotation></semantics>": "x",
    "<mrow><mi>a</mi><mphantom><mi>b</mi></mphantom></mrow>": "a",
}


def element(inner: str, space: str = f' xmlns="{SPACE}"') -> etree._Element:
    return etree.fromstring(f"<math{space}>{inner}</math>")


@pytest.mark.parametrize(("inner", "latex"), CONSTRUCTS.items(), ids=list(CONSTRUCTS.values()))
@pytest.mark.parametrize("space", ["", f' xmlns="{SPACE}"'], ids=["bare", "namespace"])
def test_every_construct_has_its_latex(
    inner: str, latex: str, space: str, assert_parses: Callable[[str], None]
) -> None:
    assert mathml_to_latex(element(inner, space)) == latex
    assert_parses(latex)


@pytest.mark.parametrize(
    "latex",
    [
        r"x=\frac{-b\pm\sqrt{b^{2}-4ac}}{2a}",
        r"\sum_{n=1}^{\infty}\frac{1}{n^{2}}=\frac{\pi^{2}}{6}",
        r"\int_{0}^{1} f(x) dx",
        r"\begin{matrix} a & b \\ c & d \end{matrix}",
        r"\sqrt[3]{x+y}",
        r"\lim_{x\rightarrow\infty} f(x)",
    ],
)
def test_what_a_page_shows_comes_back(latex: str, mathml: Callable[[str], str]) -> None:
    page = etree.fromstring(latex2mathml.converter.convert(latex))
    assert mathml(mathml_to_latex(page)) == mathml(latex)


WORDS = """
mi mn mo mtext ms mspace mfrac msqrt mroot msub msup msubsup munder mover munderover mtable mtr mtd
mlabeledtr mfenced menclose mmultiscripts mprescripts none mrow semantics annotation mphantom mstyle
maction x
"""
NAMES = WORDS.split()
TEXTS = st.text(
    st.sampled_from([*"abz019 &#%_^~{}\\$'\"[]()|/.,+-=<>", *"α∑∫→¯′⏟한ℝ𝐱①\u0301"]), max_size=6
)
VALUES = st.sampled_from(["", "0", "bold", "[", "{", "radical", "box circle", "\\", ";,"])


def made(name: str, text: str, value: str, inner: list[etree._Element]) -> etree._Element:
    one = etree.Element(name)
    one.text = text
    for key in ("linethickness", "mathvariant", "open", "close", "separators", "notation"):
        if value:
            one.set(key, value)
    one.extend(inner)
    return one


LEAVES = st.builds(made, st.sampled_from(NAMES), TEXTS, VALUES, st.just([]))
TREES = st.recursive(
    LEAVES,
    lambda below: st.builds(
        made, st.sampled_from(NAMES), TEXTS, VALUES, st.lists(below, max_size=4)
    ),
    max_leaves=25,
)


@given(st.lists(TREES, max_size=4))
@settings(
    max_examples=200,
    deadline=None,
    derandomize=True,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture],
)
def test_any_tree_gives_latex_that_parses(
    assert_parses: Callable[[str], None], trees: list[etree._Element]
) -> None:
    assert_parses(mathml_to_latex(made("math", "", "", trees)))


def test_nesting_and_size_are_bounded(assert_parses: Callable[[str], None]) -> None:
    root = inner = etree.Element("math")
    for _ in range(5000):
        inner = etree.SubElement(inner, "msqrt")
    inner.append(made("mi", "deep", "", []))
    assert "deep" in mathml_to_latex(root)
    assert_parses(mathml_to_latex(root))
    wide = etree.Element("math")
    for _ in range(MAX_ELEMENTS + 1):
        etree.SubElement(wide, "mi").text = "x"
    etree.SubElement(wide, "mi").text = "last"
    assert mathml_to_latex(wide) == rf"\text{{{'x ' * (MAX_ELEMENTS + 1)}last}}"


def test_pages_give_latex_and_prefer_what_their_author_typed(read: Callable[..., Any]) -> None:
    half = "<mfrac><mn>1</mn><mn>2</mn></mfrac>"
    typed = (
        f'<semantics>{half}<annotation encoding="application/x-tex">1/2</annotation></semantics>'
    )
    page = f"<html><body><p>a <math>{half}</math> b <math>{typed}</math></p></body></html>"
    assert read("a.html", page).text == r"a [math: \frac{1}{2}] b [math: 1/2]"
