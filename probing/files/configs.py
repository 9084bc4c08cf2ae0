"""Configs of models: which keys reach transformers, and whether they describe a model of the size of the weights.

The architectures that the installed transformers knows are read from its source, since importing it loads torch.
"""

import ast
import re
from collections.abc import Iterator, Mapping
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from probing.errors import BadConfig, NoHead, UnknownArchitecture, UnsafeModel
from probing.files.weights import PACKED, Tensors
from probing.kinds import Kind

# Keys of a config, at any depth, that may make loaders download or run something.
BACK_ENDS = re.compile(r"_?(attn|experts)_implementation(_internal)?")
CODE_KEYS = re.compile(rf"auto_map|custom_pipelines|trust_remote_code|{BACK_ENDS.pattern}|.*kernel_config|use_kernels")
# The name of a back end of transformers itself, such as `paged|sdpa`; one from outside is written `org/name:function`.
OWN_BACK_END = re.compile(r"[\w|-]+", re.ASCII)
# Keys that ask for nothing from outside where transformers knows the type of the model.
NEEDLESS = {"auto_map", "trust_remote_code"}
# Keys that many configs have and scoring has no use for. Some are harmful: `num_labels` makes a list of that length.
UNUSED = {
    "_attn_implementation_autoset", "_name_or_path", "name_or_path", "transformers_version", "dtype", "torch_dtype",
    "id2label", "label2id", "num_labels", "problem_type", "finetuning_task", "task_specific_params", "return_dict",
    "output_hidden_states", "output_attentions", "output_scores", "return_dict_in_generate", "torchscript",
    "use_bfloat16", "pruned_heads", "per_layer_config", "prefix", "tf_legacy_loss", "gradient_checkpointing",
    "auto_map", "use_return_dict", "tokenizer_class", "quantization_config",
}  # fmt: skip
# Keys that the base class of all configs reads, or that are the same in every family.
SHARED = {
    "model_type", "architectures", "is_decoder", "is_encoder_decoder", "add_cross_attention", "tie_word_embeddings",
    "tie_encoder_decoder", "chunk_size_feed_forward", "use_cache", "bos_token_id", "eos_token_id", "pad_token_id",
    "sep_token_id", "decoder_start_token_id", "layer_types", "initializer_range",
    "rope_theta", "rope_scaling", "rope_parameters", "partial_rotary_factor", "rope_type", "type", "factor",
    "original_max_position_embeddings", "attention_factor", "beta_fast", "beta_slow", "short_factor", "long_factor",
    "low_freq_factor", "high_freq_factor", "mscale", "mscale_all_dim", "truncate", "full_attention",
    "sliding_attention",
}  # fmt: skip
# The tables of transformers that list the classes of each kind, and how the names of causal classes end.
TABLES: Mapping[Kind, str] = {
    "causal": "MODEL_FOR_CAUSAL_LM_MAPPING_NAMES",
    "masked": "MODEL_FOR_MASKED_LM_MAPPING_NAMES",
    "encoder-decoder": "MODEL_FOR_SEQ_TO_SEQ_CAUSAL_LM_MAPPING_NAMES",
}
CAUSAL = "forcausallm"
PRETRAINING, MASKED = "ForPreTraining", "ForMaskedLM"
HEADLESS = "MODEL_MAPPING_NAMES"
# The tables of classes that write text, whatever else they read.
GENERATORS = ("CAUSAL_LM", "IMAGE_TEXT_TO_TEXT", "MULTIMODAL_LM", "SEQ_TO_SEQ_CAUSAL_LM", "SPEECH_SEQ_2_SEQ")
LARGEST_NUMBER = 2**24  # of any size, position or identifier; the longest context of a known model is 10 million
LARGEST_BASE = 10**12  # of the whole numbers that are bases of rotary positions
MOST_LAYERS = 1_024
MOST_EXPERTS = 4_096
LONGEST_LIST = 4_096
LONGEST_TEXT = 10_000
BASES = re.compile(r".*(theta|base|freq).*")
LAYERS = re.compile(r"num_(\w+_)?layers|(encoder_|decoder_)?(hidden_)?layers|n_layers?|depth")
EXPERTS = re.compile(r".*(num|n)_.*experts|moe_num_.*experts")
# The keys that say how many experts there are to choose from, and how many of them are chosen for each token.
CHOICES, CHOSEN = ("num_local_experts", "n_routed_experts", "num_experts"), "num_experts_per_tok"
ROUTED = re.compile(r"(?:^|\.)experts\.")  # in the names of tensors; shared experts are there for every token
DIMENSIONS = re.compile(r"hidden_size|n_embd|d_model|dim|embedding_size|embedding_dim|d_embed|vocab_size")
USED = re.compile(r"\bconfig\.(\w+)|getattr\(\s*(?:self\.)?config,\s*\"(\w+)\"")
IMPORTED = re.compile(r"^from \.\.(\w+)\.configuration_\w+ import", re.MULTILINE)
TEXT_CONFIG = re.compile(r"\"text_config\": (\w+),")
DECLARED = re.compile(r"^    (\w+)\s*:|[\"'](\w+)[\"']|\bself\.(\w+)", re.MULTILINE)


