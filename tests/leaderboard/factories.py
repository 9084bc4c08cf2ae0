"""Rows of the database for tests, with a sensible value for every field that a test does not set."""

from collections.abc import Iterable, Iterator, Mapping, Set
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from io import BytesIO
from itertools import count
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
from django.core.files.base import ContentFile
from django.core.files.storage import storages
from django.utils import timezone

from leaderboard.figures import benchmarks, item_rows
from leaderboard.figures.outcomes import every_step_measured_on
from leaderboard.figures.ranks import store_figures
from leaderboard.management.commands.load_published import load
from leaderboard.models import Benchmark, Claim, Model, Printed, PrintedRow, Run, RunEvent, RunPart, Score
from probing.analysis.accuracy import CHANCE, SCORE_COLUMNS
from probing.analysis.intervals import wilson
from probing.analysis.option_scores import PER_OPTION
from probing.benchmark import Benchmark as Content
from probing.benchmark import Item, Relation
from probing.catalog import CATALOG, EMBEDDED
from probing.language_model import OptionScores, Request, Scoring
from probing.part_runner import probe_part
from probing.plan import plan_of
from probing.probes import probe_of
from probing.probes.multiple_choice import MultipleChoice
from probing.results.rows import OPTIONS, option_ranges, ranges_as_json
from probing.settings import Settings
from probing.template import prompt
from tests.fakes import FakeModel
from tests.leaderboard.kept import kept
from tests.remembered import remembered

NUMBERS = count(1)
DAY = datetime(2026, 11, 1, 12, tzinfo=UTC)


def benchmark(slug: str = "tiny", **fields: Any) -> Benchmark:
    defaults = {
        "version": "v1",
        "digest": "0" * 64,
        "title": slug.title(),
        "format": "bear",
        "probe": "multiple_choice",
        "path": "",
        "relations": 2,
        "items": 100,
    }
    return Benchmark.objects.create(slug=slug, **{**defaults, **fields})


def model(hub_id: str = "", **fields: Any) -> Model:
    defaults = {"commit": f"{next(NUMBERS):040x}", "kind": "causal", "parameters": 135_000_000, "licence": "apache-2.0"}
    hub_id = hub_id or f"org/model-{next(NUMBERS)}"
    return Model.objects.create(hub_id=hub_id, **{**defaults, "architecture": "LlamaForCausalLM", **fields})


def run(of: Model, on: Benchmark, state: Run.State = Run.State.QUEUED, **fields: Any) -> Run:
    fields = {"settings": {}, "settings_digest": f"{next(NUMBERS):064x}", **fields}
    return Run.objects.create(model=of, benchmark=on, state=state, **fields)


def running(of: Model, on: Benchmark, done: int = 50, items: int = 100) -> Run:
    """Create a run in the middle of scoring."""
    going = run(of, on, Run.State.SCORING, started=DAY)
    claimed(going)
    RunPart.objects.create(run=going, relation="P30", template=0, items=items, items_done=done, work=items)
    RunEvent.objects.create(run=going, state=Run.State.SCORING, message="Scoring.")
    return going


def claimed(of: Run, worker: str = "somebody", seconds_ago: float = 0) -> Claim:
    """Give a run to a worker that reported so many seconds ago."""
    seen = timezone.now() - timedelta(seconds=seconds_ago)
    return Claim.objects.create(run=of, worker=worker, number=1, losses=1, seen=seen)


def score(of: Run, value: float | None, dimension: str = "overall", group: str = "all", n: float = 100, **fields: Any):
    low, high = wilson(value, n) if value is not None else (None, None)
    defaults = {"metric": "accuracy", "low": low, "high": high, **fields}
    return Score.objects.create(run=of, dimension=dimension, group=group, value=value, n=n, **defaults)


def finished(on: Benchmark, value: float | None = 0.5, of: Model | None = None, **fields: Any) -> Run:
    """Create a finished run with an overall score, one domain and one relation."""
    done = run(of or model(), on, Run.State.FINISHED, started=DAY, finished=DAY + timedelta(minutes=10), **fields)
    score(done, value)
    score(done, value, "domain", "Arts", 40)
    score(done, value, "relation", "P30", 60)
    return done


