"""Checks of a submitted model, one function each, before any of its weights are downloaded.

A check returns a sentence for the submitter or raises a `ProbingError`. `examine` runs the checks in the order of
`RULES`. After a failure the others still run, except those that need what the failed check would have found out.
"""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any, Literal, NamedTuple

from django.conf import settings
from gguf import GGUFReader, LlamaFileType

from leaderboard.intake import hub, number_format
from leaderboard.intake.gguf_header import header, number_of, text_of
from leaderboard.models import Benchmark, Model, Run
from probing.errors import (
    BadInput,
    Gated,
    ModelNotFound,
    NoFastTokenizer,
    ProbingError,
    SlowDownload,
    SourceUnavailable,
    TooLarge,
)
from probing.files.architectures import architecture_of, require_kind, require_known_type
from probing.files.description import (
    read_tensors,
    refuse_custom_code,
    refuse_quantised,
    refuse_unsafe_files,
    require_fast_tokenizer,
    usable_config,
    weights_of,
)
from probing.files.headers import Tensors, WeightSummary, summarise
from probing.files.listing import CONFIG, Listing
from probing.files.network import allowance
from probing.files.special_tokens import SpecialTokens, special_tokens_of, start_in_words
from probing.kinds import KINDS, Kind
from probing.settings import Settings

DEADLINE = 10  # seconds for all checks of one model
MOST_BYTES = 200 * 10**6  # that it may send for them
GGUF_TOKENS = "tokenizer.ggml.tokens"
HUB_FAULTS = {SourceUnavailable.code, SlowDownload.code}  # they may pass, so that the check is repeated
HUB_ID = re.compile(r"(?:[\w][\w.-]{0,95}/)?[\w][\w.-]{0,95}", re.ASCII)


@dataclass(frozen=True)
class Check:
    """The outcome of one check, as pages show it to the submitter."""

    name: str
    state: Literal["ok", "failed", "warning", "skipped"]
    message: str
    next_step: str = ""
    code: str = ""


@dataclass
class Examination:
    """A submission and what the checks have found out about its model so far.

    `listing` and `config` are None until the checks "exists" and "config readable" have passed, `tensors` and `weights`
    until "weights intact" has. Of a GGUF file, the config is a part of the header, and `tensors` stays None. Unless
    `dtype_chosen`, the check "number format" replaces the number format of the settings.
    """

    hub_id: str
    benchmark: Benchmark
    settings: Settings
    submitter: str = ""
    revision: str = ""
    listing: Listing | None = None
    config: Mapping[str, Any] | None = None
    tensors: Tensors | None = None
    weights: WeightSummary | None = None
    kind: Kind | None = None
    dtype_chosen: bool = True
    checks: tuple[Check, ...] = ()

    @property
    def failed(self) -> Check | None:
        """The first check that failed."""
        return next((check for check in self.checks if check.state == "failed"), None)

    @property
    def waiting(self) -> bool:
        """Tell whether no check failed, but some could not be made because the hub did not answer."""
        return not self.failed and any(check.code in HUB_FAULTS for check in self.checks)

    @property
    def architecture(self) -> str:
        """The name of the model class, "" for a GGUF file and as long as it is not known."""
        return architecture_of(self.config or {})


class Rule(NamedTuple):
    """A check with its name on pages and the names of the checks that must have passed before it."""

    name: str
    check: Callable[[Examination], str]
    needs: tuple[str, ...] = ()


class AlreadyMeasured(BadInput):
    """The same model, benchmark and settings have a run. This is no failure: the submitter is shown that run."""

    code = "already-measured"


def examine(examination: Examination, on_check: Callable[[Check], None] | None = None) -> Examination:
    """Run every check, in order; skip those whose needs are not met. The hub has `DEADLINE` seconds for all of them.

    `on_check` is called after each check.
    """
    with allowance(DEADLINE, MOST_BYTES):
        for rule in RULES:
            passed = {check.name for check in examination.checks if check.state == "ok"}
            missing = [name for name in rule.needs if name not in passed]
            check = _skipped(rule, missing[0]) if missing else _apply(rule, examination)
            examination.checks += (check,)
            if on_check:
                on_check(check)
    return examination


def _skipped(rule: Rule, need: str) -> Check:
    return Check(rule.name, "skipped", f"Not checked: it needs “{need}” first.")


def _apply(rule: Rule, examination: Examination) -> Check:
    try:
        return Check(rule.name, "ok", rule.check(examination))
    except AlreadyMeasured as error:
        return Check(rule.name, "warning", error.message, error.next_step, error.code)
    except ProbingError as error:
        return Check(rule.name, "failed" if error.permanent else "warning", error.message, error.next_step, error.code)


def of_listing(check: Callable[[Listing], str]) -> Callable[[Examination], str]:
    """Adapt a check of the listing alone. Its rule must need "exists"."""
    return lambda examination: check(_listing(examination))


