"""What the checks have found out about a submitted model so far, and what a check may rely on."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

from leaderboard.models import Benchmark, Model
from probing.errors import BadInput, SlowDownload, SourceUnavailable
from probing.files.architectures import architecture_of
from probing.files.headers import Tensors, WeightSummary
from probing.files.listing import Listing
from probing.files.quantisation import Quantisation
from probing.kinds import Kind
from probing.plan import Plan
from probing.settings import Settings

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


class AlreadyMeasured(BadInput):
    """The same model, benchmark and settings have a run. This is no failure: the submitter is shown that run."""

    code = "already-measured"


def listing_of(examination: Examination) -> Listing:
    assert examination.listing is not None, "the rule lacks the need “exists”"
    return examination.listing


def config_of(examination: Examination) -> Mapping[str, Any]:
    assert examination.config is not None, "the rule lacks the need “config readable”"
    return examination.config


def weights_found(examination: Examination) -> WeightSummary:
    assert examination.weights is not None, "the rule lacks the need “weights intact”"
    return examination.weights
