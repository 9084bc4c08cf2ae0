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
from probing.scoring.networks import AUTO_CLASSES, checked_tokenizer, keep_network, load_network, merged, require_peft
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
    """Load a hub id (at `commit`), a folder in Hugging Face format, or a `.gguf` file, and run the self-check.

    Models of a hub are downloaded with the token in HF_TOKEN, or that of `hf auth login`, if there is one.

    `model+adapter` names a LoRA adapter as well, a folder or a hub id (`org/name@commit` pins it); it is merged into
    the weights. `adapter`: the same beside a model whose path has a plus.
    `tokenizer`: the folder or hub id whose tokenizer a folder is loaded with, in place of its own. A checkpoint such as
    `checkpoint-500` that has none takes that of the folder around it.
    `device`: auto (a GPU if there is one), cpu, cuda, cuda:1 ... `device_map`: where the parts of a model go that is
    spread over several devices, as accelerate takes it ("auto", "balanced", "sequential", or a mapping from modules to
    devices); in place of `device`.
    `dtype`: number format of the weights: float32, bfloat16 or float16, by name ("torch.bfloat16" too) or as
    `torch.dtype`. "auto": as they are stored on a GPU; on a CPU bfloat16 where they are stored in 16 bits and a short
    trial finds that faster on this processor, else float32, as for GGUF files.
    `quantization`: "4bit" or "8bit" quantises plain weights by bitsandbytes while they are loaded. A checkpoint that is
    stored quantised is loaded as it is; its layers compute in `dtype`.
    `attn_implementation`: sdpa or eager; by default what transformers chooses.
    `batch_tokens`: token positions per batch, calibrated on the real work if not given.
    `on_phase` is called with "tokenizer", "weights" and "trial" before each of these phases begins.
    Raises ModelNotFound, UnsupportedModel, UnsafeModel, SourceUnavailable or BadInput.

    Examples:
        >>> import probing
        >>> model = probing.load("openai-community/gpt2", device="cpu")
        >>> model.card.kind, model.card.id
        ('causal', 'openai-community/gpt2')
        >>> probing.run(model, "starter", relations=["country_capital"], progress=False).record["device"]
        'cpu'
    """
    options = LoadingOptions.of(device, device_map, dtype, quantization, attn_implementation)
    refuse_bad_batch(batch_tokens)
    base, adapter_name = (model, adapter) if adapter else split_adapter(model)
    lora = _adapter(adapter_name) if adapter_name else None
    source = CheckedSource.of(base, commit, tokenizer)
    options = options.for_weights(source.stored_dtype)
    logging.disable_progress_bar()
    on_phase("tokenizer")
    source = source.with_kept(options)
    with source.folder() as folder:
        loaded_tokenizer = checked_tokenizer(source, folder)
        ids = try_tokenizer(source.where, loaded_tokenizer)
        on_phase("weights")
        network = load_network(source, folder, options)
        if source.key and not source.kept:
            keep_network(source.key, network, loaded_tokenizer, AUTO_CLASSES[source.kind])
        card = _card(model, source, network, options, lora, commit)
        network = merged(network, lora) if lora else network
    loaded = MODEL_CLASSES[source.kind](network, loaded_tokenizer, card, batch_tokens)
    loaded.usage.notes += source.notes
    if lora:
        way = "added to the layers" if card.quantisation else "merged into the weights"
        loaded.usage.notes.append(f"The LoRA adapter {lora.identity} is {way}.")
    on_phase("trial")
    with loaded.scoring_state():
        loaded.usage.notes += try_network(model, network, ids)
    self_check(loaded)
    return loaded


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


def _revision(commit: str, files: ModelFiles) -> str:
    """Return the branch, tag or step that the caller named, or a folder is named for; empty for a commit's own hash."""
    if files.source == "hub":
        return "" if files.commit.startswith(commit) else commit
    return files.folder.name if position(files.folder.name) else ""


def _adapter(name: str) -> Adapter:
    """Check an adapter, and that there is a library to merge it."""
    adapter = locate_adapter(name)
    require_peft()
    return adapter
