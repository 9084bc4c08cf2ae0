"""Greedy continuation by the generation of transformers, in batches of equal length, so that padding is not needed."""

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import islice
from typing import Any

import torch
from transformers import GenerationConfig, LogitsProcessorList, PreTrainedTokenizerBase

from probing.arrays import Ids
from probing.errors import BadInput, NonFiniteScores, UnsupportedModel
from probing.language_model import Continuation
from probing.scoring import reference
from probing.scoring.hf_model import HFModel
from probing.start_token import AUTO
from probing.template import Prompt

TEXTS_PER_WINDOW = 512


def generate(
    model: HFModel, texts: Iterable[str | Prompt], tokens: int, *, chat: bool = False, system: str = ""
) -> Iterator[Continuation]:
    """Yield a continuation of at most `tokens` tokens per text, in order; equal texts are continued once a window.

    Of a prompt, the text to the left of its blank is continued.
    """
    stream = (text if isinstance(text, str) else beginning(text, model.blank) for text in texts)
    while window := list(islice(stream, TEXTS_PER_WINDOW)):
        inputs = [_input_ids(model, text, chat, system) for text in window]
        _refuse_unfit(model, inputs, tokens)
        distinct = list(dict.fromkeys(inputs))
        total = sum(len(ids) + tokens for ids in distinct)
        continuations: dict[Ids, Continuation] = {}
        for indices in reference.equal_lengths(distinct, model.budget):
            batch = [distinct[index] for index in indices]
            positions, computed = len(batch) * (len(batch[0]) + tokens), 0
            for part, texts_of_part in model.budget.run(
                lambda part: (part, _continue(model, part, tokens)), batch, positions
            ):
                continuations.update(zip(part, texts_of_part, strict=True))
                # The last token generated is never an input.
                computed += len(part) * (len(part[0]) + len(texts_of_part[0].ends) - 1)
            model.usage.add("generate", len(window) * positions / total, computed)
        yield from (continuations[ids] for ids in inputs)


def beginning(prompt: Prompt, blank: str) -> str:
    """Return the text of a prompt to the left of its blank, without the last space."""
    statement = prompt.fill("", blank)
    return statement.text[: statement.start].rstrip()


def _refuse_unfit(model: HFModel, inputs: Sequence[Ids], tokens: int) -> None:
    for ids in inputs:
        model.refuse_nothing(ids)
    refuse_long(model, max(len(ids) for ids in inputs) + tokens)


def refuse_long(model: HFModel, length: int) -> None:
    """Raise `BadInput` if a text and its continuation take more tokens than the network."""
    if length > model.longest:
        raise BadInput(
            f"A text with its continuation takes {length} tokens, the model takes {model.longest}.",
            "Ask for fewer (--set tokens=N), or choose a model that takes longer texts.",
        )


def _input_ids(model: HFModel, text: str, chat: bool, system: str) -> Ids:
    if not chat:
        return (*model.encoder.start, *model.tokenizer(text, add_special_tokens=False).input_ids)
    if not model.tokenizer.chat_template:
        raise UnsupportedModel(f"{model.card.id} has no chat template.", "Ask it with --set chat=false.")
    if model.card.tokenizer and model.card.tokenizer.start and model.card.tokenizer.start.policy != AUTO:
        raise BadInput("The chat template decides how a text begins.", "Leave out --start, or --set chat=true.")
    messages = [{"role": "system", "content": system}] if system else []
    ids = model.tokenizer.apply_chat_template(
        [*messages, {"role": "user", "content": text}], add_generation_prompt=True, return_dict=True
    ).input_ids
    return tuple(ids)


@torch.inference_mode()
def _continue(model: HFModel, batch: Sequence[Ids], tokens: int) -> list[Continuation]:
    """Continue inputs of one length until each has ended or has `tokens` tokens; those that end early are padded."""
    ends, pad = end_tokens(model), model.tokenizer.pad_token_id
    settings = GenerationConfig(
        max_new_tokens=tokens,
        do_sample=False,
        eos_token_id=ends or None,
        pad_token_id=ends[0] if pad is None and ends else pad,
    )
    ids = torch.tensor(batch, device=model.network.device)
    with _without_recommendations(model.network):
        sequences = model.network.generate(
            input_ids=ids,
            attention_mask=torch.ones_like(ids),
            generation_config=settings,
            logits_processor=LogitsProcessorList([_RefuseNonFinite(model.card.id)]),
        )
    return [continuation(model.tokenizer, generated) for generated in sequences[:, ids.shape[1] :].tolist()]


@contextmanager
def _without_recommendations(network: Any) -> Iterator[None]:
    """Set aside the settings that a model comes with, from which transformers takes penalties, beams and the like."""
    recommended, network.generation_config = network.generation_config, GenerationConfig()
    try:
        yield
    finally:
        network.generation_config = recommended


@dataclass(frozen=True)
class _RefuseNonFinite:
    """Processor of logits that raises where they are not numbers; greedy decoding would pick any token there."""

    model: str

    def __call__(self, input_ids: torch.Tensor, scores: torch.Tensor) -> torch.Tensor:
        refuse_non_finite(self.model, scores)
        return scores


def refuse_non_finite(model: str, scores: torch.Tensor) -> None:
    """Raise `NonFiniteScores` where the next token's logits are not numbers."""
    if not (scores < torch.inf).all():
        raise NonFiniteScores(
            f"{model} gave a score that is not a number where it was to write.",
            "Try --dtype float32; if that does not help, the weights are damaged.",
        )


def end_tokens(model: HFModel) -> list[int]:
    """Return the tokens that end a text: the tokenizer's, and those in the generation settings, as chat models have."""
    configured = getattr(model.network.generation_config, "eos_token_id", None)
    tokens = configured if isinstance(configured, list) else [configured]
    return [token for token in dict.fromkeys([model.tokenizer.eos_token_id, *tokens]) if token is not None]


def continuation(tokenizer: PreTrainedTokenizerBase, generated: list[int]) -> Continuation:
    """Decode the tokens and find where each ends in the text; an incomplete character at the end is not counted."""
    if not generated:
        return Continuation("")
    texts = tokenizer.batch_decode([generated[: n + 1] for n in range(len(generated))], skip_special_tokens=True)
    return Continuation(texts[-1], [len(text.removesuffix("\ufffd")) for text in texts])
