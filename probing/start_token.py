"""The start token of a causal model, which stands before every text: the rule, its choices and its words.

The setting `start` of a run is one of `NAMED` or the id of a token. `auto` takes the beginning-of-sequence token, the
end-of-text token if the tokenizer has no other, and none if it has neither.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from probing.errors import BadInput, nearest
from probing.kinds import KINDS, Kind

AUTO, BOS, EOS, NONE = "auto", "bos", "eos", "none"
NAMED = (AUTO, BOS, EOS, NONE)
HELP = (
    "token before every text of a causal model: bos, eos, none, or a token's id; default: auto, which is bos, else eos"
)
SEVERAL = "several have commas between them: auto,none"  # where a run may have more than one
# What stands between a token and the role that it marks in a chat template: quotation marks, and Jinja's operators.
# The numbers of repetitions are limited, so that a template cannot make the search slow.
BEFORE_ROLE = r"""['"\s+~{}-]{0,99}(?:\w{1,99}(?:\.|\[['"]))?(?:role|system|user|assistant)\b"""
KNOWN_LATER = "The start token is known when the tokenizer is loaded."
TOKEN_NAMES = {BOS: "beginning-of-sequence token (bos)", EOS: "end-of-text token (eos)"}
POLICIES = {AUTO: "bos, or else eos, as no other was chosen", BOS: "bos, as chosen", EOS: "eos, as chosen"}


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

    @property
    def sentences(self) -> list[str]:
        """What readers of a result are told about the token."""
        if self.id is None:
            chosen = "as chosen" if self.policy == NONE else "as the tokenizer has neither bos nor eos"
            first = "the first token of each text has no probability and is not counted in its score."
            return [f"No start token stands before a text, {chosen}; {first}"]
        name = f"the {TOKEN_NAMES[self.name]}" if self.name in TOKEN_NAMES else "a token chosen by its id"
        policy = f" Policy: {POLICIES[self.policy]}." if self.policy in POLICIES else ""
        return [f"Every text starts with {self.text} (id {self.id}), {name}.{policy}", *self.cautions]

    @property
    def cautions(self) -> list[str]:
        """What belongs beside a figure: how the token can change it."""
        if not self.marks_roles:
            return []
        return [
            f"The chat template of the model also writes {self.text} before the role of each message, so that a "
            "statement may be read as the start of a message; figures with another start token can differ by points."
        ]

    @property
    def remark(self) -> str:
        """A few words beside a figure if the token also marks roles, else an empty text."""
        return f"starts with {self.text}, which marks roles in chats" if self.marks_roles else ""


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
    near = nearest(value, NAMED)
    step = f"Did you mean {near!r}?" if near else f"Give {', '.join(NAMED)}, or the id of a token."
    raise BadInput(f"The start token cannot be {text!r}.", step)


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


def start_name(start: str, *, has_bos: bool, has_eos: bool) -> str:
    """Return what a setting chooses with a tokenizer that has these tokens: `BOS`, `EOS`, `NONE`, or the id of a token.

    A token that is chosen by its name is returned even if the tokenizer does not have it, which callers refuse.
    """
    if start != AUTO:
        return start
    return BOS if has_bos else EOS if has_eos else NONE


def marks_roles(token: str, chat_template: str) -> bool:
    """Tell whether the chat template writes this token directly before the role of a message."""
    return bool(token) and re.search(re.escape(token) + BEFORE_ROLE, chat_template) is not None


def start_marks_roles(text: str, name: str, chat_templates: Sequence[str]) -> bool:
    """Tell whether one of the chat templates writes the start token before roles, by its text or its name."""
    written = (text, "bos_token") if name == BOS else (text,)
    return any(marks_roles(token, template) for token in written for template in chat_templates)


def start_in_words(start: str, vocabulary: object, bos: str = "", eos: str = "", chat_template: str = "") -> str:
    """Return in words which token stands before every text of a causal model, before its tokenizer is loaded.

    `bos`, `eos` and `chat_template`: what the model's files state, empty where they do not. `vocabulary`: the size that
    the config states, if it does. Raises `BadInput` if an id lies beyond it.
    """
    name = start_name(start, has_bos=bool(bos), has_eos=bool(eos))
    if start == NONE:
        return "No start token, as chosen."
    if start not in NAMED:
        if isinstance(vocabulary, int) and int(start) >= vocabulary:
            raise BadInput(f"The model has no token {start}.", f"Give an id below {vocabulary:,}, or bos, eos or none.")
        return f"Texts start with token {start}, as chosen."
    text = {BOS: bos, EOS: eos}.get(name, "")
    if not text:
        return KNOWN_LATER
    sentences = f"Texts start with {text} ({name})."
    if start_marks_roles(text, name, [chat_template]):
        sentences += " The chat template writes it before each role; another start token may give other figures."
    return sentences


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
