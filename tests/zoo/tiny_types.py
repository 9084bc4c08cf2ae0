"""Tiny networks of the model types of the installed transformers, with random weights, saved as on the hub.

A tiny config is made from the defaults of its class: sizes are replaced by rules for the names of fields, and what the
class derives from other fields is left to it. `tiny_types.toml` holds what these rules cannot know.
"""

import dataclasses
import re
import tomllib
from collections.abc import Iterator, Mapping
from copy import deepcopy
from dataclasses import dataclass
from functools import cache, cached_property
from pathlib import Path
from typing import Any

import torch
import transformers
from transformers import CONFIG_MAPPING, PreTrainedConfig, PreTrainedModel, PreTrainedTokenizerFast
from transformers.models.auto import modeling_auto

from probing.kinds import Kind
from tests.probing.scoring.seq2seq import bart_tokenizer, sentinel_tokenizer
from tests.tiny_models import byte_level_bpe, word_piece

# The tables of transformers that list the classes of each kind; the last one holds models that read more than texts.
TABLES: Mapping[str, Kind] = {
    "MODEL_FOR_CAUSAL_LM_MAPPING_NAMES": "causal",
    "MODEL_FOR_SEQ_TO_SEQ_CAUSAL_LM_MAPPING_NAMES": "encoder-decoder",
    "MODEL_FOR_MASKED_LM_MAPPING_NAMES": "masked",
    "MODEL_FOR_MULTIMODAL_LM_MAPPING_NAMES": "causal",
}
WIDTH, INNER, HEADS, GROUPS, HEAD, LAYERS, EXPERTS = 32, 64, 4, 2, 8, 4, 4
LONGEST = 512
SPREAD = 0.4  # of random weights: so large that a wrong mask changes the scores
MOST_PARAMETERS = 20_000_000
# The first pattern that fits the whole name of a field gives its value. No rule makes a number larger.
RULES: tuple[tuple[str, int], ...] = (
    (r"(?!.*(experts|layers|groups)).*(vocab_size|_embeddings)", LONGEST),
    (r"n_positions|n_ctx|max_seq_len|context_length|max_(source|target)_positions", LONGEST),
    (r".*(lora_rank|_rank|lowrank)", 2 * HEAD),
    (r"(?!(.*_)?(num|n)_).*(head_dim|headdim|head_size|dim_head|d_head|head_width)|d_kv|kv_channels|rotary_dim", HEAD),
    (r".*(_d_state|state_size)", HEAD),
    (r"(?!(.*_)?(num|n)_).*(intermediate_size|ffn_dim|hidden_dim|ff_dim|ffn_hidden_size|mlp_dim)", INNER),
    (r"feed_forward_size|d_ff|dff|dim_ff|d_inner|n_inner", INNER),
    (r"(?!(.*_)?(num|n)_).*(hidden_size|embed_dim|embedding_size|emb_dim|embedding_dim|d_model)", WIDTH),
    (r"(?!(.*_)?(num|n)_).*(proj_dim|projection_dim)", WIDTH),
    (r"(?!(.*_)?(num|n)_).*(output_dim|out_dim|in_dim|input_dim|out_channels|proj_dims|lru_width|d_latents)", WIDTH),
    (r"dim|n_embd|output_channels|d_embed|moe_latent_size", WIDTH),
    (r".*(kv_heads|key_value_heads|key_heads|kv_n_heads)", GROUPS),
    (r"(.*_)?(num|n)_.*heads|n_heads?|num_heads|(encoder_|decoder_)?attention_heads|.*_attention_heads", HEADS),
    (r"n_groups?|.*topk_group|num_.*groups|.*_ngroups", 1),
    (r"(.*_)?(num|n)_.*shared_experts", 1),
    (r".*(experts_per_tok|top_?k|moe_k|top_k_experts|active_experts|topk_experts)", 2),
    (r"(.*_)?(num|n)_.*experts|num_experts|zero_expert_num", EXPERTS),
    (r"first_k_dense_replace|num_dense_layers|moe_layer_start_index", 1),
    (r"depth|(num_)?.*_depth", 2),
    (r"(.*_)?(num|n)_.*layers|n_layers?|num_layers|(encoder_|decoder_)?layers|.*_layers|num_blocks", LAYERS),
    (r".*image_size|crop_size", 32),
    (r".*patch_size", 8),
)  # fmt: skip
MODALITY = re.compile(r".*(image|video|audio|vision|frame|boi|eoi|boa|eoa|speech|slice|tts|codec).*_(id|index)")
EXCEPTIONS_FILE = Path(__file__).with_name("tiny_types.toml")


@dataclass(frozen=True)
class ModelType:
    """A row of the tables of transformers: a kind, the value of `model_type`, and the class of the network."""

    kind: Kind
    name: str
    architecture: str

    @property
    def key(self) -> tuple[str, str]:
        return self.name, self.architecture

    @cached_property
    def exception(self) -> Mapping[str, Any]:
        """What the file of exceptions says about the type; an entry for a class comes before one for a model type."""
        return _exceptions().get(self.architecture) or _exceptions().get(self.name) or {}

    @property
    def reason(self) -> str:
        """Why no tiny network of the type is built; empty if it is."""
        return str(self.exception.get("left_out", ""))


