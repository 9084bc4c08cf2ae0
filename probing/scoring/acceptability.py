"""Acceptability of sentences as language (methods 5.4), judged by one of two kinds of model.

The paper's judge is T5, which learnt CoLA as a text-to-text task; the other kind is a classifier trained on CoLA.
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

COLA_PREFIX = "cola sentence: "
VERDICTS = ("unacceptable", "acceptable")
UNNAMED_CLASSES = ("label_0", "label_1")  # default names of CoLA's classes in a classifier's config; 1 is acceptable
SENTENCES_PER_BATCH = 32


@dataclass(frozen=True)
class Judge:
    """A model that judges how acceptable sentences are as language (methods 5.4).

    `about`: a description of the model. `chances`: maps a few sentences to the probability that each is acceptable, in
    a tensor of shape (sentences,).

    Examples:
        >>> import probing
        >>> judge = probing.Judge.load("judge-model")
        >>> [0 <= chance <= 1 for chance in judge.acceptability(["Oslo is in Norway.", "In is Norway Oslo."])]
        [True, True]
    """

    about: str
    chances: Callable[[Sequence[str]], torch.Tensor]

    @classmethod
    def load(cls, model: str, commit: str = "") -> "Judge":
        """Load a hub id, at a `commit`, or a folder in Hugging Face format; raise what `probing.load` raises."""
        auxiliary = load_auxiliary(model, "a judge of acceptability", _auto_class, commit)
        config = auxiliary.network.config
        if _auto_class(config) is AutoModelForSeq2SeqLM:
            return cls(auxiliary.description, partial(chances_by_words, auxiliary))
        acceptable = acceptable_class(config.id2label)
        return cls(auxiliary.description, partial(chances_by_class, auxiliary, acceptable))

    def acceptability(self, sentences: Sequence[str]) -> Iterator[float]:
        """Yield the probability that each sentence is acceptable, in order."""
        starts = range(0, len(sentences), SENTENCES_PER_BATCH)
        for start in tqdm(starts, unit="batch", desc="acceptability", disable=None):
            yield from self.chances(sentences[start : start + SENTENCES_PER_BATCH]).tolist()


@torch.inference_mode()
def chances_by_class(judge: Auxiliary, acceptable: int, sentences: Sequence[str]) -> torch.Tensor:
    """Return a classifier's probability of the class number `acceptable` for each sentence."""
    encoded = judge.tokenizer(list(sentences), return_tensors="pt", padding=True)
    logits: torch.Tensor = judge.network(input_ids=encoded.input_ids, attention_mask=encoded.attention_mask).logits
    return logits.softmax(-1)[:, acceptable]


@torch.inference_mode()
def chances_by_words(judge: Auxiliary, sentences: Sequence[str]) -> torch.Tensor:
    """Return the probability that a text-to-text model answers "acceptable" rather than "unacceptable"."""
    encoded = judge.tokenizer([COLA_PREFIX + text for text in sentences], return_tensors="pt", padding=True)
    states = judge.network.get_encoder()(input_ids=encoded.input_ids, attention_mask=encoded.attention_mask)
    scores = [_log_probability(judge, word, states, encoded.attention_mask) for word in VERDICTS]
    return torch.stack(scores, -1).softmax(-1)[:, 1]


def acceptable_class(names: Mapping[int, str]) -> int:
    """Return the number of the acceptable class among a classifier's named classes, or raise UnsupportedModel."""
    numbers = {name.casefold(): number for number, name in names.items()}
    if VERDICTS[1] in numbers:
        return numbers[VERDICTS[1]]
    if set(numbers) == set(UNNAMED_CLASSES):
        return numbers[UNNAMED_CLASSES[1]]
    raise UnsupportedModel(
        f"None of the classes {', '.join(names.values())} says that it is the acceptable one.",
        f"Name them in the model's config.json: id2label 0 {VERDICTS[0]}, 1 {VERDICTS[1]}.",
    )


def _auto_class(config: Any) -> Any:
    """Return the class that loads the model: encoder-decoders answer in words unless they were made classifiers."""
    classifies = any(name.endswith("ForSequenceClassification") for name in config.architectures or ())
    in_words = config.is_encoder_decoder and not classifies
    return AutoModelForSeq2SeqLM if in_words else AutoModelForSequenceClassification


def _log_probability(judge: Auxiliary, word: str, states: Any, mask: torch.Tensor) -> torch.Tensor:
    """Return the log-probability of the whole answer, its end token included, for each sentence."""
    answer = judge.tokenizer(word, return_tensors="pt").input_ids.repeat(len(mask), 1)
    logits: torch.Tensor = judge.network(encoder_outputs=states, attention_mask=mask, labels=answer).logits
    return logits.log_softmax(-1).gather(-1, answer.unsqueeze(-1)).sum(dim=(1, 2))
