"""Office Math to LaTeX: every kind of object, styles, escapes, real documents."""

from __future__ import annotations

import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest
from lxml import etree

from seoga_extraction.math.omml import omml_to_latex

TRANSITIONAL = "http://schemas.openxmlformats.org/officeDocument/2006/math"
STRICT = "http://purl.oclc.org/ooxml/officeDocument/math"
W = "http://schemas.openxmlformats.org/wordprocessingml/2006/main"


def element(inner: str, root: str = "oMath", namespace: str = TRANSITIONAL) -> etree._Element:
    names = f'xmlns:m="{namespace}" xmlns:w="{W}"'
    return etree.fromstring(f"<m:{root} {names}>{inner}</m:{root}>")


def r(text: str, properties: str = "") -> str:
    return f"<m:r><m:rPr>{properties}</m:rPr><m:t>{text}</m:t></m:r>"


def o(name: str, properties: str = "", **parts: str) -> str:
    inner = "".join(f"<m:{part}>{held}</m:{part}>" for part, held in parts.items())
    return f"<m:{name}><m:{name}Pr>{properties}<m:ctrlPr/></m:{name}Pr>{inner}</m:{name}>"


def p(name: str, value: str) -> str:
    return f'<m:{name} m:val="{value}"/>'


def e(*cells: str) -> str:
    return "".join(f"<m:e>{cell}</m:e>" for cell in cells)


X, Y, A, B = r("x"), r("y"), r("a"), r("b")
SUM = r("a+b")
ROWS = f"<m:mr>{e(A, B)}</m:mr><m:mr>{e(X, Y)}</m:mr>"
MATRIX = f"<m:m><m:mPr/>{ROWS}</m:m>"
FRACTION = o("f", num=A, den=B)
BINOMIAL = o("f", p("type", "noBar"), num=r("n"), den=r("k"))


def d(cells: str, properties: str = "") -> str:
    return f"<m:d><m:dPr>{properties}</m:dPr>{cells}</m:d>"


def lines(*cells: str) -> str:
    return f"<m:eqArr><m:eqArrPr/>{e(*cells)}</m:eqArr>"


