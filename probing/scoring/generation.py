"""Greedy continuation by the generation of transformers, in batches of texts of similar length.

Shorter texts of a batch are padded on the left, behind a mask, because a pass of few texts costs nearly as much as one
of many. A network that may ignore the mask gets texts of one length.
"""

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from itertools import islice
from typing import Any

import torch
from transformers import GenerationConfig, LogitsProcessorList, PreTrainedTokenizerBase

from probing.arrays import Ids
from probing.errors import NonFiniteScores, TooLong
from probing.language_model import Continuation
from probing.scoring import reference
from probing.scoring.chats import written_chat
from probing.scoring.hf_model import HFModel
from probing.template import Prompt

TEXTS_PER_WINDOW = 512


def generate(
    model: HFModel, texts: Iterable[str | Prompt], tokens: int, *, chat: bool = False, system: str = ""
) -> Iterator[Continuation | TooLong]:
    """Yield a continuation of at most `tokens` tokens per text, in order; equal texts are continued once a window.

    Of a prompt, the text to the left of its blank is continued. A text that is too long is answered by the error.
    """
    stream = (text if isinstance(text, str) else beginning(text, model.blank) for text in texts)
    while window := list(islice(stream, TEXTS_PER_WINDOW)):
        inputs = [_input_ids(model, text, chat, system) for text in window]
        continuations: dict[Ids, Continuation | TooLong] = {}
        for ids in inputs:
            model.limits.refuse_empty(ids)
            if error := model.limits.too_long(ids, more=tokens):
                continuations[ids] = error
        distinct = [ids for ids in dict.fromkeys(inputs) if ids not in continuations]
        for batch in batches(model, distinct, tokens) if distinct else ():
            positions, computed, padding, passes = len(batch) * (len(batch[-1]) + tokens), 0, 0, 0
            for part, texts_of_part in model.budget.run(
                lambda part: (part, _continue(model, part, tokens)), batch, positions
            ):
                for ids, text in zip(part, texts_of_part, strict=True):
                    continuations[ids] = Continuation(text, text.ends, model.tokenizer.decode(list(ids)))
                # The last token generated is never an input.
                longest = max(len(text.ends) for text in texts_of_part)
                computed += len(part) * (len(part[-1]) + longest - 1)
                passes += longest
                padding += sum(len(part[-1]) - len(ids) for ids in part)
            model.usage.add("generate", len(window) * len(batch) / len(distinct), computed, padding, passes)
        yield from (continuations[ids] for ids in inputs)


def batches(model: HFModel, inputs: Sequence[Ids], tokens: int) -> Iterator[list[Ids]]:
    """Yield batches of the inputs, the shortest first, that the budget allows with this many tokens after each."""
    if not model.use_fast_path:
        yield from ([inputs[index] for index in batch] for batch in reference.equal_lengths(inputs, model.budget))
        return
    waiting = sorted(inputs, key=len)
    while waiting:
        fitting = sum(n * (len(ids) + tokens) <= model.budget.tokens for n, ids in enumerate(waiting, 1))
        batch, waiting = waiting[: max(fitting, 1)], waiting[max(fitting, 1) :]
        yield batch


def beginning(prompt: Prompt, blank: str) -> str:
    """Return the text of a prompt to the left of its blank, without the last space."""
    statement = prompt.fill("", blank)
    return statement.text[: statement.start].rstrip()


def _input_ids(model: HFModel, text: str, chat: bool, system: str) -> Ids:
    if not chat:
        return (*model.encoder.start, *model.tokenizer(text, add_special_tokens=False, verbose=False).input_ids)
    messages = [{"role": "system", "content": system}] if system else []
    messages.append({"role": "user", "content": text})
    written = written_chat(model.card, model.tokenizer, messages, begin_answer=True)
    return tuple(model.tokenizer(written, add_special_tokens=False, verbose=False).input_ids)


@torch.inference_mode()
def _continue(model: HFModel, batch: Sequence[Ids], tokens: int) -> list[Continuation]:
    """Continue inputs until each has ended or has `tokens` tokens; the last is the longest, and those before padded."""
    ends, pad = end_tokens(model), model.tokenizer.pad_token_id
    filler = next((token for token in (pad, *ends) if token is not None), 0)
    settings = GenerationConfig(
        max_new_tokens=tokens,
        do_sample=False,
        eos_token_id=ends or None,
        pad_token_id=filler if pad is not None or ends else None,
    )
    missing = [len(batch[-1]) - len(ids) for ids in batch]
    ids = torch.tensor([(filler,) * count + ids for count, ids in zip(missing, batch, strict=True)])
    mask = torch.arange(ids.shape[1]) >= torch.tensor(missing)[:, None]
    ids, mask = ids.to(model.network.device), mask.long().to(model.network.device)
    with _without_recommendations(model.network):
        sequences = model.network.generate(
            input_ids=ids,
            attention_mask=mask,
            generation_config=settings,
            logits_processor=LogitsProcessorList([partial(_checked, model.card.id)]),
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


def _checked(model: str, input_ids: torch.Tensor, scores: torch.Tensor) -> torch.Tensor:
    """Return the logits; raise where they are not numbers, because greedy decoding would pick any token there."""
    refuse_non_finite(model, scores)
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
