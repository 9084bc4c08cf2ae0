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
from gguf import GGUFReader

from leaderboard.intake import hub
from leaderboard.models import Benchmark, Model, Run
from probing.errors import BadInput, ModelNotFound, ProbingError, SourceUnavailable, UnsupportedModel
from probing.files.architectures import architecture_of, require_kind, require_known_type
from probing.files.model_files import refuse_code, refuse_pickles
from probing.language_model import Kind
from probing.settings import Settings

HUB_ID = re.compile(r"(?:[\w][\w.-]{0,95}/)?[\w][\w.-]{0,95}", re.ASCII)


@dataclass(frozen=True)
class Check:
    """The outcome of one check, as pages show it to the submitter."""

    name: str
    state: Literal["ok", "failed", "warning", "skipped"]
    message: str
    next_step: str = ""
    code: str = ""


@dataclass(frozen=True)
class Description:
    """A model's listing and its configuration. Of a GGUF file, the configuration is a part of the header."""

    listing: hub.Listing
    config: Mapping[str, Any]

    @property
    def architecture(self) -> str:
        """The name of the model class, "" for a GGUF file."""
        return architecture_of(self.config)


@dataclass
class Examination:
    """A submission and what the checks have found out about its model so far.

    `listing` and `description` are None until the checks "exists" and "config readable" have passed.
    """

    hub_id: str
    benchmark: Benchmark
    settings: Settings
    submitter: str = ""
    listing: hub.Listing | None = None
    description: Description | None = None
    kind: Kind | None = None
    checks: tuple[Check, ...] = ()

    @property
    def failed(self) -> Check | None:
        """The first check that failed."""
        return next((check for check in self.checks if check.state == "failed"), None)

    @property
    def waiting(self) -> bool:
        """Tell whether no check failed, but some could not be made because the hub did not answer."""
        return not self.failed and any(check.code == SourceUnavailable.code for check in self.checks)

    @property
    def architecture(self) -> str:
        """The name of the model class, "" as long as it is not known."""
        return self.description.architecture if self.description else ""


class Rule(NamedTuple):
    """A check with its name on pages and the names of the checks that must have passed before it."""

    name: str
    check: Callable[[Examination], str]
    needs: tuple[str, ...] = ()


class AlreadyMeasured(BadInput):
    """The same model, benchmark and settings have a run. This is no failure: the submitter is shown that run."""

    code = "already-measured"


def examine(examination: Examination, on_check: Callable[[Check], None] | None = None) -> Examination:
    """Run every check, in order; skip those whose needs are not met. `on_check` is called after each."""
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


def of_listing(check: Callable[[hub.Listing], str]) -> Callable[[Examination], str]:
    """Adapt a check of the listing alone. Its rule must need "exists"."""
    return lambda examination: check(_listing(examination))


def of_description(check: Callable[[Description], str]) -> Callable[[Examination], str]:
    """Adapt a check of the description alone. Its rule must need "config readable"."""
    return lambda examination: check(_description(examination))


def _listing(examination: Examination) -> hub.Listing:
    assert examination.listing is not None, "the rule lacks the need “exists”"
    return examination.listing


def _description(examination: Examination) -> Description:
    assert examination.description is not None, "the rule lacks the need “config readable”"
    return examination.description


def well_formed(examination: Examination) -> str:
    refuse_malformed(examination.hub_id)
    return f"{examination.hub_id} is a model id."


def refuse_malformed(hub_id: str) -> None:
    """Raise `BadInput` if this is not the id of a model; a valid one has at most 193 characters, all of them ASCII."""
    if not HUB_ID.fullmatch(hub_id) or ".." in hub_id or "--" in hub_id:
        raise BadInput(f"{hub_id[:200]!a} is not a model id.", "Write it as org/name, as the hub shows it.")


def exists(examination: Examination) -> str:
    """Find the model. An id without an organisation, such as gpt2, passes if the hub knows the full id."""
    try:
        examination.listing = hub.find(examination.hub_id)
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


