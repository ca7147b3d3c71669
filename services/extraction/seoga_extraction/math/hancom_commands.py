"""What the words of the Hancom equation language do: a method for each kind of word."""

from __future__ import annotations

from abc import ABC
from collections.abc import Callable
from dataclasses import dataclass, replace
from itertools import zip_longest

from seoga_extraction.math import latex
from seoga_extraction.math.hancom_nodes import (
    MAX_DEPTH,
    Node,
    Part,
    attach,
    deepest,
    pop_term,
    pre_script,
    render,
)
from seoga_extraction.math.hancom_reader import Lines, Reader, shown
from seoga_extraction.math.hancom_tokens import Kind, Token
from seoga_extraction.math.hancom_words import DELIMITERS, EXTENDED, SIGNS, Does, Word, find


@dataclass(slots=True)
class Call:
    """A word of the script: what stands before it in the row, its token, its entry."""

    nodes: list[Node]
    token: Token
    word: Word


Handler = Callable[[Call], None]
_BRACKETS = {
    "(": "(",
    ")": ")",
    "[": "[",
    "]": "]",
    "{": "\\{",
    "}": "\\}",
    "<": "\\langle",
    ">": "\\rangle",
    "|": "|",
    "/": "/",
    ".": ".",
    "‖": "\\Vert",
    "∥": "\\Vert",
}
_FRACTIONS = {"over": "\\frac{%s}{%s}", "choose": "\\binom{%s}{%s}", "atop": "{%s \\atop %s}"}
_LIMIT_FUNCTIONS = frozenset({"lim", "Lim", "max", "min", "det", "gcd", "Pr"})
_NEGATED = {"=": "\\neq", "\\in": "\\notin", "\\exists": "\\nexists"}


