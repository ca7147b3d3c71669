"""Reading of Hancom equation script: tokens, rows, groups, terms and arguments."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence

from seoga_extraction.math import latex
from seoga_extraction.math.hancom_nodes import MAX_DEPTH, Node, Part, deepest, pop_base, render
from seoga_extraction.math.hancom_tokens import Kind, Token, is_operator
from seoga_extraction.math.hancom_words import Does, find

Lines = list[list[str]]
_BODY_END = frozenset({Kind.CLOSE, Kind.END})
_TERM = frozenset({Kind.WORD, Kind.NUMBER, Kind.TEXT, Kind.SIGN})
# What a term is made of: words that only name a sign do not end it.
_IN_TERM = frozenset({Does.SIGN, Does.FUNCTION, Does.RAISED})
_IN_SCRIPT = _IN_TERM | {Does.OPERATOR, Does.DELIMITER}
# Words between two terms: never the first of one, never inside brackets that a term began with.
_BETWEEN = frozenset(
    {
        Does.FRACTION,
        Does.SCRIPT,
        Does.PRESCRIPT,
        Does.LIMIT,
        Does.OF,
        Does.RIGHT,
        Does.COLUMN,
    }
)
Test = Callable[[Token, list[Node]], bool]


class Reader(ABC):
    """The place in the tokens, the depth and the style; made for one script, used once."""

    def __init__(self, found: list[Token], script: str) -> None:
        self.tokens = found
        self.source = script
        self.at = 0
        self.depth = 0
        self.style = ""

    @abstractmethod
    def step(self, nodes: list[Node]) -> None:
        """Reads one token, with all that belongs to it, to the end of `nodes`."""

    @property
    def next(self) -> Token:
        """The token to come."""
        return self.tokens[self.at]

    def take(self) -> Token:
        """The token to come, passed; the END one stays."""
        token = self.tokens[self.at]
        self.at = min(self.at + 1, len(self.tokens) - 1)
        return token

    def at_end(self) -> bool:
        """Whether all is read."""
        return self.next.kind is Kind.END

    def does(self, token: Token) -> Does | None:
        """What the word in a token does; None for other tokens."""
        word = find(token.value) if token.kind is Kind.WORD else None
        return word.does if word is not None else None

    def too_deep(self) -> bool:
        """Whether nesting must stop here."""
        return self.depth >= MAX_DEPTH

    def node(self, shown: str, part: Part = Part.TERM, depth: int = 0, gap: bool = False) -> Node:
        """A node in the style of the moment."""
        return Node(shown, part, gap, depth, self.style)

    def base(self, nodes: list[Node]) -> Node:
        """Takes the node that a script goes to."""
        return pop_base(nodes)

    def extend(self, nodes: list[Node], more: Sequence[Node]) -> None:
        """Appends nodes that were taken off and changed."""
        nodes.extend(more)

    def lines(self, ends: frozenset[Kind], right: bool = False) -> tuple[Lines, int]:
        """Rows of cells up to a token of `ends` (or the word RIGHT), and their depth."""
        lines: Lines = [[]]
        depth, style = 0, self.style
        while True:
            nodes: list[Node] = []
            while not self._ends_cell(ends, right):
                self.step(nodes)
            depth = max(depth, deepest(nodes))
            lines[-1].append(render(nodes, style))
            if self.next.kind is Kind.COLUMN:
                self.take()
            elif self.next.kind is Kind.ROW:
                self.take()
                lines.append([])
            else:
                break
        if len(lines) > 1 and not any(cell.strip() for cell in lines[-1]):
            lines.pop()
        return lines, depth + 1

    def _ends_cell(self, ends: frozenset[Kind], right: bool) -> bool:
        token = self.next
        if token.kind in {Kind.COLUMN, Kind.ROW} or token.kind in ends:
            return True
        return right and self.does(token) is Does.RIGHT

    def body(self, right: bool = False) -> tuple[Lines, int]:
        """The inside of a group or of LEFT ... RIGHT; its end is not taken. Styles end with it."""
        self.depth += 1
        style = self.style
        try:
            return self.lines(_BODY_END, right)
        finally:
            self.depth -= 1
            self.style = style

    def group_rest(self) -> Node:
        """What is left of a group whose brace is taken, with the closing one."""
        lines, depth = self.body()
        self.close()
        return self.node(shown(lines), Part.GROUP, depth)

    def close(self) -> None:
        """Takes a closing brace where there is one."""
        if self.next.kind is Kind.CLOSE:
            self.take()

    def verbatim(self, opening: Token) -> Node:
        """A group as it stands in the script, as text: for what is nested too deep."""
        balance = 1
        while balance and not self.at_end():
            kind = self.take().kind
            balance += (kind is Kind.OPEN) - (kind is Kind.CLOSE)
        raw = latex.clean(self.source[opening.start : self.next.start]).strip()
        return self.node(f"{{{latex.text(raw)}}}", Part.GROUP, 1, opening.gap)

    def term(self) -> Node:
        """The argument of a command: a group, a command with its own, or glued signs with scripts.

        Scripts bind tighter than roots and fractions.
        """
        nodes = self._argument(self._goes_on)
        return self._one(nodes)

    def word(self) -> Node:
        """The argument of an accent: a group, a command, or glued letters; scripts stay outside."""
        nodes = self._argument(self._is_letter)
        return self._one(nodes)

    def script_term(self) -> Node:
        """The argument of a script or limit: a group, or all that is glued, operators included."""
        nodes = self._argument(self._in_script)
        return self._one(nodes)

    def _one(self, nodes: list[Node]) -> Node:
        if len(nodes) == 1 and nodes[0].part is Part.GROUP and not nodes[0].scripts:
            return Node(nodes[0].latex[1:-1], Part.GROUP, depth=nodes[0].depth)
        return Node(render(nodes, self.style).strip(), depth=deepest(nodes))

    def _argument(self, goes_on: Test) -> list[Node]:
        nodes: list[Node] = []
        self.depth += 1
        try:
            while self.next.kind is Kind.SPACE:
                self.take()
            if self._starts():
                self.step(nodes)
            while nodes and goes_on(self.next, nodes):
                self.step(nodes)
        finally:
            self.depth -= 1
        return nodes

    def _starts(self) -> bool:
        if self.next.kind is Kind.OPEN:
            return True
        if self.next.value in {")", "]", ","} or self.next.kind not in _TERM:
            return False
        return self.does(self.next) not in _BETWEEN

    def _goes_on(self, token: Token, nodes: list[Node]) -> bool:
        if token.kind is Kind.SCRIPT or self.does(token) is Does.SCRIPT:
            return True
        last = nodes[-1]
        if _open(nodes):
            return self._in_brackets(token)
        if len(nodes) == 1 and last.latex in {"+", "-"}:
            return token.kind in _TERM or token.kind is Kind.OPEN
        return not token.gap and last.part is not Part.GROUP and self._is_term(token)

    def _in_brackets(self, token: Token) -> bool:
        inside = token.kind in _TERM or token.kind in {Kind.OPEN, Kind.SPACE}
        return inside and self.does(token) not in _BETWEEN

    def _is_letter(self, token: Token, nodes: list[Node]) -> bool:
        if token.gap or nodes[-1].part in {Part.GROUP, Part.BUILT}:
            return False
        return token.kind in {Kind.WORD, Kind.NUMBER, Kind.TEXT} and self._is_term(token)

    def _is_term(self, token: Token) -> bool:
        if token.kind is Kind.SIGN:
            return token.value in {"(", "[", "'"} or not is_operator(token.value)
        return token.kind in _TERM and self.does(token) in _IN_TERM | {None}

    def _in_script(self, token: Token, nodes: list[Node]) -> bool:
        if _open(nodes):
            return self._in_brackets(token)
        if token.gap or nodes[-1].part is Part.GROUP:
            return False
        if token.kind is Kind.SIGN:
            return token.value not in {",", ";", "|", "'", ")", "]"}
        return token.kind in _TERM and self.does(token) in _IN_SCRIPT | {None}


def shown(lines: Lines) -> str:
    """Rows and cells where no command asked for them: one as it is, more as a matrix."""
    if len(lines) == 1 and len(lines[0]) == 1:
        return lines[0][0].strip()
    return latex.environment("matrix", lines)


def _open(nodes: Sequence[Node]) -> bool:
    """Whether a bracket is open; only the last few hundred nodes are looked at."""
    recent = nodes[-200:]
    opened = sum(node.part is Part.OPEN for node in recent)
    return opened > sum(node.part is Part.CLOSE for node in recent)
