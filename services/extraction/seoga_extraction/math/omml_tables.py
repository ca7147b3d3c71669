"""Characters of Office Math objects and the LaTeX commands for them."""

from __future__ import annotations

from seoga_extraction.math.latex import words

# Of m:acc: over one sign, and over more than one.
ACCENTS = {
    "\u0300": ("\\grave", "\\grave"),
    "\u0301": ("\\acute", "\\acute"),
    "\u0302": ("\\hat", "\\widehat"),
    "\u0303": ("\\tilde", "\\widetilde"),
    "\u0304": ("\\bar", "\\overline"),
    "\u0305": ("\\bar", "\\overline"),
    "\u0306": ("\\breve", "\\breve"),
    "\u0307": ("\\dot", "\\dot"),
    "\u0308": ("\\ddot", "\\ddot"),
    "\u030a": ("\\mathring", "\\mathring"),
    "\u030c": ("\\check", "\\check"),
    "\u0332": ("\\underline", "\\underline"),
    "\u0333": ("\\underline", "\\underline"),
    "\u033f": ("\\overline", "\\overline"),
    "\u20d0": ("\\overset{\\leftharpoonup}", "\\overset{\\leftharpoonup}"),
    "\u20d1": ("\\overset{\\rightharpoonup}", "\\overset{\\rightharpoonup}"),
    "\u20d6": ("\\overleftarrow", "\\overleftarrow"),
    "\u20d7": ("\\vec", "\\overrightarrow"),
    "\u20db": ("\\dddot", "\\dddot"),
    "\u20dc": ("\\ddddot", "\\ddddot"),
    "\u20e1": ("\\overleftrightarrow", "\\overleftrightarrow"),
    "\u20ee": ("\\underleftarrow", "\\underleftarrow"),
    "\u20ef": ("\\underrightarrow", "\\underrightarrow"),
    "⏞": ("\\overbrace", "\\overbrace"),
    "⏟": ("\\underbrace", "\\underbrace"),
    # The same marks as characters of their own, which other writers use.
    "^": ("\\hat", "\\widehat"),
    "ˆ": ("\\hat", "\\widehat"),
    "~": ("\\tilde", "\\widetilde"),
    "˜": ("\\tilde", "\\widetilde"),
    "¯": ("\\bar", "\\overline"),
    "‾": ("\\bar", "\\overline"),
    "_": ("\\underline", "\\underline"),
    "˙": ("\\dot", "\\dot"),
    ".": ("\\dot", "\\dot"),
    "¨": ("\\ddot", "\\ddot"),
    "´": ("\\acute", "\\acute"),
    "`": ("\\grave", "\\grave"),
    "ˇ": ("\\check", "\\check"),
    "˘": ("\\breve", "\\breve"),
    "→": ("\\vec", "\\overrightarrow"),
    "←": ("\\overleftarrow", "\\overleftarrow"),
    "↔": ("\\overleftrightarrow", "\\overleftrightarrow"),
}
# Of m:groupChr, by position: an arrow below its text is a stretched arrow with the text on it.
GROUPS = {
    ("⏟", "bot"): "\\underbrace",
    ("⏞", "top"): "\\overbrace",
    ("⎴", "top"): "\\overbracket",
    ("⎵", "bot"): "\\underbracket",
    ("⏜", "top"): "\\overparen",
    ("⏝", "bot"): "\\underparen",
    ("→", "top"): "\\overrightarrow",
    ("←", "top"): "\\overleftarrow",
    ("↔", "top"): "\\overleftrightarrow",
    ("→", "bot"): "\\xrightarrow",
    ("←", "bot"): "\\xleftarrow",
    ("↔", "bot"): "\\xleftrightarrow",
    ("⇒", "bot"): "\\xRightarrow",
    ("⇐", "bot"): "\\xLeftarrow",
    ("⇔", "bot"): "\\xLeftrightarrow",
    ("⇌", "bot"): "\\xrightleftharpoons",
}
DELIMITERS = {
    "": ".",
    "(": "(",
    ")": ")",
    "[": "[",
    "]": "]",
    "{": "\\{",
    "}": "\\}",
    "|": "|",
    "∣": "|",
    "‖": "\\Vert",
    "∥": "\\Vert",
    "<": "\\langle",
    ">": "\\rangle",
    "⟨": "\\langle",
    "⟩": "\\rangle",
    "〈": "\\langle",
    "〉": "\\rangle",
    "⌈": "\\lceil",
    "⌉": "\\rceil",
    "⌊": "\\lfloor",
    "⌋": "\\rfloor",
    "⟦": "\\llbracket",
    "⟧": "\\rrbracket",
    "/": "/",
    "\\": "\\backslash",
    "↑": "\\uparrow",
    "↓": "\\downarrow",
    "↕": "\\updownarrow",
}
BRACKETED_MATRICES = {
    ("(", ")"): "pmatrix",
    ("[", "]"): "bmatrix",
    ("{", "}"): "Bmatrix",
    ("|", "|"): "vmatrix",
    ("‖", "‖"): "Vmatrix",
}
# Of m:scr and m:sty.
SCRIPTS = {
    "script": "\\mathcal",
    "fraktur": "\\mathfrak",
    "double-struck": "\\mathbb",
    "sans-serif": "\\mathsf",
    "monospace": "\\mathtt",
}
STYLES = {"b": "\\mathbf", "bi": "\\boldsymbol"}
# Operators whose limits LaTeX sets beside them unless told otherwise.
INTEGRALS = frozenset("∫∬∭⨌∮∯∰∱∲∳")
LIMITED = words(
    "\\lim \\max \\min \\sup \\inf \\limsup \\liminf \\det \\gcd \\Pr \\sum \\prod \\coprod"
    " \\bigcap \\bigcup \\bigvee \\bigwedge \\bigoplus \\bigotimes"
)
# Removed text, the older twin of a choice, marks of the editor.
IGNORED = frozenset(
    {"del", "moveFrom", "Fallback", "instrText", "delText", "footnoteReference", "annotationRef"}
)
