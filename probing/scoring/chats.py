"""Chats as a model's chat template writes them.

A template is a program of whoever made the model. It is run only when a chat is asked, in another process, which is
ended when it takes too long or too much memory. There, transformers runs it in a sandbox without access to Python.
"""

import os
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cache
from threading import Lock
from typing import Any, TypeVar

from transformers import PreTrainedTokenizerBase

from probing.errors import BadInput, BrokenTokenizer, TooLong, UnsupportedModel
from probing.files.limited_process import LimitedProcess
from probing.kinds import KINDS
from probing.language_model import BlankDistribution, ModelCard, OptionScores, Request
from probing.scoring.tokens import Encoder
from probing.start_token import AUTO
from probing.template import ANSWER_SLOT, Prompt

PROGRAM = "probing.scoring.chat_rendering"
SECONDS = 10.0  # on the clock, for one chat; templates take a few thousandths of a second
ANSWER = "ANSWER"  # stands for what the assistant says while the text before it is found
ROLES = ("user", "assistant")
WITHOUT_CHAT = "Leave out --chat, or ask it with --set chat=false."
RENDERING = Lock()
AnswerT = TypeVar("AnswerT", OptionScores, BlankDistribution)


def in_chat(card: ModelCard, tokenizer: PreTrainedTokenizerBase, request: Request) -> Request:
    """Return the request with the messages of its prompt, if it has any, as the chat template writes them.

    The context ends where the assistant's message begins, which is what is scored. Raises `UnsupportedModel` for models
    other than causal ones, and for those without a chat template that takes the messages.
    """
    prompt, options = request
    if not prompt.messages:
        return request
    if card.kind != "causal":
        raise UnsupportedModel(
            f"{card.id} is {KINDS[card.kind].noun}; the options of a chat are scored by causal models only.",
            "Leave out chat, or choose a causal model with a chat template.",
        )
    context = _before_answer(card, tokenizer, prompt.messages)
    return Prompt(prompt.pieces, prompt.scored, prompt.verbatim, context, begun=True), options


def with_prompts(
    requests: Iterable[Request],
    answer: Callable[[Iterator[Request]], Iterator[AnswerT | TooLong]],
    encoder: Encoder,
    blank: str,
    *,
    reads_right: bool = True,
) -> Iterator[AnswerT | TooLong]:
    """Yield what `answer` makes of the requests, with the text that the model reads in each.

    `encoder`: the one by which they are encoded, whose start token stands before all but chats. `blank`: the text in
    blanks that are not scored. `reads_right`: whether the model reads what stands to the right of the options too.
    """
    start = encoder.tokenizer.decode(list(encoder.start))
    waiting: deque[Prompt] = deque()

    def noted_requests() -> Iterator[Request]:
        for prompt, options in requests:
            waiting.append(prompt)
            yield prompt, options

    for answered in answer(noted_requests()):
        statement = waiting.popleft().fill(ANSWER_SLOT, blank)
        before = statement.context if statement.begun else start + statement.context
        text = statement.text if reads_right else statement.text[: statement.end]
        yield answered if isinstance(answered, TooLong) else replace(answered, prompt=before + text)


def refuse_without_chat(card: ModelCard, tokenizer: PreTrainedTokenizerBase) -> None:
    """Raise where the model has no chat template, or a start token is chosen, which is the template's own choice."""
    if not tokenizer.chat_template:
        raise UnsupportedModel(f"{card.id} has no chat template.", WITHOUT_CHAT)
    if card.tokenizer and card.tokenizer.start and card.tokenizer.start.policy != AUTO:
        raise BadInput("The chat template decides how a text begins.", "Leave out --start, or --set chat=true.")


def _before_answer(card: ModelCard, tokenizer: PreTrainedTokenizerBase, messages: Sequence[str]) -> str:
    """Return all that the chat template writes before the assistant's answer to the messages."""
    texts = [*messages, ANSWER]
    chat = [{"role": ROLES[number % 2], "content": text} for number, text in enumerate(texts)]
    before, answer, _ = written_chat(card, tokenizer, chat).rpartition(ANSWER)
    if not answer:
        raise UnsupportedModel(f"The chat template of {card.id} does not write what the assistant says.", WITHOUT_CHAT)
    return before


def written_chat(
    card: ModelCard,
    tokenizer: PreTrainedTokenizerBase,
    chat: Sequence[Mapping[str, str]],
    *,
    begin_answer: bool = False,
) -> str:
    """Return a chat as the model's template writes it; `begin_answer`: with the beginning of the assistant's message.

    `chat`: messages with the keys `role` and `content`. Raises `UnsupportedModel` where the template does not take the
    chat, and `BrokenTokenizer` where it takes more time or memory than a chat can need.
    """
    refuse_without_chat(card, tokenizer)
    try:
        order = {
            "messages": list(chat),
            "template": tokenizer.get_chat_template(),
            "variables": {**tokenizer.special_tokens_map, "add_generation_prompt": begin_answer},
        }
        return _rendered(order)
    except TimeoutError as error:
        reason = f"takes more than {SECONDS:g} seconds for one chat"
        raise _broken(card, reason) from error
    except (MemoryError, ChildProcessError) as error:
        raise _broken(card, "takes more memory than a chat can need") from error
    except (RuntimeError, ValueError) as error:
        name, text = error.args if len(error.args) == 2 else (type(error).__name__, str(error))
        if name in (RecursionError.__name__, OverflowError.__name__):
            raise _broken(card, "repeats itself without an end") from error
        reason = " ".join(text.split())[:200].rstrip(".") or name
        raise UnsupportedModel(
            f"The chat template of {card.id} does not take this chat ({reason}).", WITHOUT_CHAT
        ) from error


def _broken(card: ModelCard, reason: str) -> BrokenTokenizer:
    return BrokenTokenizer(f"The chat template of {card.id} {reason}.", WITHOUT_CHAT)


def _rendered(order: Mapping[str, Any]) -> str:
    """Return what the process that renders templates answers; one that has ended is started again the next time."""
    with RENDERING:
        try:
            return str(_process(os.getpid()).ask(order, SECONDS))
        except (TimeoutError, ChildProcessError):
            _process.cache_clear()
            raise


@cache
def _process(owner: int) -> LimitedProcess:
    """Return the process that renders templates; a fork of this process, with another number, has one of its own."""
    return LimitedProcess.of_module(PROGRAM)