def printed(on: Benchmark, scores: Iterable[Mapping[str, Any]], of: Model | None = None, **fields: Any) -> PrintedRow:
    """Create a row of printed figures, given what scores have; what they leave out is as for accuracy of all items."""
    paper = {"title": "A paper", "authors": "Ada Byron", "year": 2024, "url": "https://example.org/paper"}
    of = of or model(source=Model.Source.PUBLISHED, commit="")
    row = {"row": next(NUMBERS), "name": of.hub_id, "source": paper, "place": "Table 1", **fields}
    usual = {"metric": "accuracy", "dimension": "overall", "part": "all", "n": 100}
    figures = [Printed.objects.create(model=of, benchmark=on, **row, **{**usual, **one}) for one in scores]
    return PrintedRow(figures)


def published(on: Benchmark, value: float = 0.5, of: Model | None = None, **fields: Any) -> PrintedRow:
    """Create a row of printed figures with an overall score, one domain and one relation."""
    parts = [("overall", "all", 100), ("domain", "Arts", 40), ("relation", "P30", 60)]
    scores = [{"value": value, "dimension": name, "part": part, "n": n} for name, part, n in parts]
    return printed(on, scores, of, **fields)


def baseline(on: Benchmark, value: float = 0.1, name: str = CHANCE) -> None:
    """State what is reached without a model on a benchmark."""
    on.baselines = {**on.baselines, name: value}
    on.save(update_fields=["baselines"])


def measured(on: Benchmark, of: Model, skill: float, seed: int = 0, templates: tuple[int, ...] = (0, 1)) -> Run:
    """Create a run on an installed benchmark with all its items stored; `skill` raises the scores of right options."""
    settings = Settings(templates=templates)
    result = _skilled_result(benchmarks.read(on), settings, skill, seed)
    done = _with_result(of, on, settings, result, finished=DAY + timedelta(minutes=7))
    done.provenance_record = {"model": {"id": of.hub_id, "commit": of.commit}, "device": "cpu", "dtype": "float32"}
    done.save()
    return done


def probed(on: Benchmark, of: Model, model: FakeModel, settings: Settings) -> Run:
    """A finished run on an installed benchmark, with the items and scores that the probe computes with a fake model."""
    return _with_result(of, on, settings, _probed_result(benchmarks.read(on), settings, model))


def shipped(slug: str, probe: str = "") -> Benchmark:
    """Import a benchmark that ships with the project; return it with this probe, or with its usual one."""
    format = CATALOG[slug].format
    return kept(("shipped", slug, probe), lambda: benchmarks.install(format, EMBEDDED / slug, slug, probe=probe)[0])


def published_figures() -> int:
    """Load the published figures that ship with the project; return how many rows they have."""
    return kept("published figures", lambda: load(EMBEDDED / "published"))


def tidy_scores(of: Run) -> pd.DataFrame:
    """Return the stored scores of a run as a table."""
    return pd.DataFrame(of.scores.order_by("pk").values(*SCORE_COLUMNS))


def stored_rows(of: Run) -> pd.DataFrame:
    """Return the items of a run as its file has them."""
    with storages["artefacts"].open(f"{of.artefact}/items.parquet") as file:
        return pd.read_parquet(file)


def replace_rows(of: Run, rows: pd.DataFrame) -> None:
    """Store other rows as the items of a run."""
    storages["artefacts"].delete(f"{of.artefact}/items.parquet")
    storages["artefacts"].save(f"{of.artefact}/items.parquet", ContentFile(rows.to_parquet()))


def reversed_items(of: Run) -> Run:
    """Create another run with the same items, stored from last to first."""
    return stored_items(of.model, of.benchmark, stored_rows(of).iloc[::-1], settings=of.settings)


