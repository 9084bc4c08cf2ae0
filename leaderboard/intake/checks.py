"""What a submitted id must pass, one function each, before a single weight is downloaded.

A check returns what it found or raises a `ProbingError`; the rest run all the same, except those that need what it
would have found. `examine` runs them in the order of `RULES`.
"""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import timedelta
from functools import lru_cache
from pathlib import Path
from typing import Any, Literal, NamedTuple

from django.conf import settings
from django.utils import timezone
from gguf import GGUFReader

from leaderboard.intake import hub
from leaderboard.models import Benchmark, Model, Run
from probing.errors import (
    BadInput,
    ModelNotFound,
    ProbingError,
    SourceUnavailable,
    UnsupportedModel,
)
from probing.files.architectures import kind_of, known_model_types
from probing.files.model_files import refuse_code, refuse_pickles
from probing.language_model import Kind
from probing.settings import Settings

HUB_ID = re.compile(r"(?:[\w][\w.-]{0,95}/)?[\w][\w.-]{0,95}", re.ASCII)


@dataclass(frozen=True)
class Check:
    """The outcome of one check, as shown to the submitter."""

    name: str
    state: Literal["ok", "failed", "warning", "skipped"]
    message: str
    next_step: str = ""
    code: str = ""


@dataclass
class Examination:
    """What is asked, and what the checks have learned so far."""

    hub_id: str
    benchmark: Benchmark
    settings: Settings
    submitter: str = ""
    listing: hub.Listing | None = None
    config: Mapping[str, Any] | None = None
    kind: Kind | None = None
    duplicate: Run | None = None
    checks: tuple[Check, ...] = ()

    @property
    def failed(self) -> Check | None:
        """The first check that failed."""
        return next((check for check in self.checks if check.state == "failed"), None)

    @property
    def waiting(self) -> bool:
        """Nothing failed, but the hub did not answer everything."""
        return not self.failed and any(check.code == SourceUnavailable.code for check in self.checks)

    @property
    def architecture(self) -> str:
        names = self.config.get("architectures") or [""]
        return str(names[0])


class Rule(NamedTuple):
    name: str
    check: Callable[[Examination], str]
    needs: tuple[str, ...] = ()


def examine(asked: Examination) -> Examination:
    """Run every check; a later one whose needs are not met is skipped."""
    for rule in RULES:
        missing = [check.name for check in asked.checks if check.name in rule.needs and check.state != "ok"]
        asked.checks += (_skipped(rule, missing[0]) if missing else _run(rule, asked),)
    return asked


def _skipped(rule: Rule, need: str) -> Check:
    return Check(rule.name, "skipped", f"Not checked: it needs “{need}” first.")


def _run(rule: Rule, asked: Examination) -> Check:
    try:
        return Check(rule.name, "ok", rule.check(asked))
    except AlreadyMeasured as error:
        return Check(rule.name, "warning", error.message, error.next_step, error.code)
    except ProbingError as error:
        return Check(rule.name, "failed" if error.permanent else "warning", error.message, error.next_step, error.code)


class AlreadyMeasured(BadInput):
    """The same model, benchmark and settings have a run; not a failure, the submitter is sent there."""

    code = "already-measured"


class TooMany(BadInput):
    """One submitter's runs of the last day have reached the limit."""

    code = "too-many"


def well_formed(asked: Examination) -> str:
    if not HUB_ID.fullmatch(asked.hub_id) or ".." in asked.hub_id or "--" in asked.hub_id:
        raise BadInput(f"{asked.hub_id[:200]!r} is not a model id.", "Write it as org/name, as the hub shows it.")
    return f"{asked.hub_id} is a model id."


def within_the_limit(asked: Examination) -> str:
    limit = settings.SUBMISSIONS_PER_DAY
    today = Run.objects.filter(submitter=asked.submitter, created__gt=timezone.now() - timedelta(days=1))
    if limit and asked.submitter and today.exclude(state=Run.State.FAILED).count() >= limit:
        raise TooMany(f"You have submitted {limit} models in the last 24 hours.", "Come back tomorrow.")
    return "Within the daily number of submissions."


def exists(asked: Examination) -> str:
    """A short name such as gpt2 is fine where the hub can tell whose it is."""
    try:
        asked.listing = hub.find(asked.hub_id)
    except SourceUnavailable:
        refuse_short(asked.hub_id)
        raise
    refuse_short(asked.listing.hub_id)
    return "A local model." if asked.listing.folder else f"Found at {settings.HF_ENDPOINT}."


def refuse_short(hub_id: str) -> None:
    if "/" not in hub_id:
        raise ModelNotFound(f"{hub_id} has no organisation in front.", "Write the id as org/name.")


def public(asked: Examination) -> str:
    if not asked.listing.public:
        raise UnsupportedModel(
            f"{asked.hub_id} is private or gated, so nobody could repeat the measurement.",
            "Submit a model that anyone can download.",
        )
    return "Offered by this site." if asked.listing.folder else "Anyone can download it."


