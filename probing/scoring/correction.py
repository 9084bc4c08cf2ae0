"""Grammar correction by a text-to-text model (methods 3.1; the paper's 5.1.2): optional, once for all models."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import torch
from tqdm import tqdm
from transformers import AutoModelForSeq2SeqLM, GenerationConfig

from probing.scoring.auxiliary import load_auxiliary

PREFIX = "grammar: "
BEAMS = 5
LONGEST = 128  # tokens of a corrected sentence
BATCH = 32


@dataclass(frozen=True)
class Corrector:
    """A model that rewrites sentences; `remark` says which, for the sample's notes."""

    network: Any
    tokenizer: Any
    remark: str

    @classmethod
    def load(cls, model: str, commit: str = "") -> "Corrector":
        """A hub id or a folder in Hugging Face format."""
        found = load_auxiliary(model, "a text-to-text model", lambda _: AutoModelForSeq2SeqLM, commit)
        return cls(found.network, found.tokenizer, f"Grammar corrected by {found.about}.")

    def correct(self, sentences: Sequence[str]) -> Iterator[str]:
        """In their order; one that comes back empty stays as it was."""
        for start in tqdm(range(0, len(sentences), BATCH), unit="batch", desc="grammar", disable=None):
            batch = sentences[start : start + BATCH]
            yield from (new or old for new, old in zip(self._rewritten(batch), batch, strict=True))

    @torch.inference_mode()
    def _rewritten(self, batch: Sequence[str]) -> list[str]:
        encoded = self.tokenizer([PREFIX + text for text in batch], return_tensors="pt", padding=True)
        settings = GenerationConfig.from_model_config(self.network.config)
        settings.update(num_beams=BEAMS, min_length=1, max_new_tokens=LONGEST, do_sample=False)
        found = self.network.generate(
            input_ids=encoded.input_ids, attention_mask=encoded.attention_mask, generation_config=settings
        )
        return [text.strip() for text in self.tokenizer.batch_decode(found, skip_special_tokens=True)]
