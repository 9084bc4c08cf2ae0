"""The chat template of a model: the text that it writes before an answer, and models that have none."""

from collections.abc import Sequence

from jinja2 import TemplateError
from transformers import PreTrainedTokenizerBase

from probing.errors import BadInput, UnsupportedModel
from probing.kinds import KINDS
from probing.language_model import ModelCard, Request
from probing.start import AUTO
from probing.template import Prompt

ANSWER = "ANSWER"  # stands for what the assistant says while the text before it is found
ROLES = ("user", "assistant")


def refuse_without_chat(card: ModelCard, tokenizer: PreTrainedTokenizerBase) -> None:
    """Raise where the model has no chat template, or a start token is chosen, which is the template's own choice."""
    if not tokenizer.chat_template:
        raise UnsupportedModel(f"{card.id} has no chat template.", "Ask it with --set chat=false.")
    if card.tokenizer and card.tokenizer.start and card.tokenizer.start.policy != AUTO:
        raise BadInput("The chat template decides how a text begins.", "Leave out --start, or --set chat=true.")


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
    refuse_without_chat(card, tokenizer)
    context = _before_answer(card, tokenizer, prompt.messages)
    return Prompt(prompt.pieces, prompt.scored, prompt.verbatim, context, begun=True), options


def _before_answer(card: ModelCard, tokenizer: PreTrainedTokenizerBase, messages: Sequence[str]) -> str:
    """Return all that the chat template writes before the assistant's answer to the messages."""
    texts = [*messages, ANSWER]
    chat = [{"role": ROLES[number % 2], "content": text} for number, text in enumerate(texts)]
    try:
        written = str(tokenizer.apply_chat_template(chat, tokenize=False))
    except TemplateError as error:
        raise UnsupportedModel(
            f"The chat template of {card.id} does not take this chat ({error}).", "Ask it with --set chat=false."
        ) from error
    before, answer, _ = written.rpartition(ANSWER)
    if not answer:
        raise UnsupportedModel(
            f"The chat template of {card.id} does not write what the assistant says.", "Ask it with --set chat=false."
        )
    return before