def _listing(examination: Examination) -> Listing:
    assert examination.listing is not None, "the rule lacks the need “exists”"
    return examination.listing


def _config(examination: Examination) -> Mapping[str, Any]:
    assert examination.config is not None, "the rule lacks the need “config readable”"
    return examination.config


def _weights(examination: Examination) -> WeightSummary:
    assert examination.weights is not None, "the rule lacks the need “weights intact”"
    return examination.weights


def well_formed(examination: Examination) -> str:
    refuse_malformed(examination.hub_id)
    return f"{examination.hub_id} is a model id."


def refuse_malformed(hub_id: str) -> None:
    """Raise `BadInput` if this is not the id of a model; a valid one has at most 193 characters, all of them ASCII."""
    if "+" in hub_id:
        raise BadInput(
            "This site does not measure adapters.",
            "Measure it yourself: python -m probing run MODEL+ADAPTER, or submit the model into which it was merged.",
        )
    if not HUB_ID.fullmatch(hub_id) or ".." in hub_id or "--" in hub_id:
        raise BadInput(f"{hub_id[:200]!a} is not a model id.", "Write it as org/name, as the hub shows it.")


def exists(examination: Examination) -> str:
    """Find the model. An id without an organisation, such as gpt2, passes if the hub knows the full id."""
    try:
        examination.listing = hub.find(examination.hub_id, examination.revision)
    except SourceUnavailable:
        refuse_short(examination.hub_id)
        raise
    refuse_malformed(examination.listing.hub_id)
    refuse_short(examination.listing.hub_id)
    return "A local model." if examination.listing.folder else f"Found at {settings.HF_ENDPOINT}."


def refuse_short(hub_id: str) -> None:
    """Raise `ModelNotFound` if the id names no organisation."""
    if "/" not in hub_id:
        raise ModelNotFound(f"{hub_id} has no organisation in front.", "Write the id as org/name.")


def public(listing: Listing) -> str:
    if not listing.public:
        raise Gated(
            f"{listing.hub_id} is private or gated, so nobody could repeat the measurement.",
            "Submit a model that anyone can download.",
        )
    return "Offered by this site." if listing.folder else "Anyone can download it."


def version_pinned(listing: Listing) -> str:
    if not listing.commit:
        raise ModelNotFound(f"The hub names no commit of {listing.hub_id}.", "Push at least one commit.")
    if listing.folder:
        return f"Its files are known by their content: SHA-256 {listing.commit[:12]}."
    return f"Pinned to {listing.commit[:12]}."


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
    listing = _listing(examination)
    gguf = listing.gguf
    examination.config = gguf_config(gguf, listing.commit) if gguf else listing.read_json(CONFIG)
    return "The model has a readable configuration."


@lru_cache(maxsize=32)
def gguf_config(path: Path, commit: str) -> dict[str, Any]:
    """Return what the checks need from the header of a GGUF file. Several checks ask, so it is cached."""
    with header(path) as reader:
        return {
            "model_type": text_of(reader, "general.architecture"),
            "special_tokens": SpecialTokens(
                _gguf_token(reader, "bos"), _gguf_token(reader, "eos"), text_of(reader, "tokenizer.chat_template")
            ),
            "tokenizer": bool(reader.get_field(GGUF_TOKENS)),
            "parameters": sum(int(tensor.n_elements) for tensor in reader.tensors),
            "quantisation": _quantisation(number_of(reader, "general.file_type")),
        }


def _quantisation(file_type: int | None) -> str:
    """Return the number format that a file states for most of its weights, such as Q4_1; empty if it states none."""
    try:
        return str(LlamaFileType(file_type).name).partition("_")[2]
    except ValueError:
        return ""


def _gguf_token(reader: GGUFReader, name: str) -> str:
    """Return the text of a special token, empty if the file names none."""
    number = number_of(reader, f"tokenizer.ggml.{name}_token_id")
    return "" if number is None else text_of(reader, GGUF_TOKENS, number)


def no_custom_code(examination: Examination) -> str:
    notes = refuse_custom_code(_listing(examination), _config(examination))
    return " ".join(["Needs no code of its own.", *notes])


def architecture_known(examination: Examination) -> str:
    model_type = str(_config(examination).get("model_type") or "")
    require_known_type(model_type)
    return f"transformers knows {model_type}."


def kind_known(examination: Examination) -> str:
    """Find out the model's kind."""
    config = _config(examination)
    examination.kind = "causal" if _listing(examination).gguf else require_kind(examination.architecture)
    noun = KINDS[examination.kind].noun
    return f"{noun[:1].upper()}{noun[1:]} ({examination.architecture or config.get('model_type')})."