def model_types() -> list[ModelType]:
    """Return every type that the tables list, once for each class of networks."""
    types: dict[tuple[str, str], ModelType] = {}
    for table, kind in TABLES.items():
        for name, classes in getattr(modeling_auto, table).items():
            for architecture in (classes,) if isinstance(classes, str) else classes:
                types.setdefault((name, architecture), ModelType(kind, name, architecture))
    return sorted(types.values(), key=lambda row: (row.kind, row.name, row.architecture))


@cache
def _exceptions() -> Mapping[str, Mapping[str, Any]]:
    return tomllib.loads(EXCEPTIONS_FILE.read_text(encoding="utf-8"))


@cache
def tokenizer_of(kind: Kind, sentinels: bool = False) -> PreTrainedTokenizerFast:
    """Return the tokenizer with which networks of a kind are saved."""
    if kind == "causal":
        return byte_level_bpe(start="<s>")
    if kind == "masked":
        return word_piece()
    return sentinel_tokenizer() if sentinels else bart_tokenizer()


def build(row: ModelType, folder: Path) -> tuple[PreTrainedModel, PreTrainedTokenizerFast]:
    """Save a tiny network of the type and its tokenizer in a folder; return both as they are in memory."""
    tokenizer = tokenizer_of(row.kind, bool(row.exception.get("sentinels")))
    config = tiny_config(row, tokenizer)
    kind: Any = getattr(transformers, row.architecture)
    with torch.device("meta"):
        size = sum(parameter.numel() for parameter in kind(deepcopy(config)).parameters())
    if size > MOST_PARAMETERS:
        raise ValueError(f"it has {size:,} parameters")
    with torch.random.fork_rng():
        torch.manual_seed(0)
        network = kind(config).eval()
    network.save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    return network, tokenizer


def tiny_config(row: ModelType, tokenizer: PreTrainedTokenizerFast) -> PreTrainedConfig:
    """Return the config of a type with tiny sizes, for a tokenizer."""
    usual = _own_part(CONFIG_MAPPING[row.name](), getattr(transformers, row.architecture).config_class)
    settings = _shrunk(usual, tokenizer, row.exception.get("layers", LAYERS))
    if row.kind == "causal" and not usual.is_encoder_decoder and hasattr(usual, "is_decoder"):
        settings["is_decoder"] = True
    if row.kind == "encoder-decoder":  # checkpoints have it, defaults of classes often do not
        settings["decoder_start_token_id"] = tokenizer.eos_token_id
    _merge(settings, row.exception.get("set", {}))
    return type(usual)(**settings)


def _own_part(config: PreTrainedConfig, kind: type[PreTrainedConfig]) -> PreTrainedConfig:
    """Return the part of a config of several networks that is for the one whose config has this class."""
    parts = [getattr(config, name, None) for name in config.sub_configs]
    return next((part for part in parts if type(part) is kind and type(config) is not kind), config)


def _merge(settings: dict[str, Any], more: Mapping[str, Any]) -> None:
    for name, value in more.items():
        if isinstance(value, Mapping) and isinstance(settings.get(name), dict):
            _merge(settings[name], value)
        else:
            settings[name] = value


def _shrunk(config: PreTrainedConfig, tokenizer: PreTrainedTokenizerFast, layers: int) -> dict[str, Any]:
    """Return the arguments of a config's class for a tiny network; nested configs are dictionaries."""
    settings: dict[str, Any] = {}
    for name, declared in _declared(type(config)):
        try:
            value = getattr(config, name, None)
        except Exception:  # transformers refuses to tell sizes that differ between the layers of a default
            value = declared
        if isinstance(value, PreTrainedConfig):
            settings[name] = _shrunk(value, tokenizer, layers) | {"model_type": value.model_type}
        elif (size := _size(name, declared if declared is not None else value, layers)) is not None:
            if declared is not None:
                settings[name] = size
        elif (token := _token(name, value, tokenizer)) is not None:
            settings[name] = token
    spread = {"initializer_range": SPREAD, "init_std": SPREAD, "initializer_std": SPREAD}
    names = {name for name, _ in _declared(type(config))}
    settings |= {name: value for name, value in spread.items() if name in names}
    return settings


def _declared(kind: type[PreTrainedConfig]) -> Iterator[tuple[str, Any]]:
    """Yield the fields of a class of configs, each with its default."""
    for field in dataclasses.fields(kind):
        made = field.default_factory is not dataclasses.MISSING
        yield field.name, field.default_factory() if made else field.default


def _size(name: str, value: Any, layers: int) -> int | None:
    """Return the tiny value of a field that holds a size, None for other fields."""
    if not isinstance(value, int) or isinstance(value, bool):
        return None
    for pattern, size in RULES:
        if re.fullmatch(pattern, name):
            return min(layers if (size == LAYERS and "layers" in name) or "n_layer" in name else size, value)
    return None


def _token(name: str, value: Any, tokenizer: PreTrainedTokenizerFast) -> int | None:
    """Return the id of a special token: the tokenizer's own, or for other senses than text one outside of texts."""
    if MODALITY.fullmatch(name) and isinstance(value, int):
        return value if value >= LONGEST else LONGEST + 1000 + value
    if re.fullmatch(r"(bos|eos|pad|sep|cls|mask|unk|decoder_start|forced_eos)_token_id", name):
        known = getattr(tokenizer, name.replace("decoder_start", "eos").replace("forced_eos", "eos"))
        return 0 if known is None and value is not None else known
    return None