def public(listing: hub.Listing) -> str:
    if not listing.public:
        raise UnsupportedModel(
            f"{listing.hub_id} is private or gated, so nobody could repeat the measurement.",
            "Submit a model that anyone can download.",
        )
    return "Offered by this site." if listing.folder else "Anyone can download it."


def commit_pinned(listing: hub.Listing) -> str:
    if not listing.commit:
        raise UnsupportedModel(f"The hub names no commit of {listing.hub_id}.", "Push at least one commit.")
    return f"Pinned to {listing.commit[:12]}."


def safetensors_only(listing: hub.Listing) -> str:
    if listing.gguf:
        return "One GGUF file, from the local folder."
    refuse_pickles(listing.hub_id, listing.files)
    return "Weights are in safetensors."


def config_readable(examination: Examination) -> str:
    """Read the configuration."""
    listing = _listing(examination)
    config = gguf_config(listing.gguf, listing.commit) if listing.gguf else hub.read_json(listing, "config.json")
    examination.description = Description(listing, config)
    return "The model has a readable configuration."


@lru_cache(maxsize=32)
def gguf_config(path: Path, commit: str) -> dict[str, Any]:
    """Return what the checks need from the header of a GGUF file. Reading it takes seconds, so it is cached."""
    try:
        reader = GGUFReader(path)
    except (ValueError, OSError) as error:
        raise UnsupportedModel(f"{path.name} is not a valid GGUF file.", "Copy it again.") from error
    architecture = reader.get_field("general.architecture")
    return {
        "model_type": architecture.contents() if architecture else "",
        "tokenizer": bool(reader.get_field("tokenizer.ggml.tokens")),
    }


def no_custom_code(description: Description) -> str:
    listing, name = description.listing, "tokenizer_config.json"
    refuse_code(f"config.json of {listing.hub_id}", description.config)
    if name in listing.files:
        refuse_code(f"{name} of {listing.hub_id}", hub.read_json(listing, name))
    return "Needs no code of its own."


def architecture_known(description: Description) -> str:
    model_type = str(description.config.get("model_type") or "")
    require_known_type(model_type)
    return f"transformers knows {model_type}."


def causal_or_masked(examination: Examination) -> str:
    """Find out the model's kind."""
    description = _description(examination)
    examination.kind = "causal" if description.listing.gguf else require_kind(description.architecture)
    name = description.architecture or description.config.get("model_type")
    return f"A {examination.kind} language model ({name})."


def fast_tokenizer(description: Description) -> str:
    listing = description.listing
    if listing.gguf and not description.config["tokenizer"]:
        raise UnsupportedModel("The GGUF file contains no tokenizer.", "Convert the model again with its tokenizer.")
    if not listing.gguf and "tokenizer.json" not in listing.files:
        raise UnsupportedModel(
            f"{listing.hub_id} has no fast tokenizer (tokenizer.json).",
            "Load it with AutoTokenizer, save it with save_pretrained and upload tokenizer.json.",
        )
    return "Has a fast tokenizer."


def small_enough(listing: hub.Listing) -> str:
    size, limit = hub.weight_bytes(listing), settings.MODEL_SIZE_LIMIT
    if size > limit:
        raise UnsupportedModel(
            f"The weights take {size / 1e9:.1f} GB; this site measures models up to {limit / 1e9:.0f} GB.",
            "Submit a smaller model, or run it yourself: python -m probing run.",
        )
    return f"{size / 1e9:.2f} GB of weights, below {limit / 1e9:.0f} GB."


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
    Rule("commit pinned", of_listing(commit_pinned), ("exists",)),
    Rule("safetensors only", of_listing(safetensors_only), ("exists",)),
    Rule("config readable", config_readable, ("exists", "public", "commit pinned")),
    Rule("no custom code", of_description(no_custom_code), ("config readable",)),
    Rule("architecture known", of_description(architecture_known), ("config readable",)),
    Rule("causal or masked", causal_or_masked, ("config readable",)),
    Rule("fast tokenizer", of_description(fast_tokenizer), ("config readable",)),
    Rule("size", of_listing(small_enough), ("public", "commit pinned", "safetensors only")),
    Rule("not measured already", not_measured_already, ("commit pinned",)),
)
