"""Text of strangers, escaped for LaTeX."""

from leaderboard.display.visible import visible

# Characters that mean something to LaTeX, and signs of the pages that its text fonts lack, with what prints them.
LATEX = {
    "\\": r"\textbackslash{}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    **{character: f"\\{character}" for character in "{}$&#%_"},
    "±": r"$\pm$",
    "−": "$-$",
    "×": r"$\times$",
    "≈": r"$\approx$",
    "→": r"$\rightarrow$",
    "○": r"$\circ$",
    "●": r"$\bullet$",
    **{sign: f"$^{digit}$" for sign, digit in zip("⁰¹²³⁴⁵⁶⁷⁸⁹⁻", "0123456789-", strict=True)},
}


def latex(text: str) -> str:
    """Return a text, escaped for LaTeX; scripts other than the Latin one need XeLaTeX or LuaLaTeX."""
    return "".join(LATEX.get(character, character) for character in visible(text))
