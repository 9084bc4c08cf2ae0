"""Templates and prompts: texts with blanks, exactly one of which takes the options."""

import re
from dataclasses import dataclass

SUBJECT_SLOT = "[X]"
ANSWER_SLOT = "[Y]"
BLANK_TEXT = "____"  # where people or chat models are shown a sentence with its blank


@dataclass(frozen=True)
class Statement:
    """A prompt with all blanks filled; `text[start:end]` is the option.

    `context`: the text before it, which a model reads and which is not scored. `begun`: whether the context has the
    start token already, as what a chat template writes does.
    """

    text: str
    start: int
    end: int
    context: str = ""
    begun: bool = False


@dataclass(frozen=True)
class Prompt:
    """Text pieces with a blank between every two of them.

    `scored`: the index of the blank that takes the options; the kind of model determines what the other blanks hold
    (a mask token, an end-of-text token or nothing).
    `verbatim`: keep the case of the first letter, which otherwise becomes upper case.
    `context` and `begun`: as in `Statement`.
    `messages`: a chat whose next message is what the prompt says: the user's messages and the assistant's in turn, the
    last of which is the user's. A model turns them into the context by its chat template; without one, they are lines.
    """

    pieces: tuple[str, ...]
    scored: int = 0
    verbatim: bool = False
    context: str = ""
    begun: bool = False
    messages: tuple[str, ...] = ()

    def fill(self, option: str, other: str = "") -> Statement:
        """Put `option` into the scored blank and `other` into all other blanks."""
        blanks = [other] * (len(self.pieces) - 1)
        blanks[self.scored] = option
        left = "".join(piece + blank for piece, blank in zip(self.pieces, blanks[: self.scored], strict=False))
        left += self.pieces[self.scored]
        later = zip(blanks[self.scored + 1 :], self.pieces[self.scored + 2 :], strict=True)
        right = self.pieces[self.scored + 1] + "".join(blank + piece for blank, piece in later)
        if left and not self.verbatim:
            left = upper_first(left)
        elif not self.verbatim:
            option = upper_first(option)
        context = self.context or "".join(f"{message}\n" for message in self.messages)
        return Statement(left + option + right, len(left), len(left) + len(option), context, self.begun)


def with_answer_slot(text: str) -> str:
    """Return a sentence whose answer stands at [Y], or else behind it, with a space unless it ends in white space."""
    if ANSWER_SLOT in text:
        return text
    return f"{text}{'' if text[-1:].isspace() else ' '}{ANSWER_SLOT}"


def upper_first(text: str) -> str:
    """Return the text with its first character in upper case, which may be two characters (ß becomes SS)."""
    return text[:1].upper() + text[1:]


def prompt(template: str, subject: str, verbatim: bool = False) -> Prompt:
    """Fill the subject into a template; its answer slots become blanks, of which the first is scored."""
    pieces = tuple(piece.replace(SUBJECT_SLOT, subject) for piece in template.split(ANSWER_SLOT))
    return Prompt(pieces, verbatim=verbatim)


def without_subject(template: str, verbatim: bool = False) -> Prompt:
    """Turn every slot of the template, the subject's included, into a blank; the first answer slot is scored."""
    slots = "|".join(map(re.escape, (SUBJECT_SLOT, ANSWER_SLOT)))
    return Prompt(tuple(re.split(slots, template)), re.findall(slots, template).index(ANSWER_SLOT), verbatim)
