"""Unicode letters and signs of mathematics as LaTeX."""

from __future__ import annotations

import unicodedata

from seoga_extraction.math import latex

_ROWS = r"""
α alpha β beta γ gamma δ delta ε varepsilon ζ zeta η eta θ theta ι iota κ kappa λ lambda μ mu
ν nu ξ xi π pi ρ rho σ sigma ς varsigma τ tau υ upsilon φ varphi χ chi ψ psi ω omega ϵ epsilon
ϑ vartheta ϖ varpi ϱ varrho ϕ phi ϰ varkappa Γ Gamma Δ Delta Θ Theta Λ Lambda Ξ Xi Π Pi Σ Sigma
Υ Upsilon Φ Phi Ψ Psi Ω Omega
± pm ∓ mp × times ÷ div ∗ ast ⋆ star ∘ circ ∙ bullet • bullet · cdot ⋅ cdot ∩ cap ∪ cup ⊎ uplus
⊓ sqcap ⊔ sqcup ∨ vee ∧ wedge ∖ setminus ≀ wr ⊕ oplus ⊖ ominus ⊗ otimes ⊘ oslash ⊙ odot † dagger
‡ ddagger ∔ dotplus ⊻ veebar
≤ leq ≥ geq ≦ leqq ≧ geqq ≪ ll ≫ gg ⋘ lll ⋙ ggg ≺ prec ≻ succ ⪯ preceq ⪰ succeq ∼ sim ≃ simeq
≈ approx ≅ cong ≡ equiv ≍ asymp ≐ doteq ∝ propto ⊨ models ⊥ perp ∣ mid ∥ parallel ⋈ bowtie
⊂ subset ⊃ supset ⊆ subseteq ⊇ supseteq ⊊ subsetneq ⊋ supsetneq ⊏ sqsubset ⊐ sqsupset
⊑ sqsubseteq ⊒ sqsupseteq ∈ in ∋ ni ∉ notin ⊢ vdash ⊣ dashv ≠ neq ⩽ leqslant ⩾ geqslant
≲ lesssim ≳ gtrsim ≜ triangleq ≔ coloneqq ⌢ frown ⌣ smile ⊲ vartriangleleft ⊳ vartriangleright
≮ nless ≯ ngtr ≰ nleq ≱ ngeq ⊄ not\subset ⊅ not\supset ⊈ nsubseteq ⊉ nsupseteq ∤ nmid ∦ nparallel
≁ nsim ≇ ncong ≢ not\equiv ≉ not\approx ∌ not\ni
← leftarrow → rightarrow ↑ uparrow ↓ downarrow ↔ leftrightarrow ↕ updownarrow ⇐ Leftarrow
⇒ Rightarrow ⇑ Uparrow ⇓ Downarrow ⇔ Leftrightarrow ⇕ Updownarrow ↦ mapsto ↖ nwarrow ↗ nearrow
↘ searrow ↙ swarrow ↩ hookleftarrow ↪ hookrightarrow ↼ leftharpoonup ↽ leftharpoondown
⇀ rightharpoonup ⇁ rightharpoondown ⇌ rightleftharpoons ⇄ rightleftarrows ⇆ leftrightarrows
⟵ longleftarrow ⟶ longrightarrow ⟷ longleftrightarrow ⟸ Longleftarrow ⟹ Longrightarrow
⟺ Longleftrightarrow ⟼ longmapsto ⇝ rightsquigarrow
∑ sum ∏ prod ∐ coprod ∫ int ∬ iint ∭ iiint ∮ oint ∯ oiint ∰ oiiint ⋂ bigcap ⋃ bigcup ⋀ bigwedge
⋁ bigvee ⨀ bigodot ⨁ bigoplus ⨂ bigotimes ⨄ biguplus ⨆ bigsqcup
∞ infty ∂ partial ∇ nabla ∀ forall ∃ exists ∄ nexists ∅ emptyset ¬ neg ∠ angle ∡ measuredangle
∢ sphericalangle ∴ therefore ∵ because ⊤ top ℏ hbar ℓ ell ℘ wp ℑ Im ℜ Re ℵ aleph ℶ beth ı imath
ȷ jmath ð eth △ triangle ▽ bigtriangledown □ square ◇ Diamond ⋄ diamond ★ bigstar ♠ spadesuit
♡ heartsuit ♢ diamondsuit ♣ clubsuit ♭ flat ♮ natural ♯ sharp √ surd ℧ mho
… ldots ⋯ cdots ⋮ vdots ⋱ ddots ⟨ langle ⟩ rangle 〈 langle 〉 rangle ⌈ lceil ⌉ rceil ⌊ lfloor
⌋ rfloor ‖ Vert ⟦ llbracket ⟧ rrbracket
"""
_PLAIN = {
    "−": "-",
    "–": "-",
    "—": "-",
    "‐": "-",
    "∕": "/",
    "⁄": "/",
    "∶": ":",
    "′": "'",
    "″": "''",
    "‴": "'''",
    "’": "'",
    "°": "{}^{\\circ}",
    "ℎ": "h",
    "\u00c5": "\\mathring{A}",
    "\u212b": "\\mathring{A}",
    "¯": "\\bar{}",
    # Word's marks for what is not shown: applied function, multiplied, separated.
    "\u2061": "",
    "\u2062": "",
    "\u2063": "",
    "\u200b": "",
}


def _table() -> dict[str, str]:
    entries = _ROWS.split()
    commands = zip(entries[::2], entries[1::2], strict=True)
    return {character: f"\\{command}" for character, command in commands} | _PLAIN


SYMBOLS = _table()
# Words of Unicode's names of mathematical letters, and the command of such an alphabet.
_ALPHABETS = (
    ("DOUBLE-STRUCK", "\\mathbb"),
    ("FRAKTUR", "\\mathfrak"),
    ("BLACK-LETTER", "\\mathfrak"),
    ("SCRIPT", "\\mathcal"),
    ("MONOSPACE", "\\mathtt"),
    ("SANS-SERIF", "\\mathsf"),
    ("BOLD ITALIC", "\\boldsymbol"),
    ("BOLD", "\\mathbf"),
    ("ITALIC", ""),
)


def symbol(character: str) -> str:
    """LaTeX of one character in math; Latin letters, digits and unknown signs are themselves.

    A character without a meaning in math, such as a Hangul syllable, comes back as `\\text{...}`.
    """
    if character in latex.SPECIAL:
        return latex.SPECIAL[character]
    if character.isascii():
        return latex.clean(character)
    if character in SYMBOLS:
        return SYMBOLS[character]
    letter = styled_letter(character)
    if letter is not None:
        return letter
    category = unicodedata.category(character)
    if category.startswith(("L", "M")) or category in {"Nl", "No"}:
        return latex.text(character)
    return latex.clean(character)


def styled_letter(character: str) -> str | None:
    """A letter of one of Unicode's mathematical alphabets with its command; None for others."""
    name = unicodedata.name(character, "")
    if not name.startswith(("MATHEMATICAL ", "DOUBLE-STRUCK ", "SCRIPT ", "BLACK-LETTER ")):
        return None
    plain = unicodedata.normalize("NFKC", character)
    if len(plain) != 1 or not plain.isalnum():
        return None
    base = SYMBOLS.get(plain, plain)
    command = next((command for word, command in _ALPHABETS if word in name), "")
    if command == "\\mathbf" and base.startswith("\\"):
        command = "\\boldsymbol"
    return f"{command}{{{base}}}" if command else base
