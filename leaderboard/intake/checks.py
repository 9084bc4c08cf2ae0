"""The checks of a submitted model, before any of its weights are downloaded: their rules, and a function for each.

A check returns a sentence for the submitter or raises a `ProbingError`. `examine` runs the checks in the order of
`RULES`. After a failure the others still run, except those that need what the failed check would have found out.
"""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from importlib.util import find_spec
from typing import Any, Literal, NamedTuple

from django.conf import settings

from leaderboard.changed_settings import dtype_by_size
from leaderboard.intake import hub, number_format
from leaderboard.intake.hub import gguf_config, refuse_revision
from leaderboard.models import Benchmark, Model, Run
from probing.errors import (
    BadInput,
    Gated,
    MissingPackage,
    ModelNotFound,
    NoFastTokenizer,
    ProbingError,
    SlowDownload,
    SourceUnavailable,
    TooLarge,
    UnsupportedModel,
)
from probing.files.adapters import MERGE, WEIGHTS, checked_config, refuse_other_base
from probing.files.configs import architecture_of, idle_parameters, require_known_type
from probing.files.description import (
    read_tensors,
    refuse_custom_code,
    refuse_unsafe_files,
    require_fast_tokenizer,
    usable_config,
    weights_of,
)
from probing.files.hub import allowance
from probing.files.listing import CONFIG, Listing, special_tokens_of
from probing.files.text_parts import TextPart, probed_kind
from probing.files.weights import (
    USE_ORIGINAL,
    Quantisation,
    Tensors,
    WeightSummary,
    read_quantisation,
    require_library,
    summarise,
)
from probing.kinds import KINDS, Kind
from probing.plan import Plan
from probing.probes import probe_named
from probing.settings import AUTO_DTYPE, Settings, refuse_pll
from probing.start_token import start_in_words