OBJECTS = {
    "a fraction": (FRACTION, r"\frac{a}{b}"),
    "a linear fraction": (o("f", p("type", "lin"), num=SUM, den=B), "{a+b}/b"),
    "a skewed fraction": (o("f", p("type", "skw"), num=A, den=B), "{}^{a}/{}_{b}"),
    "a fraction without a bar": (BINOMIAL, r"{n \atop k}"),
    "a superscript": (o("sSup", e=X, sup=r("2")), "x^{2}"),
    "a subscript": (o("sSub", e=X, sub=r("i+1")), "x_{i+1}"),
    "both scripts": (o("sSubSup", e=X, sub=r("i"), sup=r("2")), "x_{i}^{2}"),
    "a script on a fraction": (o("sSup", e=FRACTION, sup=r("2")), r"{\frac{a}{b}}^{2}"),
    "a script on a bracket": (o("sSup", e=d(e(SUM)), sup=r("n")), r"\left(a+b\right)^{n}"),
    "scripts on scripts": (
        o("sSup", e=o("sSup", e=X, sup=r("2")), sup=r("3")),
        "{x^{2}}^{3}",
    ),
    "a pre-script": (o("sPre", sub=A, sup=B, e=X), "{}_{a}^{b}x"),
    "a square root": (o("rad", p("degHide", "1"), deg="", e=X), r"\sqrt{x}"),
    "a root with a degree": (o("rad", deg=r("3"), e=SUM), r"\sqrt[3]{a+b}"),
    "a degree with a bracket": (o("rad", deg=r("]"), e=X), r"\sqrt[{]}]{x}"),
    "a sum": (
        o("nary", p("chr", "∑") + p("limLoc", "undOvr"), sub=r("k=1"), sup=r("n"), e=X),
        r"\sum_{k=1}^{n}x",
    ),
    "a sum with limits beside it": (
        o("nary", p("chr", "∑") + p("limLoc", "subSup"), sub=r("k"), sup=r("n"), e=X),
        r"\sum\nolimits_{k}^{n}x",
    ),
    "an integral, which is the default": (
        o("nary", p("limLoc", "subSup"), sub=r("0"), sup=r("1"), e=r("xdx")),
        r"\int_{0}^{1}xdx",
    ),
    "an integral with limits above and below": (
        o("nary", p("limLoc", "undOvr"), sub=r("C"), sup="", e=X),
        r"\int\limits_{C}x",
    ),
    "hidden limits": (
        o("nary", p("chr", "∏") + p("subHide", "1") + p("supHide", "on"), sub="", sup="", e=X),
        r"\prod x",
    ),
    "brackets": (d(e(SUM)), r"\left(a+b\right)"),
    "brackets with separators": (d(e(A, B)), r"\left(a\middle|b\right)"),
    "brackets with commas": (
        d(e(A, B), p("begChr", "[") + p("sepChr", ",") + p("endChr", ")")),
        r"\left[a,b\right)",
    ),
    "an open bracket": (d(e(X), p("begChr", "{") + p("endChr", "")), r"\left\{x\right."),
    "norms": (d(e(X), p("begChr", "‖") + p("endChr", "‖")), r"\left\Vert x\right\Vert"),
    "no brackets at all": (d(e(X), p("begChr", "") + p("endChr", "")), r"\left.x\right."),
    "a bracket that LaTeX has not": (d(e(X), p("begChr", "☃")), r"☃\left.x\right)"),
    "a matrix": (MATRIX, r"\begin{matrix} a & b \\ x & y \end{matrix}"),
    "a matrix in brackets": (d(e(MATRIX)), r"\begin{pmatrix} a & b \\ x & y \end{pmatrix}"),
    "a determinant": (
        d(e(MATRIX), p("begChr", "|") + p("endChr", "|")),
        r"\begin{vmatrix} a & b \\ x & y \end{vmatrix}",
    ),
    "a binomial": (d(e(BINOMIAL)), r"\binom{n}{k}"),
    "an equation array": (lines(A, B), r"\begin{gathered} a \\ b \end{gathered}"),
    "an aligned equation array": (
        lines(r("a&amp;=b"), r("c&amp;=d")),
        r"\begin{aligned} a & =b \\ c & =d \end{aligned}",
    ),
    "an equation array of one line": (lines(SUM), "a+b"),
    "cases": (
        d(e(lines(r("1,&amp;x>0"), r("0"))), p("begChr", "{") + p("endChr", "")),
        r"\begin{cases} 1, & x>0 \\ 0 \end{cases}",
    ),
    "an accent": (o("acc", e=X), r"\hat{x}"),
    "a wide accent": (o("acc", p("chr", "\u0303"), e=SUM), r"\widetilde{a+b}"),
    "a vector": (o("acc", p("chr", "\u20d7"), e=X), r"\vec{x}"),
    "two dots": (o("acc", p("chr", "\u0308"), e=X), r"\ddot{x}"),
    "an accent that LaTeX has not": (o("acc", p("chr", "☃"), e=X), r"\overset{☃}{x}"),
    "a bar above": (o("bar", p("pos", "top"), e=SUM), r"\overline{a+b}"),
    "a bar below": (o("bar", e=SUM), r"\underline{a+b}"),
    "a brace below": (o("groupChr", e=SUM), r"\underbrace{a+b}"),
    "a brace above": (
        o("groupChr", p("chr", "⏞") + p("pos", "top"), e=SUM),
        r"\overbrace{a+b}",
    ),
    "an arrow with text": (o("groupChr", p("chr", "→"), e=X), r"\xrightarrow{x}"),
    "a brace with a limit": (
        o("limLow", e=o("groupChr", e=SUM), lim=r("n")),
        r"\underbrace{a+b}_{n}",
    ),
    "a limit below": (o("limLow", e=X, lim=r("n")), r"\underset{n}{x}"),
    "a limit above": (o("limUpp", e=X, lim=r("n")), r"\overset{n}{x}"),
    "a function": (o("func", fName=r("sin", p("sty", "p")), e=X), r"\sin x"),
    "a power of a function": (
        o("func", fName=o("sSup", e=r("cos", p("sty", "p")), sup=r("2")), e=X),
        r"\cos^{2}x",
    ),
    "a function with a limit": (
        o("func", fName=o("limLow", e=r("lim"), lim=r("n→∞")), e=X),
        r"\lim_{n\rightarrow\infty}x",
    ),
    "a function that LaTeX has not": (
        o("func", fName=o("limLow", e=r("argmax"), lim=r("x")), e=Y),
        r"\operatorname*{argmax}_{x}y",
    ),
    "a box": (o("box", e=SUM), "a+b"),
    "a box with a border": (o("borderBox", e=SUM), r"\boxed{a+b}"),
    "a struck box": (
        o(
            "borderBox",
            "".join(p(f"hide{side}", "1") for side in ("Top", "Bot", "Left", "Right"))
            + p("strikeBLTR", "1"),
            e=X,
        ),
        r"{\cancel{x}}",
    ),
    "a phantom": (o("phant", p("show", "0"), e=SUM), r"\phantom{a+b}"),
    "a phantom that shows": (o("phant", p("zeroWid", "1"), e=X), "x"),
}


@pytest.mark.parametrize(("inner", "latex"), OBJECTS.values(), ids=list(OBJECTS))
@pytest.mark.parametrize("namespace", [TRANSITIONAL, STRICT], ids=["transitional", "strict"])
def test_every_object_has_its_latex(
    inner: str, latex: str, namespace: str, assert_parses: Callable[[str], None]
) -> None:
    assert omml_to_latex(element(inner, namespace=namespace)) == latex
    assert_parses(latex)