def code_key(value: Any) -> str | None:
    """Return the first key, at any depth, that asks for code or kernels from outside."""
    if isinstance(value, Mapping):
        named = (
            key for key, child in value.items() if child and CODE_KEYS.fullmatch(str(key)) and not _is_own(key, child)
        )
        return next(named, None) or next(filter(None, map(code_key, value.values())), None)
    if isinstance(value, list):
        return next(filter(None, map(code_key, value)), None)
    return None


def _is_own(key: str, value: Any) -> bool:
    """Tell whether a key names back ends of transformers itself: one for the model, or one for each of its parts."""
    names = value.values() if isinstance(value, Mapping) else [value]
    return bool(BACK_ENDS.fullmatch(key)) and all(not name or OWN_BACK_END.fullmatch(str(name)) for name in names)


def refuse_code(name: str, config: Mapping[str, Any], known_type: bool) -> None:
    """Raise `UnsafeModel` if a config asks for code from outside.

    `known_type`: whether transformers knows the type of the model; then `auto_map` and `trust_remote_code` beside it
    are ignored, as the code that they are about only repeats what transformers has.
    """
    ignored = NEEDLESS if known_type else set()
    if key := code_key({name: value for name, value in config.items() if name not in ignored}):
        raise UnsafeModel(
            f"{name} has the key {key!r}, which asks for code from outside.",
            "Only models that the transformers library knows by itself can be probed; remove the key.",
        )


@cache
def allowed_keys(model_type: str) -> frozenset[str]:
    """Return the keys of a config of this type that can change the network, by the source of transformers.

    They are the fields and other names in the module of the config class, and what the module of the network reads
    from its config. Importing these modules would load torch.
    """
    names = set(SHARED)
    modules, visited = [module_of(model_type)], set()
    while modules:
        module = modules.pop()
        if module in visited:
            continue
        visited.add(module)
        for path in sorted((transformers_folder() / "models" / module).glob("*.py")):
            text = path.read_text(encoding="utf-8")
            if path.name.startswith("configuration_"):
                names.update(name for match in DECLARED.findall(text) for name in match)
                modules += IMPORTED.findall(text)
            elif path.name.startswith("modeling_"):
                names.update(name for match in USED.findall(text) for name in match)
    return frozenset(name for name in names - UNUSED if name and not CODE_KEYS.fullmatch(name))


def filtered(config: Mapping[str, Any]) -> tuple[dict[str, Any], list[str]]:
    """Return a config without the keys that its family does not know, and the names of these, nested ones with dots.

    Keys that scoring has no use for are left out without being named.
    """
    dropped: list[str] = []
    kept = _filtered(config, allowed_keys(str(config.get("model_type") or "")), "", dropped)
    return kept, dropped


def _filtered(config: Mapping[str, Any], allowed: frozenset[str], prefix: str, dropped: list[str]) -> dict[str, Any]:
    nested_type = config.get("model_type")
    if prefix and isinstance(nested_type, str) and nested_type in known_model_types():
        allowed |= allowed_keys(nested_type)
    kept: dict[str, Any] = {}
    for key, value in config.items():
        if key in allowed or (prefix and key.isdecimal()):
            kept[key] = _filtered(value, allowed, f"{prefix}{key}.", dropped) if isinstance(value, dict) else value
        elif key not in UNUSED and not BACK_ENDS.fullmatch(key):
            dropped.append(f"{prefix}{key}")
    return kept


