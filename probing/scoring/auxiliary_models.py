"""Models that help to make a benchmark, loaded with the same precautions as probed models.

A text-to-text model corrects the grammar of sentences (methods 3.1; the paper's 5.1.2): optional, and done once for all
models that are probed. A judge tells how acceptable sentences are as language (methods 5.4). The paper's judge is T5,
which learnt CoLA as a text-to-text task; the other kind is a classifier trained on CoLA.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import torch
from transformers import (
    AutoConfig,
    AutoModelForSeq2SeqLM,
    AutoModelForSequenceClassification,
    GenerationConfig,
)
from transformers.utils import logging

from probing.errors import UnsupportedModel
from probing.files.description import describe
from probing.files.model_files import locate
from probing.progress_bar import with_progress
from probing.scoring.loading_options import LOADING_ERRORS, SAVE_AGAIN, first_line
from probing.scoring.network_state import without_advice
from probing.scoring.tokenizer_files import read_tokenizer

GRAMMAR_PREFIX = "grammar: "
BEAMS = 5
MAX_NEW_TOKENS = 128
CORRECTED_PER_BATCH = 32
COLA_PREFIX = "cola sentence: "
VERDICTS = ("unacceptable", "acceptable")
UNNAMED_CLASSES = ("label_0", "label_1")  # default names of CoLA's classes in a classifier's config; 1 is acceptable
JUDGED_PER_BATCH = 32


@dataclass(frozen=True)
class Corrector:
    """A model that rewrites sentences; `remark` names it in the notes of the sample.

    `network`: a text-to-text network. `tokenizer`: its tokenizer.

    Examples:
        >>> import probing
        >>> corrector = probing.Corrector.load("grammar-model")
        >>> len(list(corrector.correct(["He go to school.", "She read book."])))
        2
    """

    network: Any
    tokenizer: Any
    remark: str

    @classmethod
    def load(cls, model: str, commit: str = "") -> "Corrector":
        """Load a hub id, at a `commit`, or a folder in Hugging Face format; raise what `probing.load` raises."""
        network, tokenizer, description = load_auxiliary(
            model, "a text-to-text model", lambda _: AutoModelForSeq2SeqLM, commit
        )
        return cls(network, tokenizer, f"Grammar corrected by {description}.")

    def correct(self, sentences: Sequence[str]) -> Iterator[str]:
        """Yield the corrected sentences in order; a sentence whose correction is empty stays as it was."""
        starts = range(0, len(sentences), CORRECTED_PER_BATCH)
        for start in with_progress(starts, "grammar"):
            batch = sentences[start : start + CORRECTED_PER_BATCH]
            yield from (new or old for new, old in zip(self._rewritten(batch), batch, strict=True))

    @torch.inference_mode()
    def _rewritten(self, batch: Sequence[str]) -> list[str]:
        encoded = self.tokenizer([GRAMMAR_PREFIX + text for text in batch], return_tensors="pt", padding=True)
        settings = GenerationConfig.from_model_config(self.network.config)
        settings.update(num_beams=BEAMS, min_length=1, max_new_tokens=MAX_NEW_TOKENS, do_sample=False)
        generated = self.network.generate(
            input_ids=encoded.input_ids, attention_mask=encoded.attention_mask, generation_config=settings
        )
        return [text.strip() for text in self.tokenizer.batch_decode(generated, skip_special_tokens=True)]


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
        network, tokenizer, about = load_auxiliary(model, "a judge of acceptability", _auto_class, commit)
        if _auto_class(network.config) is AutoModelForSeq2SeqLM:
            return cls(about, partial(chances_by_words, network, tokenizer))
        return cls(about, partial(chances_by_class, network, tokenizer, acceptable_class(network.config.id2label)))

    def acceptability(self, sentences: Sequence[str]) -> Iterator[float]:
        """Yield the probability that each sentence is acceptable, in order."""
        starts = range(0, len(sentences), JUDGED_PER_BATCH)
        for start in with_progress(starts, "acceptability"):
            yield from self.chances(sentences[start : start + JUDGED_PER_BATCH]).tolist()


def load_auxiliary(
    model: str, purpose: str, auto_class: Callable[[Any], Any], commit: str = ""
) -> tuple[Any, Any, str]:
    """Load a hub id or a folder in Hugging Face format, from safetensors and without running code of its own.

    Return the network, its tokenizer, and what names it with its commit and the digests of its files.
    `auto_class`: maps the model's config to the class of transformers that loads it. `purpose`: what the model should
    be, for error messages.
    """
    files = locate(model, commit, any_head=True)
    if files.gguf:
        raise UnsupportedModel(f"A GGUF file is not {purpose}.", "Give a folder in Hugging Face format.")
    describe(files.listing(), any_head=True)
    logging.disable_progress_bar()
    safely = {"pretrained_model_name_or_path": files.folder, "local_files_only": True, "trust_remote_code": False}
    options = {"use_safetensors": True, "dtype": torch.float32, "output_loading_info": True}
    tokenizer, _ = read_tokenizer(model, safely, SAVE_AGAIN)
    try:
        loader = auto_class(AutoConfig.from_pretrained(**safely))
        with without_advice():
            network, info = loader.from_pretrained(**safely, **options)
    except LOADING_ERRORS as error:
        raise UnsupportedModel(
            f"{model} is not {purpose} that can be loaded: {first_line(error)}", "Choose one that was trained for it."
        ) from error
    if missing := sorted(info["missing_keys"]):  # transformers has filled these weights with random numbers
        raise UnsupportedModel(
            f"{model} is not {purpose}: it lacks {missing[0]}.", "Choose one that was trained for it."
        )
    if tokenizer.pad_token is None:
        raise UnsupportedModel(f"{model} has no padding token.", "Save it with a tokenizer that names one.")
    digests = ", ".join(f"{name} {digest[:12]}" for name, digest in files.digests.items())
    return network.eval(), tokenizer, f"{model} {files.commit} ({digests})"


@torch.inference_mode()
def chances_by_class(network: Any, tokenizer: Any, acceptable: int, sentences: Sequence[str]) -> torch.Tensor:
    """Return a classifier's probability of the class number `acceptable` for each sentence."""
    encoded = tokenizer(list(sentences), return_tensors="pt", padding=True)
    logits: torch.Tensor = network(input_ids=encoded.input_ids, attention_mask=encoded.attention_mask).logits
    return logits.softmax(-1)[:, acceptable]


@torch.inference_mode()
def chances_by_words(network: Any, tokenizer: Any, sentences: Sequence[str]) -> torch.Tensor:
    """Return the probability that a text-to-text model answers "acceptable" rather than "unacceptable"."""
    encoded = tokenizer([COLA_PREFIX + text for text in sentences], return_tensors="pt", padding=True)
    states = network.get_encoder()(input_ids=encoded.input_ids, attention_mask=encoded.attention_mask)
    scores = [_log_probability(network, tokenizer, word, states, encoded.attention_mask) for word in VERDICTS]
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


def _log_probability(network: Any, tokenizer: Any, word: str, states: Any, mask: torch.Tensor) -> torch.Tensor:
    """Return the log-probability of the whole answer, its end token included, for each sentence."""
    answer = tokenizer(word, return_tensors="pt").input_ids.repeat(len(mask), 1)
    logits: torch.Tensor = network(encoder_outputs=states, attention_mask=mask, labels=answer).logits
    return logits.log_softmax(-1).gather(-1, answer.unsqueeze(-1)).sum(dim=(1, 2))
