"""Two readers of LaTeX: a strict one that refuses what it does not know, and one to compare by."""

from __future__ import annotations

import html
import re
from collections.abc import Callable

import latex2mathml.converter
import math_core
import pytest

LAYOUT = re.compile(r"</?mrow[^>]*>|<mspace[^>]*/>|<mspace[^>]*></mspace>")


@pytest.fixture(scope="session")
def mathml() -> Callable[[str], str]:
    """MathML of LaTeX without mrow and spacing: equal for equations that look the same."""

    def convert(latex: str) -> str:
        made = latex2mathml.converter.convert(latex)
        return html.unescape(LAYOUT.sub("", made).replace("&#x000A0;", ""))

    return convert


@pytest.fixture(scope="session")
def assert_parses(mathml: Callable[[str], str]) -> Callable[[str], None]:
    """Fails, with the LaTeX in its message, when one of the two readers refuses it."""
    # The strict reader lacks this one command of plain LaTeX.
    strict = math_core.LatexToMathML(macros={"widetilde": r"\tilde{#1}"})

    def check(latex: str) -> None:
        if not latex:
            return
        try:
            strict.convert_with_local_state(latex, displaystyle=True)
            mathml(latex)
        except Exception as reason:
            raise AssertionError(f"{reason}\n{latex!r}") from reason

    return check
