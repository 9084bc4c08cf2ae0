"""Templates and prompts: text with blanks, exactly one of which is scored."""

import re
from dataclasses import dataclass

SUBJECT_SLOT = "[X]"
ANSWER_SLOT = "[Y]"


@dataclass(frozen=True)
class Statement:
    """A filled prompt: `text[start:end]` is the option."""

    text: str
    start: int
    end: int


@dataclass(frozen=True)
class Prompt:
    """Text pieces with a blank between each two of them; the blank number `scored` takes the options.

    What the other blanks look like (mask token, end of text, nothing) is the model kind's business.
    `verbatim`: leave the first letter as it is; it becomes upper case otherwise.
    """

    pieces: tuple[str, ...]
    scored: int = 0
    verbatim: bool = False

    def fill(self, option: str, other: str = "") -> Statement:
        """Put `option` into the scored blank and `other` into the rest."""
        blanks = [other] * (len(self.pieces) - 1)
        blanks[self.scored] = option
        left = "".join(piece + blank for piece, blank in zip(self.pieces, blanks[: self.scored], strict=False))
        left += self.pieces[self.scored]
        rest = zip(blanks[self.scored + 1 :], self.pieces[self.scored + 2 :], strict=True)
        right = self.pieces[self.scored + 1] + "".join(blank + piece for blank, piece in rest)
        if left and not self.verbatim:
            left = upper_first(left)
        elif not self.verbatim:
            option = upper_first(option)
        return Statement(left + option + right, len(left), len(left) + len(option))


def upper_first(text: str) -> str:
    """The text with its first character in upper case (which may be two: ß becomes SS)."""
    return text[:1].upper() + text[1:]


def prompt(template: str, subject: str) -> Prompt:
    """Fill the subject into a template; its answer slots become blanks, the first of them scored."""
    return Prompt(tuple(piece.replace(SUBJECT_SLOT, subject) for piece in template.split(ANSWER_SLOT)))


def without_subject(template: str) -> Prompt:
    """The template with its subject hidden too: every slot becomes a blank, the first answer slot is scored."""
    slots = "|".join(map(re.escape, (SUBJECT_SLOT, ANSWER_SLOT)))
    return Prompt(tuple(re.split(slots, template)), re.findall(slots, template).index(ANSWER_SLOT))
