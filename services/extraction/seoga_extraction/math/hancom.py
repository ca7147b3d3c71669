"""Hancom equation script, as HWP and HWPX store it, to LaTeX.

White space separates terms there: `x^2 +1` raises the 2 only, `x^2+1` all three; OVER takes the
term before it and the one after it. Fractions, roots and scripts bind as in EQN, the model of the
language.
"""

from __future__ import annotations

from collections.abc import Callable

from seoga_extraction.math import latex
from seoga_extraction.math.hancom_commands import Call, Commands
from seoga_extraction.math.hancom_nodes import Node, Part, attach
from seoga_extraction.math.hancom_tokens import Kind, Token, is_operator, tokens
from seoga_extraction.math.hancom_words import SIGNS, Does, Word, find

MAX_SCRIPT = 20_000


def hancom_to_latex(script: str) -> str:
    """LaTeX of a Hancom equation script, without delimiters around it.

    Never raises, and takes time linear in the length: nesting deeper than people write is shown as
    it stands, and a script longer than 20,000 characters comes back whole as escaped text.
    """
    if len(script) > MAX_SCRIPT:
        return latex.text(script)
    try:
        return _Parser(script).equation()
    except (RecursionError, ValueError, LookupError):
        return latex.text(script)


class _Parser(Commands):
    """Reads tokens into nodes, left to right; commands are in the base class."""

    def __init__(self, script: str) -> None:
        super().__init__(tokens(latex.clean(script)), script)
        self._steps: dict[Kind, Callable[[list[Node], Token], None]] = {
            Kind.WORD: self._word,
            Kind.NUMBER: self._plain,
            Kind.TEXT: self._text,
            Kind.SIGN: self._sign,
            Kind.SPACE: self._space,
            Kind.OPEN: self._group,
            Kind.SCRIPT: self._script_sign,
            Kind.CLOSE: self._skip,
            Kind.COLUMN: self._skip,
            Kind.ROW: self._skip,
            Kind.END: self._skip,
        }

    def equation(self) -> str:
        """The whole script; `#` makes lines, `&` aligns them."""
        lines: list[list[str]] = []
        while not self.at_end():
            more, _ = self.lines(frozenset({Kind.END, Kind.CLOSE}))
            lines += more
            self.take()  # a closing brace that nothing opened
            self.style = ""
        return latex.stacked(lines).strip()

    def step(self, nodes: list[Node]) -> None:
        """Reads one token, with all that belongs to it, to the end of `nodes`."""
        token = self.take()
        self._steps[token.kind](nodes, token)

    def _word(self, nodes: list[Node], token: Token) -> None:
        word = find(token.value)
        handler = self.commands.get(word.does) if word is not None else None
        if word is None or handler is None or self.too_deep():
            self._plain(nodes, token)
            return
        handler(Call(nodes, token, word))

    def _plain(self, nodes: list[Node], token: Token) -> None:
        nodes.append(self.node(token.value, gap=token.gap))

    def _text(self, nodes: list[Node], token: Token) -> None:
        raw = token.value.removeprefix('"')
        node = self.node(latex.text(raw), Part.TEXT, gap=token.gap)
        node.raw = raw
        nodes.append(node)

    def _space(self, nodes: list[Node], _: Token) -> None:
        nodes.append(self.node("", Part.SPACE))

    def _skip(self, nodes: list[Node], token: Token) -> None:
        """Marks of rows and groups where there are none."""

    def _sign(self, nodes: list[Node], token: Token) -> None:
        value = token.value
        if value == "'":
            self.extend(nodes, attach(self.base(nodes), "'", Node("'")))
            return
        part = Part.OPERATOR if is_operator(value) else Part.TERM
        if value in {"(", "["}:
            part = Part.OPEN
        elif value in {")", "]"}:
            part = Part.CLOSE
        shown = SIGNS.get(value) or latex.SPECIAL.get(value, value)
        nodes.append(self.node(shown, part, gap=token.gap))

    def _group(self, nodes: list[Node], token: Token) -> None:
        if self.too_deep():
            nodes.append(self.verbatim(token))
            return
        inner = self.group_rest()
        nodes.append(self.node(f"{{{inner.latex}}}", Part.GROUP, inner.depth, token.gap))

    def _script_sign(self, nodes: list[Node], token: Token) -> None:
        self.script(Call(nodes, token, Word(Does.SCRIPT, token.value)))
