"""Grammar correction by a text-to-text model (methods 3.1; the paper's 5.1.2): optional, done once for all models."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import torch
from tqdm import tqdm
from transformers import AutoModelForSeq2SeqLM, GenerationConfig

from probing.scoring.auxiliary import load_auxiliary

GRAMMAR_PREFIX = "grammar: "
BEAMS = 5
MAX_NEW_TOKENS = 128
SENTENCES_PER_BATCH = 32


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
        auxiliary = load_auxiliary(model, "a text-to-text model", lambda _: AutoModelForSeq2SeqLM, commit)
        return cls(auxiliary.network, auxiliary.tokenizer, f"Grammar corrected by {auxiliary.description}.")

    def correct(self, sentences: Sequence[str]) -> Iterator[str]:
        """Yield the corrected sentences in order; a sentence whose correction is empty stays as it was."""
        starts = range(0, len(sentences), SENTENCES_PER_BATCH)
        for start in tqdm(starts, unit="batch", desc="grammar", disable=None):
            batch = sentences[start : start + SENTENCES_PER_BATCH]
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