DEADLINE = 10  # seconds for all checks of one model
MOST_BYTES = 200 * 10**6  # that it may send for them
ADAPTER = "adapter"
HUB_FAULTS = {SourceUnavailable.code, SlowDownload.code}  # they may pass, so that the check is repeated


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
    `dtype_chosen`, the check "number format" replaces the number format of the plan.
    """

    hub_id: str
    benchmark: Benchmark
    plan: Plan
    submitter: str = ""
    revision: str = ""
    listing: Listing | None = None
    adapter: Listing | None = None
    config: Mapping[str, Any] | None = None
    tensors: Tensors | None = None
    weights: WeightSummary | None = None
    quantisation: Quantisation | None = None
    kind: Kind | None = None
    dtype_chosen: bool = True
    checks: tuple[Check, ...] = ()

    @property
    def settings(self) -> Settings:
        return self.plan.settings

    @property
    def name(self) -> str:
        """The id of the model as the hub spells it, with that of its adapter; once "exists" has passed."""
        return "+".join(listing.hub_id for listing in (self.listing, self.adapter) if listing)

    @property
    def adapter_commit(self) -> str:
        """The commit of the adapter; empty without one."""
        return self.adapter.commit if self.adapter else ""

    @property
    def source(self) -> Model.Source:
        """The source of the files: local as soon as one of model and adapter is."""
        local = any(listing.folder for listing in (self.listing, self.adapter) if listing)
        return Model.Source.LOCAL if local else Model.Source.HUB

    @property
    def idle_parameters(self) -> int | None:
        """How many parameters each token leaves unused, None where that is not known, as in a GGUF file."""
        return None if self.tensors is None else idle_parameters(self.config or {}, self.tensors)

    @property
    def failed(self) -> Check | None:
        return next((check for check in self.checks if check.state == "failed"), None)

    @property
    def waiting(self) -> bool:
        """Tell whether no check failed, but some could not be made because the hub did not answer."""
        return not self.failed and any(check.code in HUB_FAULTS for check in self.checks)

    @property
    def architecture(self) -> str:
        """The name of the model class, "" for a GGUF file and as long as it is not known.

        Of a model that also sees or hears, it is the class of its text part, with that of the whole model.
        """
        part = TextPart.of(self.config or {})
        return part.title if part else architecture_of(self.config or {})


class AlreadyMeasured(BadInput):
    """The same model, benchmark and settings have a run. This is no failure: the submitter is shown that run."""

    code = "already-measured"


class Rule(NamedTuple):
    """A check with its name on pages and the names of the checks that must have passed before it."""

    name: str
    check: Callable[[Examination], str]
    needs: tuple[str, ...] = ()


def examine(examination: Examination, on_check: Callable[[Check], None] | None = None) -> Examination:
    """Run every check, in order; skip those whose needs are not met. The hub has `DEADLINE` seconds for all of them.

    `on_check` is called after each check.
    """
    with allowance(DEADLINE, MOST_BYTES):
        for rule in RULES if "+" in examination.hub_id else RULES_WITHOUT_ADAPTER:
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


# What a check may rely on, as its rule says so.


def listing_of(examination: Examination) -> Listing:
    assert examination.listing is not None, "the rule lacks the need “exists”"
    return examination.listing


def config_of(examination: Examination) -> Mapping[str, Any]:
    assert examination.config is not None, "the rule lacks the need “config readable”"
    return examination.config


def weights_found(examination: Examination) -> WeightSummary:
    assert examination.weights is not None, "the rule lacks the need “weights intact”"
    return examination.weights


# Checks of which model a submission is about: its id, whether it exists and is public, and what was measured.


LONGEST_NAME = 200  # characters that the table of models has for an id
HUB_ID = re.compile(r"(?:[\w][\w.-]{0,95}/)?[\w][\w.-]{0,95}", re.ASCII)


def well_formed(examination: Examination) -> str:
    refuse_malformed(examination.hub_id)
    return f"{examination.hub_id} is a model id."


def refuse_malformed(hub_id: str) -> None:
    """Raise `BadInput` if this is not the id of a model; a valid one has at most 193 characters, all of them ASCII."""
    base, plus, adapter = hub_id.partition("+")
    if plus and len(hub_id) > LONGEST_NAME:
        raise BadInput(f"The names of model and adapter have more than {LONGEST_NAME} characters.", "Rename one.")
    for name in (base, adapter.partition("@")[0]) if plus else (base,):
        if not HUB_ID.fullmatch(name) or ".." in name or "--" in name:
            step = "Write it as org/name, as the hub shows it, or with an adapter as org/name+org/adapter."
            raise BadInput(f"{name[:200]!a} is not a model id.", step)
    refuse_revision(adapter.partition("@")[2])


def exists(examination: Examination) -> str:
    """Find the model. An id without an organisation, such as gpt2, passes if the hub knows the full id."""
    base, _, adapter = examination.hub_id.partition("+")
    try:
        examination.listing = hub.find(base, examination.revision)
    except SourceUnavailable:
        refuse_short(base)
        raise
    refuse_malformed(examination.listing.hub_id)
    refuse_short(examination.listing.hub_id)
    if adapter:
        examination.adapter = hub.find_adapter(adapter)
        refuse_short(examination.adapter.hub_id)
        refuse_malformed(examination.name)
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


def not_measured_already(examination: Examination) -> str:
    """Look for a finished or unfinished run of the same. A failed or cancelled run does not count: it is restarted."""
    listing = listing_of(examination)
    same = Run.objects.filter(
        model__hub_id=examination.name,
        model__commit=listing.commit,
        model__adapter_commit=examination.adapter_commit,
        model__source=examination.source,
        benchmark=examination.benchmark,
        settings_digest=examination.settings.digest,
    )
    duplicate = same.exclude(state__in=Run.UNSUCCESSFUL).first()
    if duplicate:
        raise AlreadyMeasured(f"This is run {duplicate.pk}, {duplicate.state}.", "See that run; nothing is repeated.")
    return "Not measured yet."


# Checks of a model's files other than the weights: formats, the config, the tokenizer, the files of an adapter.


def files_safe(listing: Listing) -> str:
    refuse_unsafe_files(listing)
    return "Every file has a usable size and lies in the model's folder."


def weights_format(listing: Listing) -> str:
    if listing.gguf:
        return f"One GGUF file, from the local folder: {listing.gguf.name}."
    weights_of(listing)
    return "Weights are in safetensors."


def config_readable(examination: Examination) -> str:
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
    config = config_of(examination)
    examination.kind = "causal" if listing_of(examination).gguf else probed_kind(config)
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
    part = TextPart.of(config)
    return start_in_words(examination.settings.start, (part.config if part else config).get("vocab_size"), **tokens)


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


# Checks of a model's weights: their size, their headers, their number format, and whether they fit into memory.


def size_accepted(examination: Examination) -> str:
    """Compare the size of the weights, with those of an adapter, with the limit."""
    size, limit = hub.weight_bytes(listing_of(examination)) + adapter_bytes(examination), settings.MODEL_SIZE_LIMIT
    if size > limit:
        raise TooLarge(
            f"The weights take {size / 1e9:.1f} GB; this site measures models up to {limit / 1e9:.0f} GB.",
            f"Submit a smaller model, or {number_format.ON_YOUR_OWN}.",
        )
    return f"{size / 1e9:.2f} GB of weights, below {limit / 1e9:.0f} GB."


def adapter_bytes(examination: Examination) -> int:
    """Return the size of the adapter's weights, 0 without one."""
    return examination.adapter.files.get(WEIGHTS, 0) if examination.adapter else 0