RUNS = {
    "script": (r("L", p("scr", "script")), r"\mathcal{L}"),
    "double-struck": (r("R", p("scr", "double-struck")), r"\mathbb{R}"),
    "fraktur": (r("g", p("scr", "fraktur")), r"\mathfrak{g}"),
    "bold": (r("v", p("sty", "b")), r"\mathbf{v}"),
    "bold italic, and Greek": (r("vα", p("sty", "bi")), r"\boldsymbol{v}\boldsymbol{\alpha}"),
    "normal text": (r("if x is 0", "<m:nor/>"), r"\text{if x is 0}"),
    "an upright word": (r("ReLU", p("sty", "p")), r"\mathrm{ReLU}"),
    "an upright letter": (r("= A × B", p("sty", "p")), r"= A \times B"),
    "letters of alphabets for math": (
        r("ℝ𝐱𝜶ℒ"),
        r"\mathbb{R}\mathbf{x}\boldsymbol{\alpha}\mathcal{L}",
    ),
    "Greek and relations": (r("α≤β∈Ω"), r"\alpha\leq\beta\in\Omega"),
    "what LaTeX reads as commands": (
        r("50% #1 a_b {c} $ \\ ~ &amp;"),
        r"50\% \#1 a\_b \{c\} \$ \backslash \sim \&",
    ),
    "the same in text": (r("a_b 5%", "<m:nor/>"), r"\text{a}\_\text{b 5}\%"),
    "dashes and carets": (r("x – y^2"), "x - y^{2}"),
    "a caret alone": (r("^"), r"\wedge"),
    "two carets": (r("x^2^3"), r"x\wedge2^{3}"),
    "primes": (r("f′(x)"), "f'(x)"),
    "a prime of its own": (r("′"), "{}'"),
    "Korean": (r("속도 변화"), r"\text{속도 변화}"),
    "words in italics": (r("group with braces"), r"group\ with\ braces"),
    "runs of one word": (r("gro") + r("up"), "group"),
    "dots": (r("1, …, n"), r"1, \ldots, n"),
    "removed and inserted runs": (
        f"<w:del>{r('old')}</w:del><w:ins>{r('x')}</w:ins>{r('y')}",
        "xy",
    ),
}


@pytest.mark.parametrize(("inner", "latex"), RUNS.values(), ids=list(RUNS))
def test_runs_keep_their_style_and_signs_are_escaped(
    inner: str, latex: str, assert_parses: Callable[[str], None]
) -> None:
    assert omml_to_latex(element(inner)) == latex
    assert_parses(latex)


def test_equations_of_one_paragraph_are_lines() -> None:
    both = f"<m:oMathPara>{'<m:oMath>' + A + '</m:oMath>'}<m:oMath>{B}</m:oMath></m:oMathPara>"
    assert omml_to_latex(element(both)[0]) == r"\begin{gathered} a \\ b \end{gathered}"


DOCUMENTS = {
    "docling__equations.docx": [
        r"a^{2}+b^{2}=c^{2} \times 23",
        r"f\left(x\right)=a_{0}+\sum_{n=1}^{\infty}\left(a_{n}\cos\frac{n\pi x}{L}"
        r"+b_{n}\sin\frac{n\pi x}{L}\right)",
        r"\left(x+a\right)^{n}=\sum_{k=0}^{n}\binom{n}{k}x^{k}a^{n-k}",
        r"\left(1+x\right)^{n}=1+\frac{nx}{1!}+\frac{n\left(n-1\right)x^{2}}{2!}+\ldots",
        r"\bigcup_{n=1}^{m}\left(X_{n}\cap Y_{n}\right)",
        r"\oiint_{0}^{2\pi}idt",
        r"P_{\text{ x}}=\underbrace{S\cdot T\cdot G\cdot(x+y+z)}_{group\ with\ underbraces}+e^{x}",
    ],
    "docling__omml_frac_superscript.docx": [r"{\frac{(x-c)}{v}}^{2}"],
    "docling__omml_func_log.docx": [r"y = \log\left(x\right)"],
    "docling__omml_multi_equation_paragraph.docx": ["a=b", "c=d", "e=f"],
    "docling__omml_text_escapes_in_math.docx": ["x - y^{2}"],
    "docling__table_with_equations.docx": [r"x=\frac{-b\pm\sqrt{b^{2}-4ac}}{2a}"],
    "poi__stress007.docx": [
        r"Y_{tij}=\beta_{0}+\beta_{t}x_{t}+\beta_{i}x_{0ij}+\beta_{j}z_{j}+v_{j}+U_{ti}"
    ],
}


@pytest.mark.parametrize("name", DOCUMENTS)
def test_equations_of_real_documents_come_out_right(
    handed: Path, name: str, assert_parses: Callable[[str], None]
) -> None:
    with zipfile.ZipFile(handed / "docx" / name) as package:
        document = etree.fromstring(package.read("word/document.xml"))
    found = [omml_to_latex(one) for one in document.iter("{*}oMath")]
    assert set(DOCUMENTS[name]) <= set(found)
    for latex in found:
        assert_parses(latex)