def refuse_absurd(where: str, config: Mapping[str, Any], tensors: Tensors) -> None:
    """Raise `BadConfig` if the config describes a network that cannot be the one whose weights these are.

    Only names and numbers are compared, so nothing has to be built; `load` compares every weight with the network.
    """
    unpacked = [tensor for tensor in tensors.values() if tensor.elements and tensor.dtype not in PACKED]
    largest = max((size for tensor in unpacked for size in tensor.shape), default=0)
    limits = (
        (BASES, LARGEST_BASE, "more than any model has"),
        (LAYERS, min(len(tensors), MOST_LAYERS), f"but the weights are {len(tensors):,} tensors"),
        (EXPERTS, min(max(len(tensors), largest), MOST_EXPERTS), f"but the weights are {len(tensors):,} tensors"),
        (DIMENSIONS, largest, f"but the largest dimension of the weights is {largest:,}"),
        (re.compile(".*"), LARGEST_NUMBER, "more than any model has"),
    )
    for key, value in _values(config):
        if isinstance(value, int) and not isinstance(value, bool):
            limit, reason = next((limit, reason) for pattern, limit, reason in limits if pattern.fullmatch(key))
            if abs(value) > limit:
                raise _absurd(where, f"{key} is {value:,}, {reason}" if abs(value) < 10**30 else f"{key} is absurd")
        elif isinstance(value, list | dict) and len(value) > LONGEST_LIST:
            raise _absurd(where, f"{key} is a list of {len(value):,}")
        elif isinstance(value, str) and len(value) > LONGEST_TEXT:
            raise _absurd(where, f"{key} is a text of {len(value):,} characters")


def idle_parameters(config: Mapping[str, Any], tensors: Tensors) -> int | None:
    """Return how many parameters each token leaves unused: those of the experts that are not chosen for it.

    None where a model has experts and its config or its tensors do not tell.
    """
    numbers = {key: value for key, value in _values(config) if type(value) is int and value > 0}
    routed = [tensor for name, tensor in tensors.items() if ROUTED.search(name)]
    if not routed and not any(EXPERTS.fullmatch(key) and value > 1 for key, value in numbers.items()):
        return 0
    experts, chosen = next((numbers[key] for key in CHOICES if key in numbers), 0), numbers.get(CHOSEN, 0)
    if not routed or not chosen <= experts or not chosen or any(tensor.dtype in PACKED for tensor in routed):
        return None
    return sum(tensor.elements for tensor in routed) * (experts - chosen) // experts


def _absurd(where: str, reason: str) -> BadConfig:
    next_step = "Repair config.json, or save the model again."
    return BadConfig(f"The config of {where} cannot be right: {reason}.", next_step)


def _values(value: Any, key: str = "") -> Iterator[tuple[str, Any]]:
    yield key, value
    if isinstance(value, Mapping):
        for name, child in value.items():
            yield from _values(child, str(name))
    elif isinstance(value, list):
        for child in value:
            yield from _values(child, key)


def kind_of(architecture: str) -> Kind | None:
    """Return the kind of the model class that a configuration names, or None if it has no language modelling head.

    The tables overlap: transformers lists the heads of some encoder-decoders among the masked ones, and models that
    listen among the encoder-decoders. A class listed as causal and masked (XLM's) has no kind, because it does not tell
    what the weights were trained for. Case does not matter: MPT's own repositories spell their class otherwise than
    transformers does. Some causal models are listed only among those that also see (Mistral 4).
    """
    architecture = architecture.lower()
    causal, masked = _classes(TABLES["causal"]), _classes(TABLES["masked"])
    if architecture in causal & masked or writes_down_speech(architecture):
        return None
    if architecture in _classes(TABLES["encoder-decoder"]):
        return "encoder-decoder"
    if architecture in causal or (architecture.endswith(CAUSAL) and is_generator(architecture)):
        return "causal"
    return "masked" if architecture in masked else None


def causal_class(model_type: str) -> str:
    """Return the causal class of a type of model, "" if transformers has none, or one of another kind beside it."""
    if _is_of_another_kind(model_type):
        return ""
    for table in GENERATORS:
        for name, architecture in _table("modeling_auto.py", f"MODEL_FOR_{table}_MAPPING_NAMES"):
            if name == model_type and kind_of(architecture) == "causal":
                return architecture
    return ""


def inner_class(model_type: str, whole_type: str) -> str:
    """Return the class of the text network within a type of model, "" if there is none, or one of another kind."""
    if not model_type or _is_of_another_kind(model_type):
        return ""
    headless = (architecture for name, architecture in _table("modeling_auto.py", HEADLESS) if name == model_type)
    return next(headless, "") or causal_class(whole_type)


def _is_of_another_kind(model_type: str) -> bool:
    return is_listed("masked", model_type) or is_listed("encoder-decoder", model_type)


@cache
def declared_text_type(model_type: str) -> str:
    """Return the type of the text part of a type of model, by the source of its config; "" if it names none."""
    for path in (transformers_folder() / "models" / module_of(model_type)).glob("configuration_*.py"):
        source = path.read_text(encoding="utf-8")
        for name in TEXT_CONFIG.findall(source):
            declared = re.search(rf"^class {name}\(.+?^    model_type = \"(\w+)\"", source, re.MULTILINE | re.DOTALL)
            return declared[1] if declared else ""
    return ""