def weights_intact(examination: Examination) -> str:
    listing = listing_of(examination)
    if listing.gguf:
        parameters = config_of(examination)["parameters"]
        examination.weights = WeightSummary(parameters, listing.files[listing.gguf.name], "float32")
        return f"{parameters:,} parameters in one GGUF file."
    examination.quantisation = quantisation = _measurable(listing.hub_id, config_of(examination))
    examination.tensors = read_tensors(listing, weights_of(listing))
    examination.weights = weights = summarise(listing.hub_id, examination.tensors, quantisation)
    quantised = f", quantised ({quantisation.title})" if quantisation else ""
    idle = examination.idle_parameters
    active = f", of which each token uses {weights.parameters - idle:,}" if idle else ""
    return f"{weights.parameters:,} parameters{active}, stored in {weights.dtype}{quantised}."


def _measurable(where: str, config: Mapping[str, Any]) -> Quantisation | None:
    """Return how the weights are quantised; raise `UnsupportedModel` if this site cannot measure such weights."""
    quantisation = read_quantisation(where, config)
    if quantisation is None:
        return None
    try:
        require_library(quantisation)
    except MissingPackage as error:
        raise UnsupportedModel(
            f"This site measures no weights that are quantised ({quantisation.title}), as the library for them is not "
            "installed.",
            USE_ORIGINAL,
        ) from error
    if quantisation.needs_gpu and settings.DEVICE == "cpu":
        raise UnsupportedModel(
            f"Weights that are quantised ({quantisation.title}) need a GPU, and this site has none.", USE_ORIGINAL
        )
    return quantisation


def config_fits(examination: Examination) -> str:
    """Compare the config with the weights, before anything is built or downloaded."""
    config, where = config_of(examination), listing_of(examination).hub_id
    if examination.tensors is None:
        return "The config is part of the GGUF file."
    _, notes = usable_config(where, config, examination.tensors)
    return " ".join(["The config describes a model of this size.", *notes])


def number_format_chosen(examination: Examination) -> str:
    """Choose the number format by the model's size, unless the submitter has chosen one."""
    weights = weights_found(examination)
    if examination.settings.dtype == AUTO_DTYPE:
        examination.plan = examination.plan.with_dtype(number_format.by_device(weights))
        return f"{examination.settings.dtype}, which auto stands for here."
    if examination.dtype_chosen:
        return f"{examination.settings.dtype}, as chosen."
    examination.plan = examination.plan.with_dtype(dtype_by_size(weights.parameters, weights.dtype))
    if listing_of(examination).gguf:
        return f"{examination.settings.dtype}, as for every GGUF file."
    return number_format.reason(examination.settings, weights)


def fits_into_memory(examination: Examination) -> str:
    return number_format.fits(examination.settings, weights_found(examination))


# The rules, in the order in which pages show them.


def of_listing(check: Callable[[Listing], str]) -> Callable[[Examination], str]:
    """Adapt a check of the listing alone. Its rule must need "exists"."""
    return lambda examination: check(listing_of(examination))


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
    Rule(ADAPTER, adapter_usable, ("files safe",)),
    Rule("size", size_accepted, ("weights format",)),
    Rule("weights intact", weights_intact, ("size", "config readable")),
    Rule("config fits", config_fits, ("weights intact", "architecture known")),
    Rule("number format", number_format_chosen, ("weights intact",)),
    Rule("memory", fits_into_memory, ("number format",)),
    Rule("not measured already", not_measured_already, ("version pinned", "number format")),
)
RULES_WITHOUT_ADAPTER = tuple(rule for rule in RULES if rule.name != ADAPTER)
