"""Checks of a model's files other than the weights: formats, the config, the tokenizer, the files of an adapter."""

from importlib.util import find_spec

from leaderboard.intake.checks.examination import Examination, config_of, listing_of
from leaderboard.intake.checks.identity import public, version_pinned
from leaderboard.intake.gguf_header import gguf_config
from probing.errors import NoFastTokenizer, UnsupportedModel
from probing.files.adapters import MERGE, checked_config, refuse_other_base
from probing.files.architectures import require_kind, require_known_type
from probing.files.description import (
    refuse_custom_code,
    refuse_unsafe_files,
    require_fast_tokenizer,
    weights_of,
)
from probing.files.listing import CONFIG, Listing
from probing.files.special_tokens import special_tokens_of
from probing.kinds import KINDS, Kind
from probing.probes import probe_named
from probing.settings import refuse_pll
from probing.start import start_in_words


def files_safe(listing: Listing) -> str:
    refuse_unsafe_files(listing)
    return "Every file has a usable size and lies in the model's folder."


def weights_format(listing: Listing) -> str:
    if listing.gguf:
        return f"One GGUF file, from the local folder: {listing.gguf.name}."
    weights_of(listing)
    return "Weights are in safetensors."


def config_readable(examination: Examination) -> str:
    """Read the configuration."""
    listing = listing_of(examination)
    gguf = listing.gguf
    examination.config = gguf_config(gguf, listing.commit) if gguf else listing.read_json(CONFIG)
    return "The model has a readable configuration."


def no_custom_code(examination: Examination) -> str:
    notes = refuse_custom_code(listing_of(examination), config_of(examination))
    return " ".join(["Needs no code of its own.", *notes])


def architecture_known(examination: Examination) -> str:
    model_type = str(config_of(examination).get("model_type") or "")
    require_known_type(model_type)
    return f"transformers knows {model_type}."


def kind_known(examination: Examination) -> str:
    """Find out the model's kind."""
    config = config_of(examination)
    examination.kind = "causal" if listing_of(examination).gguf else require_kind(examination.architecture)
    _refuse_chosen_pll(examination, examination.kind)
    noun = KINDS[examination.kind].noun
    return f"{noun[:1].upper()}{noun[1:]} ({examination.architecture or config.get('model_type')})."


def _refuse_chosen_pll(examination: Examination, kind: Kind) -> None:
    """Refuse a choice that does nothing; what the benchmark's plan or the probe says is no choice of the submitter."""
    chosen, benchmark = examination.settings.pll, examination.benchmark
    if chosen not in (benchmark.settings_with({}).pll, probe_named(benchmark.probe).fixed.get("pll")):
        refuse_pll(chosen, kind, examination.name)


def fast_tokenizer(examination: Examination) -> str:
    listing = listing_of(examination)
    if not listing.gguf:
        require_fast_tokenizer(listing)
    elif not config_of(examination)["tokenizer"]:
        raise NoFastTokenizer("The GGUF file contains no tokenizer.", "Convert the model again with its tokenizer.")
    return "Has a fast tokenizer."


def start_token(examination: Examination) -> str:
    """Tell the start token, and refuse settings that models of this kind do not have."""
    kind = examination.kind or "causal"
    examination.settings.refuse_kind(kind)
    examination.plan.probe.refuse_kind(kind)
    if not KINDS[kind].chooses_start:
        return f"None: the tokenizer of {KINDS[kind].noun} adds all special tokens."
    config, listing = config_of(examination), listing_of(examination)
    tokens = config["special_tokens"] if listing.gguf else special_tokens_of(listing)
    return start_in_words(examination.settings.start, tokens, config.get("vocab_size"))


def adapter_usable(examination: Examination) -> str:
    """Check an adapter as the model itself: public, pinned, two files of safe formats, made for this model."""
    adapter = examination.adapter
    assert adapter is not None, "the rule lacks the need “exists”"
    if find_spec("peft") is None:
        raise UnsupportedModel("This site measures no adapters, as the library peft is not installed.", MERGE)
    public(adapter)
    pinned = version_pinned(adapter)
    rank = checked_config(adapter)["r"]
    fitting = refuse_other_base(adapter, listing_of(examination).hub_id)
    return f"A LoRA of rank {rank} in safetensors. {pinned} {fitting}"
