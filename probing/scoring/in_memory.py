"""Networks in memory: the user's own network, which may be in training, and its tokenizer as a model."""

from copy import deepcopy
from pathlib import Path
from typing import Any

from transformers import AutoConfig, PreTrainedModel, PreTrainedTokenizerBase
from transformers.utils import cached_file

from probing.errors import BadInput, NoHead, UnsupportedModel
from probing.files.configs import kind_of
from probing.files.listing import CONFIG
from probing.files.tokenizer_trial import skips_merges, without_training_aids
from probing.kinds import Kind
from probing.language_model import ModelCard
from probing.scoring.load import MODEL_CLASSES
from probing.scoring.loading_options import SAVE_AGAIN, first_line
from probing.scoring.networks import refuse_tokenizer
from probing.scoring.quantised import stated_quantisation
from probing.scoring.tokenizer_files import read_tokenizer
from probing.scoring.trial import try_network, try_tokenizer
from probing.scoring.verbs import AnsweringModel

# The attributes by which data-parallel wrappers and `torch.compile` hold the network that they wrap.
WRAPPED = {"DataParallel": "module", "DistributedDataParallel": "module", "OptimizedModule": "_orig_mod"}
GIVE_TOKENIZER = "Give the one that it was trained with: tokenizer=…"


def wrap(network: Any, tokenizer: Any = None, *, name: str = "", batch_tokens: int | None = None) -> AnsweringModel:
    """Return a network in memory, with its tokenizer, as a model that can be probed any number of times.

    `network`: a network of transformers with a language modelling head, which may be wrapped by DataParallel,
    DistributedDataParallel or `torch.compile`, or carry adapters of peft. It is neither copied nor changed, so that it
    is always scored with its present weights, in its own number format and on its own device.
    `tokenizer`: by default the one in the folder or cached repository that the network was loaded from.
    `name`: what results call the model; by default where it was loaded from.
    `batch_tokens`: token positions per batch, calibrated on the real work if not given.
    Raises `BadInput` or `UnsupportedModel`.

    Examples:
        `network` and `tokenizer` are what `AutoModelForCausalLM` and `AutoTokenizer` load.

        >>> import probing
        >>> model = probing.wrap(network, tokenizer, name="mine")
        >>> probing.run(model, "starter", relations=["country_capital"], progress=False).record["model"]["id"]
        'mine'
    """
    bare, adapters = _unwrapped(network)
    kind = _kind(bare)
    tokenizer, notes = _checked_tokenizer(tokenizer, bare, kind)
    where = name or bare.name_or_path or type(bare).__name__
    card = ModelCard(
        id="+".join([where, *adapters]),
        kind=kind,
        architecture=type(bare).__name__,
        parameters=bare.num_parameters(),
        adapter=", ".join(adapters.values()),
        quantisation=stated_quantisation(bare),
    )
    ids = try_tokenizer(where, tokenizer)
    model = MODEL_CLASSES[kind](bare, tokenizer, card, batch_tokens)
    with model.scoring_state():
        model.usage.notes += [*notes, *try_network(where, bare, [*model.added_tokens, *ids])]
    model.check()
    if adapters:
        base = bare.name_or_path or type(bare).__name__
        model.usage.notes.append(f"Active adapters of peft: {card.adapter}; the base model is {base}.")
    return model


def _unwrapped(network: Any) -> tuple[PreTrainedModel, dict[str, str]]:
    """Return the network of transformers inside all wrappers, and the active adapters of peft in its layers.

    Each adapter has its kind, such as `default (LORA)`. Raises where there is no such network, or not all of its
    weights.
    """
    adapters: dict[str, str] = {}
    while (wrapper := type(network).__name__) in WRAPPED or _is_peft(network):
        if _is_peft(network):
            adapters |= _active_adapters(network)
            network = network.get_base_model()
        else:
            network = getattr(network, WRAPPED[wrapper])
    if not isinstance(network, PreTrainedModel):
        raise BadInput(
            f"{type(network).__name__} is no network of transformers.",
            "Give the id or folder of a model, or a network such as AutoModelForCausalLM.from_pretrained makes it.",
        )
    if any(hasattr(parameter, "ds_id") or hasattr(parameter, "full_tensor") for parameter in network.parameters()):
        raise UnsupportedModel(
            "The weights of this network are spread over several processes, none of which has all of them.",
            "Save a checkpoint and probe that, or train with DistributedDataParallel.",
        )
    return network, adapters


