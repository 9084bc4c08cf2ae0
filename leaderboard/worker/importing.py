"""Results that were measured elsewhere with this library: checked row by row, and stored as runs."""

import hashlib
import json
import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import IO, Any

from django.db import transaction

from leaderboard.figures import artefacts, benchmarks
from leaderboard.figures.ranks import withdraw
from leaderboard.models import Benchmark, Model, Run
from leaderboard.serving.errors import parse_object
from leaderboard.ui.visible import visible
from leaderboard.worker.arrivals import RECORD_LIMIT, Card, checked_card, checked_whole
from leaderboard.worker.finishing import finish
from probing.errors import BadInput
from probing.plan import Plan, plan
from probing.results.joining import joined_in_folder
from probing.results.result import RECORD, Result
from probing.results.rows import ITEMS
from probing.results.run_json import refuse_served
from probing.revisions import position
from probing.settings import Settings


class OtherResult(BadInput):
    """The site has other rows of the same model, benchmark, settings and source."""

    code = "other-result"


@dataclass(frozen=True)
class ClaimedResult:
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
        """The text in place of the digest of settings: results of several sources stand side by side.

        It begins as the digests of results did that third parties sent, so that such a result is still known.
        """
        return hashlib.sha256(json.dumps(["third-party", self.source, self.plan.settings.digest]).encode()).hexdigest()


def import_result(folder: Path, source: str, url: str = "", hub_id: str = "", revision: str = "") -> Run:
    """Store the result in a folder as a run that was measured elsewhere, and return the run.

    A result that is here already is returned as it is. All that follows from the benchmark is computed here and must be
    equal, and scores are computed from the rows; the folder's scores are not read. For the arguments and errors, see
    `read_claim`.
    """
    items = folder / ITEMS
    if not (folder / RECORD).is_file() or not items.is_file():
        raise BadInput(f"{folder} is not a result.", f"Give a folder with {ITEMS} and {RECORD}.")
    claim = read_claim(folder, source, url=url, hub_id=hub_id, revision=revision)
    with items.open("rb") as file:
        digest = hashlib.file_digest(file, "sha256").hexdigest()
        if same := stored_result(claim, digest):
            return same
        with checked_result(claim, file) as result:
            return store(claim, result, digest)


def stored_result(claim: ClaimedResult, digest: str) -> Run | None:
    """Return the run that has this result, None if the site has none; one that failed is removed.

    `digest`: the SHA-256 of the file of rows. Raises `OtherResult` where the site has other rows of the same.
    """
    runs = Run.objects.filter(benchmark=claim.benchmark, settings_digest=claim.question)
    stored = runs.filter(model=claim.model).first() if claim.model.pk else None
    if stored and stored.state in Run.UNSUCCESSFUL:
        withdraw(runs.filter(pk=stored.pk))
        return None
    if stored and stored.rows_digest != digest:
        raise OtherResult(
            f"Run {stored.pk} has other rows of the same model, benchmark, settings and source.",
            f"Withdraw it first: manage.py withdraw {stored.pk}.",
        )
    return stored


@contextmanager
def checked_result(claim: ClaimedResult, items: IO[bytes]) -> Iterator[Result]:
    """Check the rows of a result and compute its scores; raise `BadInput` where they are not what a measurement gives.

    The rows are read and checked one part at a time, and the result's files are removed at the end.
    """
    items.seek(0)
    with TemporaryDirectory() as scratch:
        checked = checked_whole(claim.record, claim.model, claim.plan, items, Path(scratch))
        yield joined_in_folder(checked, claim.plan, Path(scratch) / "result")


def store(claim: ClaimedResult, result: Result, digest: str) -> Run:
    """Store model, run, files and scores, all of them or nothing."""
    folder = ""
    try:
        with transaction.atomic():
            run = new_run(claim, digest)
            folder = artefacts.store_result(run, result)
            finish(run, result, folder)
    except BaseException:
        if folder:
            artefacts.remove_folder(folder)
        raise
    run.refresh_from_db()
    return run


