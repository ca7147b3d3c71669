"""Hancom equation script to LaTeX: the language, and pairs from real documents."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from seoga_extraction.math.hancom import hancom_to_latex

LANGUAGE = {
    # Terms: white space ends them, operators and brackets stay outside, braces make one.
    "10a^3 over b^2": r"\frac{10a^{3}}{b^{2}}",
    "y=1 over 2 x": r"y=\frac{1}{2} x",
    "f(x)=(x+1) over (x-1)": r"f(x)=\frac{(x+1)}{(x-1)}",
    "=( 2a^2 over b )^3": r"=( \frac{2a^{2}}{b} )^{3}",
    "{a} over {b} over c": r"\frac{\frac{a}{b}}{c}",
    "1 over -2": r"\frac{1}{-2}",
    "x ATOP y": r"{x \atop y}",
    "n choose k": r"\binom{n}{k}",
    "BINOM n k": r"\binom{n}{k}",
    # Scripts take all that is glued to them.
    "x^2 +1": "x^{2} +1",
    "a_n+1": "a_{n+1}",
    "e^-x dx": "e^{-x} dx",
    "x SUB 1 SUP 2": "x_{1}^{2}",
    "x^2^3": "{x^{2}}^{3}",
    "x LSUB y LSUP z": "{}^{z}_{y}x",
    "f prime (x)": "f' (x)",
    "f''(x)": "f''(x)",
    "60 DEG": r"60^{\circ}",
    "25 CENTIGRADE": r"25^{\circ}C",
    # Roots.
    "sqrt 2": r"\sqrt{2}",
    "sqrt x^2 y": r"\sqrt{x^{2}} y",
    "root {3} of {x}": r"\sqrt[3]{x}",
    "2 ^3sqrt{x}": r"2 \sqrt[3]{x}",
    "root {[a]} of x": r"\sqrt[{[a]}]{x}",
    # Operators with limits; function names.
    "sum from i=1 to n a_i": r"\sum_{i=1}^{n} a_{i}",
    "int _0 ^1 f": r"\int_{0}^{1} f",
    "lim_N->inf 1 over N": r"\lim_{N\rightarrow\infty} \frac{1}{N}",
    "Lim _{x->0}": r"\lim_{x\rightarrow0}",
    "A from a to b": r"\overset{b}{\underset{a}{A}}",
    "f(x)=logx+sin theta": r"f(x)=\log x+\sin \theta",
    "sintheta": r"\sin\theta",
    "lcm(a,b) mod n": r"\operatorname{lcm}(a,b) \bmod n",
    # Rows and columns.
    "matrix{1&2#3&4}": r"\begin{matrix} 1 & 2 \\ 3 & 4 \end{matrix}",
    "pmatrix{a#b}": r"\begin{pmatrix} a \\ b \end{pmatrix}",
    "dmatrix{ccol{a#b} ccol{c#d}}": r"\begin{vmatrix} a & c \\ b & d \end{vmatrix}",
    "cases {2x+y=4 # 3x-4y=-1}": r"\begin{cases} 2x+y=4 \\ 3x-4y=-1 \end{cases}",
    "lpile{a#b}": r"\begin{matrix} a \\ b \end{matrix}",
    "eqalign{a&=b#c&=d}": r"\begin{aligned} a & =b \\ c & =d \end{aligned}",
    "x &= 1 # y &= 2": r"\begin{aligned} x & = 1 \\ y & = 2 \end{aligned}",
    "x=1 # y=2": r"\begin{gathered} x=1 \\ y=2 \end{gathered}",
    "a # [b]": r"\begin{gathered} a \\ {}[b] \end{gathered}",
    # Brackets.
    "LEFT( a over b right)": r"\left(\frac{a}{b}\right)",
    "LEFT { x RIGHT .": r"\left\{x\right.",
    "left<- x right>": r"\left\langle- x\right\rangle",
    "left ( x": r"\left(x\right.",
    "x right )": "x )",
    "LFLOOR x RFLOOR": r"\lfloor x \rfloor",
    "a bigg/ b": r"a \bigg/ b",
    # Accents cover a word, not its scripts.
    "vec AB": r"\overrightarrow{AB}",
    "bar x^2": r"{\overline{x}}^{2}",
    "arch {AB}": r"\overset{\frown}{AB}",
    "OVERBRACE {x+y} {b}": r"\overbrace{x+y}^{b}",
    "UNDERBRACE {a} {b}": r"\underbrace{a}_{b}",
    # Case tells some signs apart, elsewhere it does not count.
    "alpha ALPHA Gamma GAMMA": r"\alpha A \Gamma \Gamma",
    "larrow LARROW <-> <=>": r"\leftarrow \Leftarrow \leftrightarrow \Leftrightarrow",
    "a Times b tImEs c": r"a \times b \times c",
    "2times5": r"2\times5",
    "not = a not in B": r"\neq a \notin B",
    "A REL <-> {+2} {-5} B": r"A \xleftrightarrow[-5]{+2} B",
    "A BUILDREL == {def} B": r"A \overset{def}{\equiv} B",
    # Text, style, what only says how.
    '"if x > 0"': r"\text{if x > 0}",
    "수열~LEFT { a _{n} RIGHT }의~합": r"\text{수열} \left\{a_{n}\right\}\text{의 합}",
    "{분자} over {분모}": r"\frac{\text{분자}}{\text{분모}}",
    "rm 2H_2 O": r"\mathrm{2H_{2} O}",
    "rm{bar EG}over{bar BH} = it{m}over{n}": (
        r"\mathrm{\frac{\overline{EG}}{\overline{BH}} =}\frac{m}{n}"
    ),
    "{COLOR {255,0,255} {3}} over {4}": r"\frac{{3}}{4}",
    "{scale 70 분자 over 분모}": r"{\frac{\text{분자}}{\text{분모}}}",
    "50% of $3 \\ x": r"50\% of \$3 \backslash x",
    "α over β": r"\frac{\alpha}{\beta}",
}


@pytest.mark.parametrize(("script", "latex"), LANGUAGE.items(), ids=list(LANGUAGE))
def test_the_language_is_understood(
    script: str, latex: str, assert_parses: Callable[[str], None]
) -> None:
    assert hancom_to_latex(script) == latex
    assert_parses(latex)


def lines(path: Path) -> list[dict[str, str]]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def test_pairs_from_documents_are_equal_as_mathml(
    handed: Path, mathml: Callable[[str], str]
) -> None:
    truth = handed / "ground_truth"
    pairs = [
        (line["script"], line["latex"])
        for line in lines(truth / "hwp_equations.jsonl")
        if line["latex"] is not None
    ] + [
        (line["script"], line["fieldcure_latex"])
        for line in lines(truth / "hancom_math_pairs.jsonl")
        # Spec31 keeps the sign for a new line as it is: not LaTeX.
        if not line["partial"] and not line["name"].startswith("Spec31")
    ]
    wrong = [s for s, latex in pairs if mathml(hancom_to_latex(s)) != mathml(latex)]
    assert len(pairs) >= 45
    # \AA, which stands in one pair, is no command of math.
    assert [script for script in wrong if "ANGSTROM" not in script] == []


def test_every_script_of_the_documents_gives_latex_that_parses(
    handed: Path, assert_parses: Callable[[str], None]
) -> None:
    for line in lines(handed / "ground_truth" / "hwp_equations.jsonl"):
        latex = hancom_to_latex(line["script"])
        assert latex
        assert_parses(latex)