def fast_tokenizer(examination: Examination) -> str:
    listing = _listing(examination)
    if not listing.gguf:
        require_fast_tokenizer(listing)
    elif not _config(examination)["tokenizer"]:
        raise NoFastTokenizer("The GGUF file contains no tokenizer.", "Convert the model again with its tokenizer.")
    return "Has a fast tokenizer."


def start_token(examination: Examination) -> str:
    """Tell the start token, and refuse settings that models of this kind do not have."""
    kind = examination.kind or "causal"
    examination.settings.refuse_kind(kind)
    if not KINDS[kind].chooses_start:
        return f"None: the tokenizer of {KINDS[kind].noun} adds all special tokens."
    config, listing = _config(examination), _listing(examination)
    tokens = config["special_tokens"] if listing.gguf else special_tokens_of(listing)
    return start_in_words(examination.settings.start, tokens, config.get("vocab_size"))


def small_enough(listing: Listing) -> str:
    size, limit = hub.weight_bytes(listing), settings.MODEL_SIZE_LIMIT
    if size > limit:
        raise TooLarge(
            f"The weights take {size / 1e9:.1f} GB; this site measures models up to {limit / 1e9:.0f} GB.",
            "Submit a smaller model, or run it yourself: python -m probing run.",
        )
    return f"{size / 1e9:.2f} GB of weights, below {limit / 1e9:.0f} GB."


def weights_intact(examination: Examination) -> str:
    """Read the headers of the weights."""
    listing = _listing(examination)
    if listing.gguf:
        parameters = _config(examination)["parameters"]
        examination.weights = WeightSummary(parameters, listing.files[listing.gguf.name], "float32")
        return f"{parameters:,} parameters in one GGUF file."
    examination.tensors = read_tensors(listing, weights_of(listing))
    examination.weights = weights = summarise(listing.hub_id, examination.tensors)
    return f"{weights.parameters:,} parameters, stored in {weights.dtype}."


def config_fits(examination: Examination) -> str:
    """Compare the config with the weights, before anything is built or downloaded."""
    config, where = _config(examination), _listing(examination).hub_id
    if examination.tensors is None:
        return "The config is part of the GGUF file."
    refuse_quantised(where, config)
    _, notes = usable_config(where, config, examination.tensors)
    return " ".join(["The config describes a model of this size.", *notes])


def number_format_chosen(examination: Examination) -> str:
    """Choose the number format by the model's size, unless the submitter has chosen one."""
    weights = _weights(examination)
    if examination.dtype_chosen:
        return f"{examination.settings.dtype}, as chosen."
    examination.settings = number_format.resolved(examination.settings, weights)
    if _listing(examination).gguf:
        return f"{examination.settings.dtype}, as for every GGUF file."
    return number_format.reason(examination.settings, weights)


def fits_into_memory(examination: Examination) -> str:
    return number_format.fits(examination.settings, _weights(examination))


def not_measured_already(examination: Examination) -> str:
    """Look for a finished or unfinished run of the same. A failed or cancelled run does not count: it is restarted."""
    listing = _listing(examination)
    same = Run.objects.filter(
        model__hub_id=listing.hub_id,
        model__commit=listing.commit,
        model__source=Model.Source.LOCAL if listing.folder else Model.Source.HUB,
        benchmark=examination.benchmark,
        settings_digest=examination.settings.digest,
    )
    duplicate = same.exclude(state__in=[Run.State.FAILED, Run.State.CANCELLED]).first()
    if duplicate:
        raise AlreadyMeasured(f"This is run {duplicate.pk}, {duplicate.state}.", "See that run; nothing is repeated.")
    return "Not measured yet."


RULES = (
    Rule("well-formed id", well_formed),
    Rule("exists", exists, ("well-formed id",)),
    Rule("public", of_listing(public), ("exists",)),
    Rule("version pinned", of_listing(version_pinned), ("exists",)),
    Rule("files safe", of_listing(files_safe), ("exists", "public", "version pinned")),
    Rule("weights format", of_listing(weights_format), ("files safe",)),
    Rule("config readable", config_readable, ("files safe",)),
    Rule("no custom code", no_custom_code, ("config readable",)),
    Rule("architecture known", architecture_known, ("config readable",)),
    Rule("kind", kind_known, ("config readable",)),
    Rule("fast tokenizer", fast_tokenizer, ("config readable",)),
    Rule("start token", start_token, ("fast tokenizer", "kind")),
    Rule("size", of_listing(small_enough), ("weights format",)),
    Rule("weights intact", weights_intact, ("size", "config readable")),
    Rule("config fits", config_fits, ("weights intact", "architecture known")),
    Rule("number format", number_format_chosen, ("weights intact",)),
    Rule("memory", fits_into_memory, ("number format",)),
    Rule("not measured already", not_measured_already, ("version pinned", "number format")),
)