class Commands(Reader, ABC):
    """The handlers; each reads the arguments of its word and appends what they make."""

    def __init__(self, found: list[Token], script: str) -> None:
        super().__init__(found, script)
        self.commands: dict[Does, Handler] = {
            Does.SIGN: self._sign_word,
            Does.DELIMITER: self._sign_word,
            Does.OPERATOR: self._operator,
            Does.BIG: self._big,
            Does.FUNCTION: self._function,
            Does.RAISED: self._raised,
            Does.ACCENT: self._accent,
            Does.FRACTION: self._fraction,
            Does.SCRIPT: self.script,
            Does.PRESCRIPT: self._pre_script,
            Does.LIMIT: self._limit,
            Does.ROOT: self._root,
            Does.BINOMIAL: self._binomial,
            Does.MATRIX: self._matrix,
            Does.LINES: self._aligned,
            Does.LEFT: self._left,
            Does.RIGHT: self._right,
            Does.BIGG: self._bigg,
            Does.BRACE: self._brace,
            Does.RELATION: self._relation,
            Does.NOT: self._not,
            Does.STYLE: self._style,
            Does.DROP: self._drop,
            Does.DIVISION: self._division,
            Does.LADDER: self._matrix_rows,
        }

    def build(self, call: Call, form: str, *parts: Node) -> None:
        """Appends what a command made of its arguments; flat when they are nested too deep."""
        depth = deepest(parts) + 1
        if depth > MAX_DEPTH:
            call.nodes += [self.node(part.latex, gap=True, depth=part.depth) for part in parts]
        else:
            filled = form % tuple(part.latex for part in parts)
            call.nodes.append(self.node(filled, Part.BUILT, depth, call.token.gap))

    def _sign_word(self, call: Call) -> None:
        call.nodes.append(self.node(call.word.value, gap=call.token.gap))

    def _operator(self, call: Call) -> None:
        call.nodes.append(self.node(call.word.value, Part.OPERATOR, gap=call.token.gap))

    def _big(self, call: Call) -> None:
        node = self.node(call.word.value, Part.OPERATOR, gap=call.token.gap)
        node.limits = True
        call.nodes.append(node)

    def _function(self, call: Call) -> None:
        if call.word.value == "\\text":
            node = self.node(latex.text(call.token.value), Part.TEXT, gap=call.token.gap)
            node.raw = call.token.value
        else:
            shown_name = {"mod": "\\bmod", "Lim": "\\lim"}.get(call.word.value)
            node = self.node(shown_name or latex.named(call.word.value), gap=call.token.gap)
            node.limits = call.word.value in _LIMIT_FUNCTIONS
        call.nodes.append(node)

    def _raised(self, call: Call) -> None:
        """Degrees and primes: superscripts of what stands before them."""
        base = self.base(call.nodes)
        if call.word.value == "'":
            self.extend(call.nodes, attach(base, "'", Node("'")))
            return
        self.extend(call.nodes, attach(base, "^", Node("\\circ")))
        if call.word.value != "\\circ":
            call.nodes.append(self.node(call.word.value))

    def _accent(self, call: Call) -> None:
        self.build(call, call.word.value + "{%s}", self.word())

    def _fraction(self, call: Call) -> None:
        taken = pop_term(call.nodes)
        gap = bool(taken) and taken[0].gap
        above = _unbraced(taken, self.style)
        below = self.term()
        below.latex = below.latex or "{}"
        form = _FRACTIONS[call.word.value]
        if max(above.depth, below.depth) + 1 > MAX_DEPTH:
            over = self.node("/", Part.OPERATOR)
            call.nodes += [self.node(above.latex, gap=gap, depth=above.depth), over, below]
        else:
            self.build(replace(call, token=Token(Kind.WORD, "", gap)), form, above, below)

    def script(self, call: Call) -> None:
        """`_` and `^`; `^3sqrt{x}` with nothing glued before it is the third root."""
        alone = call.token.gap or not call.nodes or call.nodes[-1].part is Part.SPACE
        argument = self.script_term()
        follows = self.next
        if call.word.value == "^" and alone and not follows.gap and follows.value.upper() == "SQRT":
            self.take()
            self._radical(call, argument, self.term())
            return
        if argument.latex:
            self.extend(call.nodes, attach(self.base(call.nodes), call.word.value, argument))

    def _pre_script(self, call: Call) -> None:
        argument = self.term()
        base = self.base(call.nodes)
        self.extend(call.nodes, pre_script(base, call.word.value, argument))

    def _limit(self, call: Call) -> None:
        """FROM and TO: limits of an operator, else below and above whatever stands there."""
        if not call.nodes:
            call.nodes.append(self.node(call.token.value, gap=call.token.gap))
            return
        argument = self.script_term()
        base = self.base(call.nodes)
        if base.limits:
            self.extend(call.nodes, attach(base, call.word.value, argument))
        else:
            form = "\\underset{%s}{%s}" if call.word.value == "_" else "\\overset{%s}{%s}"
            self.build(replace(call, token=Token(Kind.WORD, "", base.gap)), form, argument, base)

    def _root(self, call: Call) -> None:
        first = self.term()
        if self.does(self.next) is not Does.OF:
            self._radical(call, Node(""), first)
            return
        self.take()
        self._radical(call, first, self.term())

    def _radical(self, call: Call, degree: Node, radicand: Node) -> None:
        if max(degree.depth, radicand.depth) >= MAX_DEPTH:
            self.build(call, "%s%s", degree, radicand)
            return
        filled = latex.root(degree.latex, radicand.latex)
        depth = max(degree.depth, radicand.depth) + 1
        call.nodes.append(self.node(filled, Part.BUILT, depth, call.token.gap))

    def _binomial(self, call: Call) -> None:
        self.build(call, "\\binom{%s}{%s}", self.term(), self.term())

    def _cells(self) -> tuple[Lines, int]:
        """Rows of the group that comes next; a single argument without braces is one cell."""
        if self.next.kind is not Kind.OPEN:
            argument = self.term()
            return [[argument.latex]], argument.depth + 1
        self.take()
        if self.does(self.next) is Does.COLUMN:
            lines, depth = self._columns()
        else:
            lines, depth = self.body()
        self.close()
        return lines, depth

    def _columns(self) -> tuple[Lines, int]:
        """A matrix given column by column: `matrix{col{a#b} col{c#d}}`."""
        columns: list[list[str]] = []
        depth = 0
        while self.does(self.next) is Does.COLUMN:
            self.take()
            if self.next.kind is not Kind.OPEN:
                break
            self.take()
            lines, deep = self.body()
            self.close()
            columns.append([" ".join(line) for line in lines])
            depth = max(depth, deep)
        rest, deep = self.body()
        lines = [list(row) for row in zip_longest(*columns, fillvalue="")]
        filled = [line for line in rest if any(cell.strip() for cell in line)]
        return lines + filled or [[""]], max(depth, deep)

    def _rows_node(self, call: Call, name: str) -> None:
        lines, depth = self._cells()
        made = latex.environment(name, lines)
        call.nodes.append(self.node(made, Part.BUILT, depth, call.token.gap))

    def _matrix(self, call: Call) -> None:
        self._rows_node(call, call.word.value)

    def _matrix_rows(self, call: Call) -> None:
        self._rows_node(call, "matrix")

    def _aligned(self, call: Call) -> None:
        self._rows_node(call, "aligned")

    def _bracket(self) -> str:
        """The delimiter that comes next, taken; "" when what comes is none."""
        token = self.next
        if token.kind is Kind.WORD:
            found = DELIMITERS.get(token.value.upper(), "")
            if found:
                self.take()
            return found
        found = _BRACKETS.get(token.value[:1], "")
        if not found:
            return ""
        if token.value[1:]:  # `<-` after LEFT is a bracket and a minus
            token.value, token.gap = token.value[1:], False
            token.kind = Kind.SIGN
        else:
            self.take()
        return found

    def _left(self, call: Call) -> None:
        opening = self._bracket() or "."
        lines, depth = self.body(right=True)
        closing = "."
        if self.does(self.next) is Does.RIGHT:
            self.take()
            closing = self._bracket() or "."
        inner = latex.join([f"\\left{opening}", shown(lines), f"\\right{closing}"])
        call.nodes.append(self.node(inner, Part.BUILT, depth, call.token.gap))

    def _right(self, call: Call) -> None:
        """RIGHT without LEFT: only its bracket is left."""
        bracket = self._bracket().strip(".")
        call.nodes.append(self.node(bracket, Part.CLOSE, gap=call.token.gap))

    def _bigg(self, call: Call) -> None:
        bracket = self._bracket().strip(".")
        if bracket:
            call.nodes.append(self.node(f"\\bigg{bracket}", Part.OPERATOR, gap=call.token.gap))

    def _brace(self, call: Call) -> None:
        name = "\\overbrace" if call.word.value == "^" else "\\underbrace"
        first = self.term()
        if self.next.kind is Kind.OPEN:
            self.build(call, f"{name}{{%s}}{call.word.value}{{%s}}", first, self.term())
        else:
            self.build(call, name + "{%s}", first)

    def _relation(self, call: Call) -> None:
        """An arrow with something above it and, after REL, below it."""
        sign = self._related()
        above = self._group_or_nothing()
        below = self._group_or_nothing() if call.word.value == "2" else Node("")
        command = EXTENDED.get(sign)
        if command and below.latex:
            options = Node(latex.option(below.latex), depth=below.depth)
            self.build(call, command + "%s{%s}", options, above)
        elif command:
            self.build(call, command + "{%s}", above)
        elif below.latex:
            self.build(call, "\\underset{%s}{\\overset{%s}{%s}}", below, above, Node(sign))
        else:
            self.build(call, "\\overset{%s}{%s}", above, Node(sign))
        call.nodes[-1].part = Part.OPERATOR

    def _related(self) -> str:
        """The arrow or sign that REL is about, taken."""
        if self.next.kind not in {Kind.WORD, Kind.SIGN}:
            return "="
        value = self.take().value
        entry = find(value)
        if entry is not None and entry.does in {Does.OPERATOR, Does.SIGN, Does.BIG}:
            return entry.value
        return SIGNS.get(value, latex.SPECIAL.get(value, value))

    def _group_or_nothing(self) -> Node:
        return self.term() if self.next.kind is Kind.OPEN else Node("")

    def _not(self, call: Call) -> None:
        before = len(call.nodes)
        if self.next.kind in {Kind.WORD, Kind.SIGN} and self.does(self.next) in {
            None,
            Does.OPERATOR,
            Does.SIGN,
        }:
            self.step(call.nodes)
        if len(call.nodes) != before + 1:
            return
        last = call.nodes[-1]
        if last.latex in _NEGATED:
            last.latex = _NEGATED[last.latex]
        elif last.part is Part.OPERATOR:
            last.latex = f"\\not{last.latex}"
        else:
            last.latex, last.part = f"\\cancel{{{last.latex}}}", Part.BUILT

    def _style(self, call: Call) -> None:
        self.style = call.word.value

    def _drop(self, call: Call) -> None:
        """Colour and size: their first argument is passed over, what they change is kept."""
        if call.word.value == "number" and self.next.kind is Kind.NUMBER:
            self.take()
        elif call.word.value == "group" and self.next.kind is Kind.OPEN:
            self.term()

    def _division(self, call: Call) -> None:
        """Long division: divisor, quotient, then the dividend and the steps below it."""
        divisor, quotient = self._group_or_nothing(), self._group_or_nothing()
        lines, depth = self._cells()
        inside = Node(shown(lines), depth=depth)
        form = "%s\\overset{%s}{\\overline{)%s}}"
        self.build(call, form, divisor, quotient, inside)


def _unbraced(taken: list[Node], style: str) -> Node:
    """One node of a term; the braces of a single group fall away."""
    if len(taken) == 1 and taken[0].part is Part.GROUP and not taken[0].scripts:
        return Node(taken[0].latex[1:-1], depth=taken[0].depth)
    return Node(render(taken, style).strip() or "{}", depth=deepest(taken))