def _is_peft(network: Any) -> bool:
    """Tell whether peft holds the network; peft itself need not be installed."""
    return hasattr(network, "peft_config") and hasattr(network, "get_base_model")


def _active_adapters(network: Any) -> dict[str, str]:
    """Return the names of the adapters of peft that are active, each with its kind; raise where they are no layers."""
    if network.active_peft_config.is_prompt_learning:
        raise UnsupportedModel(
            "Adapters that put learned prompts before each text cannot be probed.",
            "Use adapters that change layers, such as LoRA.",
        )
    names = network.active_adapters if network.get_model_status().enabled else ()
    kinds = {name: getattr(network.peft_config[name], "peft_type", None) for name in names}
    return {name: f"{name} ({kind.value})" if kind else name for name, kind in kinds.items()}


def _kind(network: PreTrainedModel) -> Kind:
    """Return the kind of the network by its class, or by the class of transformers that it extends."""
    kinds = [kind for base in type(network).__mro__ if (kind := kind_of(base.__name__))]
    if not kinds:
        raise NoHead(
            f"{type(network).__name__} has no language modelling head.",
            "Load it with AutoModelForCausalLM, AutoModelForMaskedLM or AutoModelForSeq2SeqLM.",
        )
    return kinds[0]


def _checked_tokenizer(
    tokenizer: Any, network: PreTrainedModel, kind: Kind
) -> tuple[PreTrainedTokenizerBase, list[str]]:
    """Return the tokenizer that was given, or the network's own; and notes on its tokens.

    One that skips merges at random, as a training may want it to, is copied: the training goes on with it.
    """
    tokenizer, notes = _own_tokenizer(network) if tokenizer is None else (tokenizer, [])
    tokenizer = getattr(tokenizer, "tokenizer", tokenizer)  # of a processor of texts and images
    if not isinstance(tokenizer, PreTrainedTokenizerBase):
        raise BadInput(f"{tokenizer!r:.80} is no tokenizer of transformers.", GIVE_TOKENIZER)
    refuse_tokenizer(tokenizer, kind, f"The tokenizer {type(tokenizer).__name__}", "Load it with AutoTokenizer.")
    if skips_merges(tokenizer.backend_tokenizer):
        tokenizer = deepcopy(tokenizer)
        without_training_aids(tokenizer.backend_tokenizer)
    return tokenizer, notes


def _own_tokenizer(network: PreTrainedModel) -> tuple[PreTrainedTokenizerBase, list[str]]:
    """Return the tokenizer from where the network was loaded, if that is on this disk and still fits the network.

    Returns notes on its tokens as well.
    """
    name, commit = network.name_or_path, getattr(network.config, "_commit_hash", None)
    if not name:
        raise BadInput("The network does not say where its tokenizer is.", GIVE_TOKENIZER)
    options = {"local_files_only": True, "trust_remote_code": False}
    if commit and not Path(name).exists():
        options["revision"] = commit
    try:
        config = AutoConfig.from_pretrained(name, **options)
        folder = Path(str(cached_file(name, CONFIG, **options))).parent
        files = {"pretrained_model_name_or_path": folder, "local_files_only": True, "trust_remote_code": False}
        tokenizer, notes = read_tokenizer(name, files, SAVE_AGAIN)
    except (KeyboardInterrupt, SystemExit, GeneratorExit, MemoryError):
        raise
    except BaseException as error:  # the tokenizers library raises panics of Rust
        problem = f"The network comes from {name}, where no tokenizer can be loaded: {first_line(error)}"
        raise BadInput(problem, GIVE_TOKENIZER) from error
    sizes = {config.get_text_config().vocab_size, network.config.get_text_config().vocab_size}
    if config.model_type != network.config.model_type or len(sizes) > 1:
        raise BadInput(f"The network comes from {name}, but has another vocabulary now.", GIVE_TOKENIZER)
    return tokenizer, notes