def is_listed(kind: Kind, model_type: str) -> bool:
    """Tell whether the class of transformers that loads models of a kind knows this type of model."""
    return any(name == model_type for name, _ in _table("modeling_auto.py", TABLES[kind]))


def is_generator(architecture: str) -> bool:
    """Tell whether a model class writes text, whatever else it reads beside text."""
    return any(architecture.lower() in _classes(f"MODEL_FOR_{table}_MAPPING_NAMES") for table in GENERATORS)


def writes_down_speech(architecture: str) -> bool:
    """Tell whether a model class makes text of sound, and cannot be called without any."""
    return architecture.lower() in _classes("MODEL_FOR_SPEECH_SEQ_2_SEQ_MAPPING_NAMES")


def architecture_of(config: Mapping[str, Any]) -> str:
    """Return the model class that a configuration names, "" if it names none."""
    names = config.get("architectures")
    return str(names[0]) if isinstance(names, list) and names else ""


def require_kind(architecture: str) -> Kind:
    """Return `kind_of` the architecture; raise `BadConfig` if none is named, and `NoHead` if it is of no kind."""
    if not architecture:
        raise BadConfig(
            "config.json has no list 'architectures', which names the class of the model.",
            'Add it, such as ["GPT2LMHeadModel"], or save the model again with save_pretrained.',
        )
    # Weights that were saved after a pre-training have the masked head and another one, which is not loaded.
    kind = kind_of(architecture) or kind_of(architecture.replace(PRETRAINING, MASKED))
    if kind is None:
        raise NoHead(
            f"{architecture} has no language modelling head that transformers loads for text alone: "
            "causal, masked or encoder-decoder.",
            "Use the checkpoint that was saved with its language modelling head.",
        )
    return kind


def require_known_type(model_type: str) -> None:
    """Raise `UnknownArchitecture` if the installed transformers cannot load this type, `BadConfig` if there is none."""
    if not model_type:
        raise BadConfig(
            "config.json has no key 'model_type', by which transformers finds the code of the model.",
            'Add it, such as "gpt2", or save the model again with save_pretrained.',
        )
    if model_type not in known_model_types():
        raise UnknownArchitecture(
            f"The installed transformers does not know the model type {model_type!r}.",
            "Wait until a release of transformers has it; models with code of their own are not run.",
        )


@cache
def known_model_types() -> frozenset[str]:
    """Return the values of `model_type` that the installed transformers can load without code from elsewhere."""
    return frozenset(name for name, _ in _table("auto_mappings.py", "CONFIG_MAPPING_NAMES"))


@cache
def module_of(model_type: str) -> str:
    """Return the name of the module below transformers.models that holds this type of model."""
    special = dict(_table("auto_mappings.py", "SPECIAL_MODEL_TYPE_TO_MODULE_NAME"))
    return special.get(model_type, model_type.replace("-", "_"))


@cache
def _classes(table: str) -> frozenset[str]:
    return frozenset(name.lower() for _, name in _table("modeling_auto.py", table))


@cache
def _table(file: str, name: str) -> tuple[tuple[str, str], ...]:
    """Return the pairs in the statement `NAME = OrderedDict([(model type, class), ...])` of a source file.

    Those that it takes from another table are left out.
    """
    for statement in _parsed_source(file).body:
        if isinstance(statement, ast.Assign) and ast.unparse(statement.targets[0]) == name:
            assert isinstance(statement.value, ast.Call)
            assert isinstance(statement.value.args[0], ast.List)
            own = [entry for entry in statement.value.args[0].elts if not isinstance(entry, ast.Starred)]
            return tuple(_model_classes([ast.literal_eval(entry) for entry in own]))
    raise LookupError(f"transformers has no table {name} in {file}: this version is not supported")


def _model_classes(table: list[tuple[str, str | tuple[str, ...]]]) -> list[tuple[str, str]]:
    rows = [(model_type, (names,) if isinstance(names, str) else names) for model_type, names in table]
    return [(model_type, name) for model_type, names in rows for name in names]


@cache
def _parsed_source(file: str) -> ast.Module:
    return ast.parse((transformers_folder() / "models" / "auto" / file).read_text(encoding="utf-8"))


def transformers_folder() -> Path:
    """Return the folder of the installed transformers, without importing it."""
    spec = find_spec("transformers")
    if spec is None or not spec.submodule_search_locations:
        raise LookupError("transformers is not installed")
    return Path(spec.submodule_search_locations[0])
