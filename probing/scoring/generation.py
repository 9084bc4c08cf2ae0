"""Greedy continuation by transformers' own generation; batches of equal length, so that batching changes nothing."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice

import torch
from transformers import GenerationConfig, LogitsProcessorList, PreTrainedTokenizerBase

from probing.errors import BadInput, NonFiniteScores, UnsupportedModel
from probing.language_model import Continuation
from probing.scoring import reference
from probing.scoring.hf_model import HFModel

WINDOW = 512

Ids = tuple[int, ...]


def generate(
    model: HFModel, texts: Iterable[str], tokens: int, *, chat: bool = False, system: str = ""
) -> Iterator[Continuation]:
    """Continuations in the order of the texts."""
    stream = iter(texts)
    while window := list(islice(stream, WINDOW)):
        inputs = [_ids(model, text, chat, system) for text in window]
        _refuse_unfit(model, inputs, tokens)
        distinct = list(dict.fromkeys(inputs))
        total = sum(len(ids) + tokens for ids in distinct)
        answers: dict[Ids, Continuation] = {}
        for indices in reference.equal_lengths(distinct, model.budget):
            batch = [distinct[index] for index in indices]
            positions, done = len(batch) * (len(batch[0]) + tokens), 0
            for part, found in model.budget.run(lambda part: (part, _continue(model, part, tokens)), batch, positions):
                answers.update(zip(part, found, strict=True))
                done += len(part) * (len(part[0]) + len(found[0].ends) - 1)  # the last token is not read again
            model.usage.add("generate", len(window) * positions / total, done)
        yield from (answers[ids] for ids in inputs)


def _refuse_unfit(model: HFModel, inputs: Sequence[Ids], tokens: int) -> None:
    for ids in inputs:
        model.refuse_nothing(ids)
    longest = max(len(ids) for ids in inputs) + tokens
    if longest > model.longest:
        raise BadInput(
            f"A text with its continuation takes {longest} tokens, the model takes {model.longest}.",
            "Ask for fewer (--set tokens=N), or choose a model that reads more.",
        )


def _ids(model: HFModel, text: str, chat: bool, system: str) -> Ids:
    if not chat:
        return (*model.encoder.start, *model.tokenizer(text, add_special_tokens=False).input_ids)
    if not model.tokenizer.chat_template:
        raise UnsupportedModel(f"{model.card.id} has no chat template.", "Ask it with --set chat=false.")
    messages = [{"role": "system", "content": system}] if system else []
    ids = model.tokenizer.apply_chat_template(
        [*messages, {"role": "user", "content": text}], add_generation_prompt=True, return_dict=True
    ).input_ids
    return tuple(ids)


@torch.inference_mode()
def _continue(model: HFModel, batch: Sequence[Ids], tokens: int) -> list[Continuation]:
    """Until all have come to an end of their own or have written enough; what ended earlier is filled up."""
    ends, pad = _ends(model), model.tokenizer.pad_token_id
    settings = GenerationConfig(
        max_new_tokens=tokens,
        do_sample=False,
        eos_token_id=ends or None,
        pad_token_id=ends[0] if pad is None and ends else pad,
    )
    ids = torch.tensor(batch, device=model.network.device)
    found = model.network.generate(
        input_ids=ids,
        attention_mask=torch.ones_like(ids),
        generation_config=settings,
        logits_processor=LogitsProcessorList([_Numbers(model.card.id)]),
    )
    return [_continuation(model.tokenizer, written) for written in found[:, ids.shape[1] :].tolist()]


@dataclass(frozen=True)
class _Numbers:
    """A processor of logits that stops where a network gives no numbers: any token would be the most probable."""

    model: str

    def __call__(self, input_ids: torch.Tensor, scores: torch.Tensor) -> torch.Tensor:
        if not (scores < torch.inf).all():
            raise NonFiniteScores(
                f"{self.model} gave a score that is not a number where it was to write.",
                "Try --dtype float32; if it stays so, the weights are damaged.",
            )
        return scores


def _ends(model: HFModel) -> list[int]:
    """The tokens that end a text: the tokenizer's, and others that the model is set to end with, as chat models are."""
    own = getattr(model.network.generation_config, "eos_token_id", None)
    several = own if isinstance(own, list) else [own]
    return [token for token in dict.fromkeys([model.tokenizer.eos_token_id, *several]) if token is not None]


def _continuation(tokenizer: PreTrainedTokenizerBase, written: list[int]) -> Continuation:
    """The text of the tokens and where each of them ends; half a character counts once it is whole."""
    texts = tokenizer.batch_decode([written[: n + 1] for n in range(len(written))], skip_special_tokens=True)
    return Continuation(texts[-1], [len(text.removesuffix("\ufffd")) for text in texts])
