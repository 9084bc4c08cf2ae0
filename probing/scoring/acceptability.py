"""How acceptable sentences are as language (methods 5.4), by one of two kinds of model.

The paper's judge is T5, which learnt CoLA as text to text; the other kind is a classifier that was trained on CoLA.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import torch
from tqdm import tqdm
from transformers import AutoModelForSeq2SeqLM, AutoModelForSequenceClassification

from probing.errors import UnsupportedModel
from probing.scoring.auxiliary import Auxiliary, load_auxiliary

PREFIX = "cola sentence: "
WORDS = ("unacceptable", "acceptable")
NUMBERS = ("label_0", "label_1")  # what classifiers call CoLA's classes where nobody named them; 1 is acceptable
BATCH = 32


@dataclass(frozen=True)
class Judge:
    """`about`: which model it is. `chances`: from a few sentences to the probability that each is acceptable."""

    about: str
    chances: Callable[[Sequence[str]], torch.Tensor]

    @classmethod
    def load(cls, model: str, commit: str = "") -> "Judge":
        """A hub id or a folder in Hugging Face format."""
        found = load_auxiliary(model, "a judge of acceptability", _auto, commit)
        if _auto(found.network.config) is AutoModelForSeq2SeqLM:
            return cls(found.about, partial(by_words, found))
        return cls(found.about, partial(by_class, found, acceptable_class(found.network.config.id2label)))

    def acceptability(self, sentences: Sequence[str]) -> Iterator[float]:
        """The probability that each is acceptable, in their order."""
        for start in tqdm(range(0, len(sentences), BATCH), unit="batch", desc="acceptability", disable=None):
            yield from self.chances(sentences[start : start + BATCH]).tolist()


@torch.inference_mode()
def by_class(judge: Auxiliary, acceptable: int, sentences: Sequence[str]) -> torch.Tensor:
    asked = judge.tokenizer(list(sentences), return_tensors="pt", padding=True)
    logits: torch.Tensor = judge.network(input_ids=asked.input_ids, attention_mask=asked.attention_mask).logits
    return logits.softmax(-1)[:, acceptable]


@torch.inference_mode()
def by_words(judge: Auxiliary, sentences: Sequence[str]) -> torch.Tensor:
    """That it answers "acceptable" rather than "unacceptable"."""
    asked = judge.tokenizer([PREFIX + text for text in sentences], return_tensors="pt", padding=True)
    states = judge.network.get_encoder()(input_ids=asked.input_ids, attention_mask=asked.attention_mask)
    scores = [_log_probability(judge, word, states, asked.attention_mask) for word in WORDS]
    return torch.stack(scores, -1).softmax(-1)[:, 1]


def acceptable_class(names: Mapping[int, str]) -> int:
    numbers = {name.casefold(): number for number, name in names.items()}
    if WORDS[1] in numbers:
        return numbers[WORDS[1]]
    if set(numbers) == set(NUMBERS):
        return numbers[NUMBERS[1]]
    raise UnsupportedModel(
        f"None of the classes {', '.join(names.values())} says that it is the acceptable one.",
        f"Name them in the model's config.json: id2label 0 {WORDS[0]}, 1 {WORDS[1]}.",
    )


def _auto(config: Any) -> Any:
    """What loads it: T5 and its like answer in words, unless a classifier was made of them."""
    classifies = any(name.endswith("ForSequenceClassification") for name in config.architectures or ())
    in_words = config.is_encoder_decoder and not classifies
    return AutoModelForSeq2SeqLM if in_words else AutoModelForSequenceClassification


def _log_probability(judge: Auxiliary, word: str, states: Any, mask: torch.Tensor) -> torch.Tensor:
    """Of the whole answer and its end, for each sentence."""
    answer = judge.tokenizer(word, return_tensors="pt").input_ids.repeat(len(mask), 1)
    logits: torch.Tensor = judge.network(encoder_outputs=states, attention_mask=mask, labels=answer).logits
    return logits.log_softmax(-1).gather(-1, answer.unsqueeze(-1)).sum(dim=(1, 2))
