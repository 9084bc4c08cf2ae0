"""Safe loading of models: files are checked first, and no code of theirs is run."""

from collections.abc import Callable, Mapping
from typing import Any

from transformers import PreTrainedModel
from transformers.utils import logging

from probing.files.adapters import Adapter, locate_adapter, split_adapter
from probing.files.model_files import ModelFiles
from probing.kinds import Kind
from probing.language_model import ModelCard
from probing.model_source import refuse_bad_batch
from probing.revisions import position
from probing.scoring.causal import CausalModel
from probing.scoring.encoder_decoder import EncoderDecoderModel
from probing.scoring.loading_options import CheckedSource, LoadingOptions
from probing.scoring.masked import MaskedModel
from probing.scoring.merging import merged, require_peft
from probing.scoring.networks import AUTO_CLASSES, checked_tokenizer, keep_network, load_network
from probing.scoring.self_check import self_check
from probing.scoring.trial import try_network, try_tokenizer
from probing.scoring.verbs import AnsweringModel

# The class of this library that scores with a network of each kind.
MODEL_CLASSES: Mapping[Kind, type[AnsweringModel]] = {
    "causal": CausalModel,
    "masked": MaskedModel,
    "encoder-decoder": EncoderDecoderModel,
}


def load(
    model: str,
    *,
    commit: str = "",
    tokenizer: str = "",
    device: str = "auto",
    device_map: str | Mapping[str, Any] | None = None,
    dtype: Any = "float32",
    quantization: str = "none",
    attn_implementation: str = "",
    batch_tokens: int | None = None,
    adapter: str = "",
    on_phase: Callable[[str], None] = lambda phase: None,
) -> AnsweringModel:
    """Load a hub id (at `commit`), a folder or a GGUF file (`gguf:org/name:Q4_K_M` at a hub), and run the self-check.

    Models of a hub are downloaded with the token in HF_TOKEN, or that of `hf auth login`, if there is one. `tokenizer`:
    a folder or hub id whose tokenizer a model in a folder is loaded with. `device`, `device_map`, `attn_implementation`
    and `batch_tokens`: as `probing.model_source.ModelSource` explains. `dtype`: as that of
    `probing.scoring.loading_options.LoadingOptions`. `quantization`: "4bit" or "8bit" quantises plain weights.
    `model+adapter` names a LoRA adapter as well, a folder or a hub id (`org/name@commit` pins it); it is merged into
    the weights. `adapter`: the same beside a model whose path has a plus.
    `on_phase` is called with "tokenizer", "weights" and "trial" before each of these phases begins.
    Raises ModelNotFound, UnsupportedModel, UnsafeModel, SourceUnavailable or BadInput.

    Examples:
        >>> import probing
        >>> model = probing.load("openai-community/gpt2", device="cpu")
        >>> model.card.kind, model.card.id
        ('causal', 'openai-community/gpt2')
    """
    options = LoadingOptions.of(device, device_map, dtype, quantization, attn_implementation)
    refuse_bad_batch(batch_tokens)
    base, adapter_name = (model, adapter) if adapter else split_adapter(model)
    lora = _adapter(adapter_name) if adapter_name else None
    source = CheckedSource.of(base, commit, tokenizer)
    options = options.for_weights(source.stored_dtype)
    network, loaded_tokenizer, ids, notes = _read(source, options, on_phase)
    card = _card(model, source, network, options, lora, commit)
    network = merged(network, lora, ids) if lora else network
    loaded = MODEL_CLASSES[source.kind](network, loaded_tokenizer, card, batch_tokens)
    loaded.usage.notes += [*source.notes, *notes, *_adapter_notes(card)]
    on_phase("trial")
    _try(loaded, model, network, ids)
    return loaded


def _read(
    source: CheckedSource, options: LoadingOptions, on_phase: Callable[[str], None]
) -> tuple[PreTrainedModel, Any, list[int], list[str]]:
    """Read the network and the tokenizer; return both, the first tokens of a text to try the network with, and notes.

    The notes are on the tokens and the weights.
    """
    logging.disable_progress_bar()
    on_phase("tokenizer")
    source = source.with_kept(options)
    with source.folder() as folder:
        tokenizer, notes = checked_tokenizer(source, folder)
        ids = try_tokenizer(source.where, tokenizer)
        on_phase("weights")
        network, more_notes = load_network(source, folder, options)
        if source.key and not source.kept:
            keep_network(source.key, network, tokenizer, AUTO_CLASSES[source.kind])
    return network, tokenizer, ids, [*notes, *more_notes]


def _try(loaded: AnsweringModel, model: str, network: PreTrainedModel, ids: list[int]) -> None:
    """Compute the start of a text, and check in which ways the model's statements can share work."""
    with loaded.scoring_state():
        loaded.usage.notes += try_network(model, network, [*loaded.added_tokens, *ids])
    self_check(loaded)


def _card(
    model: str,
    source: CheckedSource,
    network: PreTrainedModel,
    options: LoadingOptions,
    adapter: Adapter | None,
    commit: str,
) -> ModelCard:
    quantised = source.quantisation or options.quantised
    part = source.description.text_part if source.description else None
    return ModelCard(
        id=model,
        kind=source.kind,
        architecture=part.title if part else type(network).__name__,
        parameters=network.num_parameters(),
        commit=source.files.commit,
        source=source.files.source,
        files=source.files.digests | (adapter.digests() if adapter else {}),
        adapter=adapter.identity if adapter else "",
        revision=_revision(commit, source.files),
        quantisation=quantised.title if quantised else "",
    )


def _adapter_notes(card: ModelCard) -> list[str]:
    way = "added to the layers" if card.quantisation else "merged into the weights"
    return [f"The LoRA adapter {card.adapter} is {way}."] if card.adapter else []


def _revision(commit: str, files: ModelFiles) -> str:
    """Return the branch, tag or step that the caller named, or a folder is named for; empty for a commit's own hash."""
    if files.commit:
        return "" if files.commit.startswith(commit) else commit
    return files.folder.name if position(files.folder.name) else ""


def _adapter(name: str) -> Adapter:
    adapter = locate_adapter(name)
    require_peft()
    return adapter