def stored_items(of: Model, on: Benchmark, rows: pd.DataFrame, **fields: Any) -> Run:
    """Create a finished run with these rows and no scores."""
    done = run(of, on, Run.State.FINISHED, **fields)
    done.artefact = f"runs/{done.pk}"
    storages["artefacts"].save(f"{done.artefact}/items.parquet", ContentFile(rows.to_parquet()))
    done.save()
    return done


@dataclass
class Skilled(FakeModel):
    """A model that scores right options higher, the more skill it has."""

    skill: float = 1.0
    right: Set[str] = frozenset()
    chance: np.random.Generator = field(default_factory=np.random.default_rng)

    def score(self, requests: Iterable[Request], scoring: Scoring) -> Iterator[OptionScores]:
        for blank, options in requests:
            texts = [blank.fill(option).text for option in options]
            scores = self.chance.normal(-30, 1, len(options)) + [self.skill * (text in self.right) for text in texts]
            whole = tuple(np.array([score]) for score in scores)
            yield OptionScores(whole, (slice(0, 1),) * len(options), np.ones(len(options), bool))


class _Result(NamedTuple):
    """The items of a run as a Parquet file, and its scores as fields of `Score`."""

    items: bytes
    scores: list[dict[str, Any]]


def _with_result(of: Model, on: Benchmark, settings: Settings, result: _Result, finished: datetime = DAY) -> Run:
    done = run(of, on, Run.State.FINISHED, started=DAY, finished=finished, settings=settings.to_json())
    done.artefact = f"runs/{done.pk}"
    storages["artefacts"].save(f"{done.artefact}/items.parquet", ContentFile(result.items))
    done.save()
    Score.objects.bulk_create(Score(run=done, **score) for score in result.scores)
    return done


@remembered
def _skilled_result(content: Content, settings: Settings, skill: float, seed: int) -> _Result:
    return _result(MultipleChoice().frame(list(_rows(content, settings, skill, seed))), content, settings)


@remembered
def _probed_result(content: Content, settings: Settings, model: FakeModel) -> _Result:
    plan = plan_of(content, settings)
    rows = pd.concat([probe_part(model, plan, part).rows for part in plan.parts])
    return _result(rows.reset_index(drop=True), content, settings)


def restore_figures(benchmark: Benchmark) -> None:
    """Store what a worker stores of the items of a run that it finishes, for runs that were made without it."""
    for run in every_step_measured_on(benchmark).select_related("model", "benchmark").order_by("pk"):
        without_outcomes = bool(run.benchmark.correctness.column) and not run.relation_outcomes.exists()
        if without_outcomes or not run.item_figures.exists():
            with suppress(item_rows.ItemsMissing):
                columns = [name for name in item_rows.names(run) if name not in PER_OPTION]
                store_figures(run, item_rows.frame(run, columns))


def _result(rows: pd.DataFrame, content: Content, settings: Settings) -> _Result:
    tidy = probe_of(settings).scores(rows).to_dict("records")
    scores = [{str(name): None if pd.isna(cell) else cell for name, cell in score.items()} for score in tidy]
    return _Result(_parquet(rows, content, settings), scores)


def _parquet(rows: pd.DataFrame, content: Content, settings: Settings) -> bytes:
    """Return rows as they are stored, with the names of all options."""
    table, file = pa.Table.from_pandas(rows), BytesIO()
    options = {OPTIONS: ranges_as_json(option_ranges(plan_of(content, settings))).encode()}
    pq.write_table(table.replace_schema_metadata({**table.schema.metadata, **options}), file)
    return file.getvalue()


def _rows(content: Content, settings: Settings, skill: float, seed: int) -> Iterator[dict[str, Any]]:
    chance = np.random.default_rng(seed)
    for relation in content.relations:
        ease = chance.normal(0, 1)
        for number in settings.templates:
            right = {_right(relation, number, item) for item in relation.items}
            model = Skilled(skill=skill + ease - 0.2 * number, right=right, chance=chance)
            yield from MultipleChoice().rows(model, relation, number, settings)


def _right(relation: Relation, template: int, item: Item) -> str:
    return prompt(relation.templates[template], item.subject).fill(relation.options_of(item)[item.answers[0]]).text