def commit_pinned(asked: Examination) -> str:
    if not asked.listing.commit:
        raise UnsupportedModel(f"The hub names no commit of {asked.hub_id}.", "Push at least one commit.")
    return f"Pinned to {asked.listing.commit[:12]}."


def safetensors_only(asked: Examination) -> str:
    if asked.listing.gguf:
        return "One GGUF file, from the local folder."
    refuse_pickles(asked.hub_id, asked.listing.files)
    return "Weights are in safetensors."


def config_readable(asked: Examination) -> str:
    listing = asked.listing
    asked.config = gguf_config(listing.gguf, listing.commit) if listing.gguf else hub.read_json(listing, "config.json")
    return "The model describes itself."


@lru_cache(maxsize=32)
def gguf_config(path: Path, commit: str) -> dict[str, Any]:
    """What the checks ask of a config, from a GGUF file's header; reading it takes seconds, so it is remembered."""
    try:
        reader = GGUFReader(path)
    except (ValueError, OSError) as error:
        raise UnsupportedModel(f"{path.name} is not a valid GGUF file.", "Copy it again.") from error
    architecture = reader.get_field("general.architecture")
    return {
        "model_type": architecture.contents() if architecture else "",
        "tokenizer": bool(reader.get_field("tokenizer.ggml.tokens")),
    }


def no_custom_code(asked: Examination) -> str:
    refuse_code(f"config.json of {asked.hub_id}", asked.config)
    name = "tokenizer_config.json"
    if name in asked.listing.files:
        refuse_code(f"{name} of {asked.hub_id}", hub.read_json(asked.listing, name))
    return "Needs no code of its own."


def architecture_known(asked: Examination) -> str:
    model_type = str(asked.config.get("model_type") or "")
    if model_type not in known_model_types():
        raise UnsupportedModel(
            f"The installed transformers does not know the model type {model_type!r}.",
            "Wait until a release of transformers has it; models with their own code are not run.",
        )
    return f"transformers knows {model_type}."


def causal_or_masked(asked: Examination) -> str:
    asked.kind = "causal" if asked.listing.gguf else kind_of(asked.architecture)
    if asked.kind is None:
        raise UnsupportedModel(
            f"{asked.architecture or 'The model'} has neither a causal nor a masked language modelling head.",
            "Submit the checkpoint that was saved with its language modelling head.",
        )
    return f"A {asked.kind} language model ({asked.architecture or asked.config['model_type']})."


def fast_tokenizer(asked: Examination) -> str:
    if asked.listing.gguf and not asked.config["tokenizer"]:
        raise UnsupportedModel("The GGUF file has no tokenizer inside.", "Convert the model again with one.")
    if not asked.listing.gguf and "tokenizer.json" not in asked.listing.files:
        raise UnsupportedModel(
            f"{asked.hub_id} has no fast tokenizer (tokenizer.json).",
            "Load it with AutoTokenizer, save it with save_pretrained and upload tokenizer.json.",
        )
    return "Has a fast tokenizer."


def small_enough(asked: Examination) -> str:
    size, limit = hub.weight_bytes(asked.listing), settings.MODEL_SIZE_LIMIT
    if size > limit:
        raise UnsupportedModel(
            f"The weights take {size / 1e9:.1f} GB; this site measures models up to {limit / 1e9:.0f} GB.",
            "Submit a smaller model, or run it yourself: python -m probing run.",
        )
    return f"{size / 1e9:.2f} GB of weights, below {limit / 1e9:.0f} GB."


def not_measured_already(asked: Examination) -> str:
    """Looks at finished and unfinished runs; a failed or cancelled one is begun again."""
    listing = asked.listing
    same = Run.objects.filter(
        model__hub_id=listing.hub_id,
        model__commit=listing.commit,
        model__source=Model.Source.LOCAL if listing.folder else Model.Source.HUB,
        benchmark=asked.benchmark,
        settings_digest=asked.settings.digest,
    )
    asked.duplicate = same.exclude(state__in=[Run.State.FAILED, Run.State.CANCELLED]).first()
    if asked.duplicate:
        raise AlreadyMeasured(
            f"This is run {asked.duplicate.pk}, {asked.duplicate.state}.", "See that run; nothing is repeated."
        )
    return "Not measured yet."


RULES = (
    Rule("well-formed id", well_formed),
    Rule("daily limit", within_the_limit),
    Rule("exists", exists, ("well-formed id",)),
    Rule("public", public, ("exists",)),
    Rule("commit pinned", commit_pinned, ("exists",)),
    Rule("safetensors only", safetensors_only, ("exists",)),
    Rule("config readable", config_readable, ("exists", "public", "commit pinned")),
    Rule("no custom code", no_custom_code, ("config readable",)),
    Rule("architecture known", architecture_known, ("config readable",)),
    Rule("causal or masked", causal_or_masked, ("config readable",)),
    Rule("fast tokenizer", fast_tokenizer, ("config readable",)),
    Rule("size", small_enough, ("safetensors only", "public", "commit pinned")),
    Rule("not measured already", not_measured_already, ("commit pinned",)),
)
