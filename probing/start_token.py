"""The start token of a causal model, which stands before every text, and other facts about its tokenizer.

The setting `start` of a run is one of `NAMED` or the id of a token. `auto` takes the beginning-of-sequence token, the
end-of-text token if the tokenizer has no other, and none if it has neither.
"""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from probing.errors import BadInput
from probing.kinds import KINDS, Kind

AUTO, BOS, EOS, NONE = "auto", "bos", "eos", "none"
NAMED = (AUTO, BOS, EOS, NONE)
# What stands between a token and the role that it marks in a chat template: quotation marks, and Jinja's operators.
BEFORE_ROLE = r"""['"\s+~{}-]*(?:\w+(?:\.|\[['"]))?(?:role|system|user|assistant)\b"""


@dataclass(frozen=True)
class StartToken:
    """The token before every text. `id` is None and `text` is empty where there is none.

    `policy`: the setting by which it was chosen. `name`: "bos", "eos", or empty for any other token. `marks_roles`:
    whether the model's chat template writes this token before the role of each message.
    """

    policy: str = AUTO
    id: int | None = None
    text: str = ""
    name: str = ""
    marks_roles: bool = False


@dataclass(frozen=True)
class TokenizerFacts:
    """What a reader needs to know about a tokenizer.

    `algorithm`: such as BPE or WordPiece. `vocabulary`: the number of tokens. `lower_cases`: whether upper and lower
    case look the same to the model. `adds_space`: whether the first word gets a space that the text does not have.
    `special_tokens`: the text of each, by its name. `start`: None where a tokenizer adds all special tokens itself.
    """

    algorithm: str
    vocabulary: int
    lower_cases: bool
    adds_space: bool
    special_tokens: Mapping[str, str] = field(default_factory=dict)
    start: StartToken | None = None

    @classmethod
    def from_json(cls, values: object) -> "TokenizerFacts | None":
        """Read the facts of a stored record; return None if it has none, as records of older versions do.

        Raises `ValueError` for values of a wrong form: a record may have been written by another machine.
        """
        if values is None:
            return None
        if not isinstance(values, dict) or not isinstance(values.get("special_tokens"), dict):
            raise ValueError("facts about a tokenizer of the wrong form")
        start = values.get("start")
        try:
            facts = cls(**{**values, "start": None if start is None else StartToken(**start)})
        except TypeError as error:
            raise ValueError("facts about a tokenizer of the wrong form") from error
        _check_types(facts)
        return facts


def normalised_start(text: str) -> str:
    """Return the setting in its one spelling, `AUTO` if it is empty; raise `BadInput` if it names no start token."""
    value = text.strip().lower() or AUTO
    if value in NAMED:
        return value
    if value.isascii() and value.isdigit():
        return str(int(value))
    raise BadInput(f"The start token cannot be {text!r}.", f"Give {', '.join(NAMED)}, or the id of a token.")


def several_starts(value: str | Iterable[str]) -> list[str]:
    """Return each start token of a list once, in its one spelling; a text has commas between them."""
    names = value.split(",") if isinstance(value, str) else value
    return list(dict.fromkeys(map(normalised_start, names)))


def refuse_start(start: str, kind: Kind) -> None:
    """Raise `BadInput` if a start token is chosen for a model whose tokenizer adds all special tokens."""
    if start != AUTO and not KINDS[kind].chooses_start:
        raise BadInput(
            f"The tokenizer of {KINDS[kind].noun} adds all special tokens, so there is no start token to choose.",
            "Leave out the start token, or choose a causal model.",
        )


def marks_roles(token: str, chat_template: str) -> bool:
    """Tell whether the chat template writes this token directly before the role of a message."""
    return bool(token) and re.search(re.escape(token) + BEFORE_ROLE, chat_template) is not None


def _check_types(facts: TokenizerFacts) -> None:
    typed: list[tuple[object, type | tuple[type, ...]]] = [
        (facts.algorithm, str),
        (facts.vocabulary, int),
        (facts.lower_cases, bool),
        (facts.adds_space, bool),
        *((text, str) for entry in facts.special_tokens.items() for text in entry),
    ]
    if start := facts.start:
        typed += [(start.policy, str), (start.text, str), (start.name, str), (start.marks_roles, bool)]
        typed += [(start.id, (int, type(None)))]
    if not all(isinstance(value, kind) for value, kind in typed):
        raise ValueError("facts about a tokenizer of the wrong form")