def new_run(claim: ClaimedResult, digest: str) -> Run:
    """Store the run of a result, whose rows are still to be stored, and its model where the site does not have it."""
    model = claim.model
    if not model.pk:
        model.save()
    return Run.objects.create(
        model=model,
        benchmark=claim.benchmark,
        settings=json.loads(json.dumps(claim.plan.settings.to_json())),  # as they are once they were stored
        settings_digest=claim.question,
        state=Run.State.AGGREGATING,
        provenance=Run.Provenance.ELSEWHERE,
        reference=claim.source,
        reference_url=claim.url,
        rows_digest=digest,
    )


# What a result says of itself: read from its record, and matched with a benchmark and a model.


HUB_ID = re.compile(r"\w[\w.-]*/\w[\w.-]*", re.ASCII)
WEB_ADDRESS = re.compile(r"https?://[^\s/]+(?:/\S*)?")
LONGEST_NAME = LONGEST_ADDRESS = 200  # characters that the tables have for them
UNCHANGED = "Give the files as the library wrote them."


def read_claim(folder: Path, source: str, *, url: str = "", hub_id: str = "", revision: str = "") -> ClaimedResult:
    """Read the record of a result (run.json) and match it with a benchmark and a model.

    `hub_id`: the model's name as org/name, where the record names a folder. `revision`: the name of the checkpoint; by
    default the one in the record, or else the folder's name if it states a step. Raises `BadInput` where the
    benchmark's version is not here, or something is not as a record has it.
    """
    with (folder / RECORD).open("rb") as file:
        record = _parsed(file.read(RECORD_LIMIT + 1))
    benchmark = _benchmark(record["benchmark"], str(record["settings"].get("probe", "")))
    plan = _plan(record["settings"], benchmark)
    model = _claimed_model(record["model"], hub_id, revision, folder.name, plan.settings)
    named = {**record, "model": {**record["model"], "id": model.hub_id, "commit": model.commit}}
    return ClaimedResult(named, model, benchmark, plan, visible(source)[:300], web_address(url))


def is_hub_id(name: str) -> bool:
    """Tell whether a name is org/name, as the hub spells it, and has an address of its own on this site."""
    return len(name) <= LONGEST_NAME and ".." not in name and HUB_ID.fullmatch(name) is not None


def web_address(text: str) -> str:
    """Return an address to which pages may lead; raise `BadInput` if it is not one of the web, or empty."""
    if text and (len(text) > LONGEST_ADDRESS or not WEB_ADDRESS.fullmatch(text)):
        raise BadInput(f"{text[:100]!a} is not an address of the web.", "Write it as https://example.org/report.")
    return text


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


def _claimed_model(facts: Mapping[str, Any], hub_id: str, revision: str, folder_name: str, settings: Settings) -> Model:
    """Return the model that the result names: the row of those weights if there is one, else one that is not saved.

    Where the record has no commit, the digests of its files are the weights, and without these, the revision. Weights
    that were quantised in memory are others than those of the commit.
    """
    name = hub_id or str(facts.get("id", ""))
    if not is_hub_id(name):
        raise BadInput(f"The result names its model {name[:200]!r}.", "Name it as the hub does: --model org/name.")
    refuse_served(facts)
    card = checked_card(facts)
    commit = visible(card.commit or "")[:64]
    revision = visible(revision or card.revision or (folder_name if position(folder_name) else ""))[:200]
    weights = commit or _content_digest(card)
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


def _content_digest(card: Card) -> str:
    """Return the SHA-256 of the names and digests of the model's files, empty where the record names none."""
    if not card.files:
        return ""
    return hashlib.sha256("".join(f"{name} {sha}\n" for name, sha in sorted(card.files.items())).encode()).hexdigest()
