"""Pieces of a converted equation: what stands in a row, before it becomes one string."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum, auto
from itertools import groupby

from seoga_extraction.math import latex

# Deeper than people write; the string of a node is copied once a level, so this bounds the work.
MAX_DEPTH = 24
# A term longer than this is not looked for to the left of OVER.
_TERM_NODES = 200


class Part(Enum):
    """How a node stands to its neighbours."""

    TERM = auto()  # letters, digits, signs: glued ones make one term
    BUILT = auto()  # what a command made: a term of its own, in braces below a script
    GROUP = auto()  # braces: a term of its own
    OPERATOR = auto()
    OPEN = auto()
    CLOSE = auto()
    SPACE = auto()
    TEXT = auto()


@dataclass(slots=True)
class Node:
    """LaTeX and what the parser must know to go on from it; `raw` is the text of TEXT nodes."""

    latex: str
    part: Part = Part.TERM
    gap: bool = False
    depth: int = 0
    style: str = ""
    limits: bool = False
    raw: str = ""
    scripts: str = ""


def deepest(nodes: Sequence[Node]) -> int:
    """The depth of the deepest node, 0 for none."""
    return max((node.depth for node in nodes), default=0)


def render(nodes: Sequence[Node], style: str = "") -> str:
    """The nodes in a row; those in another style than the one around get its command."""
    parts: list[str] = []
    for own, run in groupby(nodes, key=lambda node: node.style):
        inner = _row(list(run))
        if own == style or not inner.strip():
            parts.append(inner)
        else:
            parts.append(f"{own or chr(92) + 'mathit'}{{{inner.strip()}}}")
    return latex.join(parts)


def _row(nodes: list[Node]) -> str:
    parts: list[str] = []
    words = ""
    blank = ""
    for node in nodes:
        if node.part is Part.SPACE:
            blank = " "
            continue
        if node.part is Part.TEXT and not node.scripts:
            words += (blank or (" " if node.gap and words else "")) + node.raw
            blank = ""
            continue
        if words:
            parts.append(latex.text(words))
            words = ""
        parts.append(blank or (" " if node.gap and parts else ""))
        parts.append(node.latex)
        blank = ""
    parts.append(latex.text(words) if words else "")
    return latex.join(parts)


def pop_base(nodes: list[Node]) -> Node:
    """Takes the node that a script goes to; an empty one when there is none."""
    while nodes and nodes[-1].part is Part.SPACE:
        nodes.pop()
    return nodes.pop() if nodes else Node("{}", Part.GROUP)


def pop_term(nodes: list[Node]) -> list[Node]:
    """Takes the term to the left: what stands there without white space or an operator."""
    while nodes and nodes[-1].part is Part.SPACE:
        nodes.pop()
    if not nodes or nodes[-1].part in {Part.OPERATOR, Part.OPEN}:
        return []
    if nodes[-1].part in {Part.GROUP, Part.BUILT}:
        return [nodes.pop()]
    start = _term_start(nodes)
    term = nodes[start:]
    del nodes[start:]
    return term


def _term_start(nodes: list[Node]) -> int:
    start, best, balance = len(nodes), len(nodes) - 1, 0
    while start > max(0, len(nodes) - _TERM_NODES):
        node = nodes[start - 1]
        if node.part is Part.CLOSE:
            balance += 1
        elif node.part is Part.OPEN:
            balance -= 1
        elif balance == 0 and node.part not in {Part.TERM, Part.TEXT}:
            break
        if balance < 0:
            break
        start -= 1
        if balance == 0:
            best = start
            if node.gap:
                break
    return best


def attach(base: Node, mark: str, script: Node) -> list[Node]:
    """A superscript (^), subscript (_) or prime (') on a node.

    LaTeX takes each once: a second one goes around the whole. Too deep ones follow flat.
    """
    depth, used = max(base.depth, script.depth + 1), base.scripts
    body = latex.text(base.raw) if base.part is Part.TEXT and not used else base.latex
    if _taken(used, mark):
        depth, body, used = max(depth, base.depth + 1), f"{{{body}}}", ""
    elif base.part in {Part.BUILT, Part.TEXT} and not used and not body.startswith("\\left"):
        body = f"{{{body}}}"
    if depth > MAX_DEPTH:
        return [base, script]
    base.latex = body + ("'" if mark == "'" else f"{mark}{{{script.latex}}}")
    base.depth, base.scripts = depth, used + mark
    return [base]


def _taken(used: str, mark: str) -> bool:
    """Whether LaTeX would call one more such mark a double one."""
    if mark == "_":
        return "_" in used
    # Primes are superscripts: they join one another and the superscript right after them.
    return "^" in used or ("'" in used and not used.endswith("'"))


def pre_script(base: Node, mark: str, script: Node) -> list[Node]:
    """A script to the left of a node."""
    depth = max(base.depth, script.depth + 1)
    if depth > MAX_DEPTH:
        return [script, base]
    plain = base.part is Part.TEXT and not base.scripts
    shown = latex.text(base.raw) if plain else base.latex
    if shown.startswith("{}" + ("^" if mark == "_" else "_")):
        shown = shown[2:]  # the other corner is taken already: one empty base carries both
    base.latex, base.depth = f"{{}}{mark}{{{script.latex}}}{shown}", depth
    base.part, base.scripts = Part.BUILT, ""
    return [base]
