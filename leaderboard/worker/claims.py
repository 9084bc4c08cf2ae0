"""What a result of a third party says of itself: read from its record, and matched with a benchmark and a model."""

import hashlib
import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from leaderboard.display.visible import visible
from leaderboard.models import Benchmark, Model
from leaderboard.serving.json_bodies import parse_object
from leaderboard.stored import benchmarks
from leaderboard.worker.arrived_records import RECORD_LIMIT, Card, RowsRefused, checked_card
from probing.errors import BadInput
from probing.plan import Plan, plan
from probing.results.result import RECORD
from probing.settings import Settings

HUB_ID = re.compile(r"\w[\w.-]*/\w[\w.-]*", re.ASCII)
WEB_ADDRESS = re.compile(r"https?://[^\s/]+(?:/\S*)?")
LONGEST_NAME = LONGEST_ADDRESS = 200  # characters that the tables have for them
UNCHANGED = "Give the files as the library wrote them."


@dataclass(frozen=True)
class Claim:
    """What a result says of itself; all but its rows is checked.

    `record`: that of the result, with the name and the commit that the model has on this site. `model`: may not be
    saved yet. `source`: who measured it, as pages name them; `url`: where it was published.
    """

    record: Mapping[str, Any]
    model: Model
    benchmark: Benchmark
    plan: Plan
    source: str
    url: str = ""

    @property
    def question(self) -> str:
        """The text in place of the digest of settings: results of several sources stand side by side."""
        return hashlib.sha256(json.dumps(["third-party", self.source, self.plan.settings.digest]).encode()).hexdigest()

    @property
    def settings_stored(self) -> dict[str, Any]:
        """The settings as a run has them once it was stored and read again."""
        return dict(json.loads(json.dumps(self.plan.settings.to_json())))


def read_claim(text: bytes, source: str, *, url: str = "", hub_id: str = "", revision: str = "") -> Claim:
    """Read the record of a result (run.json).

    `hub_id`: the model's name as org/name, where the record names a folder. `revision`: the name of the checkpoint,
    where the record states none. Raises `BadInput` where the benchmark's version is not here, or something is not as a
    record has it.
    """
    record = _parsed(text)
    benchmark = _benchmark(record["benchmark"], str(record["settings"].get("probe", "")))
    plan = _plan(record["settings"], benchmark)
    model = _claimed_model(record["model"], hub_id, revision, plan.settings)
    named = {**record, "model": {**record["model"], "id": model.hub_id, "commit": model.commit}}
    return Claim(named, model, benchmark, plan, visible(source)[:300], web_address(url))


def is_hub_id(name: str) -> bool:
    """Tell whether a name is org/name, as the hub spells it, and has an address of its own on this site."""
    return len(name) <= LONGEST_NAME and ".." not in name and HUB_ID.fullmatch(name) is not None


def web_address(text: str) -> str:
    """Return an address to which pages may lead; raise `BadInput` if it is not one of the web, or empty."""
    if text and (len(text) > LONGEST_ADDRESS or not WEB_ADDRESS.fullmatch(text)):
        raise BadInput(f"{text[:100]!a} is not an address of the web.", "Write it as https://example.org/report.")
    return text


def not_measured(error: RowsRefused) -> BadInput:
    """Return what the sender of a whole result is told where its rows or its record are refused."""
    return BadInput(
        f"The result is not what a measurement gives. {error.message}",
        "Measure it with the version of the library that this site has, and give its files unchanged.",
    )


def _parsed(text: bytes) -> dict[str, Any]:
    if len(text) > RECORD_LIMIT:
        raise BadInput(f"{RECORD} is too large for a record.", UNCHANGED)
    try:
        record = parse_object(text)
    except ValueError as error:
        raise BadInput(f"{RECORD} cannot be read: it {error}.", UNCHANGED) from error
    if not all(isinstance(record.get(name), dict) for name in ("model", "benchmark", "settings")):
        raise BadInput(f"{RECORD} is not the record of a run.", UNCHANGED)
    return record


def _benchmark(facts: Mapping[str, Any], probe: str) -> Benchmark:
    """Return the version that the result is about; its files must be here, as rows are checked against them.

    It is the one that is asked by this probe, where there is one.
    """
    here = Benchmark.objects.exclude(path="")
    slug, version = facts.get("slug"), facts.get("version")
    same = here.filter(digest=facts.get("digest", "")).order_by("-current", "-main", "pk")
    benchmark = same.filter(probe=probe).first() or same.first()
    if benchmark is None:
        versions = ", ".join(here.filter(slug=slug).order_by("pk").values_list("version", flat=True)) or "none"
        raise BadInput(
            f"The result is on {slug} {version}, which is not here (versions of {slug} here: {versions}).",
            "Import that version of the benchmark first, or measure the model on the version that is here.",
        )
    return benchmark


def _plan(values: Mapping[str, Any], benchmark: Benchmark) -> Plan:
    probe, content = values.get("probe", Settings.probe), benchmarks.read(benchmark)
    if isinstance(probe, str) and probe != benchmark.probe:
        raise BadInput(
            f"The result was measured with the probe {probe:.100}, and {benchmark.slug} is imported here for "
            f"{benchmark.probe}.",
            f"Import the benchmark for it as well: --slug {benchmark.slug} --probe {probe:.100}.",
        )
    try:
        return plan(content, Settings.from_json(dict(values)))
    except (TypeError, ValueError, KeyError, AttributeError) as error:
        raise BadInput(f"The result's settings cannot be read ({error}).", "Measure it with this version.") from error


def _claimed_model(facts: Mapping[str, Any], hub_id: str, revision: str, settings: Settings) -> Model:
    """Return the model that the result names: the row of those weights if there is one, else one that is not saved.

    Where the record has no commit, the digests of its files are the weights, and without these, the revision. Weights
    that were quantised in memory are others than those of the commit.
    """
    name = hub_id or str(facts.get("id", ""))
    if not is_hub_id(name):
        raise BadInput(f"The result names its model {name[:200]!r}.", "Name it as the hub does: --model org/name.")
    card = _card(facts)
    commit = visible(card.commit or "")[:64]
    revision, weights = visible(revision or card.revision or "")[:200], commit or _content_digest(card)
    quantisation = visible(card.quantisation or "")[:20]
    if quantisation and (settings.quantization != "none" or card.source == "object"):
        commit, weights = "", hashlib.sha256(f"{weights or revision} {quantisation}".encode()).hexdigest()
    rows = Model.objects.filter(hub_id=name, commit=weights)
    rows = rows if weights else rows.filter(revision=revision)
    if model := rows.filter(source=Model.Source.HUB).first() or rows.first():
        return model
    model = Model(
        hub_id=name,
        commit=weights,
        source=Model.Source.LOCAL if not commit and (weights or revision) else Model.Source.PUBLISHED,
        kind=card.kind,
        architecture=visible(card.architecture or "")[:100],
        parameters=card.parameters or None,
        weights_file=visible(next(iter(card.files), ""))[:200] if card.source == "gguf" else "",
        quantisation=quantisation,
    )
    model.name_revision(revision)
    return model


def _card(facts: Mapping[str, Any]) -> Card:
    try:
        return checked_card(facts)
    except RowsRefused as error:
        raise not_measured(error) from error


def _content_digest(card: Card) -> str:
    """Return the SHA-256 of the names and digests of the model's files, empty where the record names none."""
    if not card.files:
        return ""
    return hashlib.sha256("".join(f"{name} {sha}\n" for name, sha in sorted(card.files.items())).encode()).hexdigest()
