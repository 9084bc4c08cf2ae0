"""Fill an empty site with made-up models, runs and scores, so that its pages can be measured with many of them.

The names of all begin with "synthetic". It runs where Django is set up: `manage.py shell --command "from
tests.tools.seed_scale import fill; fill(models=100)"`.
"""

import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from itertools import islice, product
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import pandas as pd
from django.core.files.base import ContentFile
from django.core.files.storage import storages
from django.db import models, transaction

from leaderboard.figures import benchmarks as benchmarks_module
from leaderboard.figures import highlights, item_rows
from leaderboard.models import Benchmark, Model, Printed, Run, RunEvent, RunPart, RunRank, Score
from probing.analysis.intervals import wilson
from probing.errors import BadInput
from probing.results.rows import GROUP_ROWS
from probing.settings import Settings

ORGANISATION = "synthetic"
RELATIONS = (60, 10)  # of the first benchmark, which is as large as BEAR, and of each other one
ITEMS, OPTIONS, DOMAINS = 20, 8, 8  # items and options of each relation; domains of each benchmark
PUBLISHED = 5  # every fifth model has published figures instead of measured ones
RESULT_FILES = 4  # files of items that the runs of a benchmark share
DAY = datetime(2026, 1, 1, tzinfo=UTC)
BATCH = 5000  # rows that are inserted at once
METRIC = "accuracy"
PART_WORK = 10.0 * ITEMS


@dataclass(frozen=True)
class Scale:
    """How many rows of each kind there will be. `rows`: the items of one large run on a benchmark of its own."""

    models: int
    benchmarks: int
    templates: int
    rows: int
    waiting: int

    @property
    def settings(self) -> Settings:
        return Settings(templates=tuple(range(self.templates)))


def fill(
    *, models: int = 1000, benchmarks: int = 6, templates: int = 3, rows: int = 200_000, waiting: int = 5000
) -> None:
    """Fill an empty database.

    Every model has a run of so many templates on every benchmark; one large run has so many rows, and others wait.
    """
    if Run.objects.exists():
        raise BadInput(
            "This database has runs, and made-up runs must not stand beside real ones.",
            "Name an empty data folder in CLOZEBOARD_DATA, and run manage.py migrate.",
        )
    if min(models, benchmarks, templates) < 1 or min(rows, waiting) < 0:
        raise BadInput("There must be a model, a benchmark and a template.", "Give each of them at least as 1.")
    with transaction.atomic():
        _fill(Scale(models, benchmarks, templates, rows, waiting))


def _fill(scale: Scale) -> None:
    chance = np.random.default_rng(0)
    own = [_model(number) for number in range(scale.models)]
    _insert(own)
    boards = [_benchmark(scale, number) for number in range(scale.benchmarks)]
    for board in boards:
        _finished_runs(scale, board, own, chance)
    _waiting_runs(scale, boards, [model for model in own if model.source != Model.Source.PUBLISHED] or own)
    if scale.rows:
        _large_run(scale, own[0])


def _insert(rows: Iterable[models.Model]) -> None:
    """Insert rows of one table in batches; rows of a list have their numbers afterwards."""
    rows = iter(rows)
    while batch := list(islice(rows, BATCH)):
        type(batch[0])._default_manager.bulk_create(batch)


def _model(number: int) -> Model:
    published = number % PUBLISHED == PUBLISHED - 1
    return Model(
        hub_id=f"{ORGANISATION}/model-{number:05}",
        commit="" if published else f"{number:040x}",
        source=Model.Source.PUBLISHED if published else Model.Source.HUB,
        kind=("causal", "masked")[number % 2],
        parameters=int(10 ** (7 + 4 * (number * 0.618 % 1))),
        architecture="LlamaForCausalLM",
        licence="apache-2.0",
    )


def _benchmark(scale: Scale, number: int) -> Benchmark:
    """Install a benchmark in BEAR's form."""
    slug = f"{ORGANISATION}-{number + 1}"
    relations = [f"R{place + 1}" for place in range(RELATIONS[0] if number == 0 else RELATIONS[1])]
    options = [f"option {place}" for place in range(OPTIONS)]
    templates = [f"[X] is known for [Y], wording {place}." for place in range(scale.templates)]
    metadata = {name: {"templates": templates, "answer_space_labels": options} for name in relations}
    domains = {name: {"domains": [_domain(place)]} for place, name in enumerate(relations)}
    with TemporaryDirectory() as scratch:
        folder = Path(scratch) / slug
        folder.mkdir()
        (folder / "metadata_relations.json").write_text(json.dumps(metadata))
        (folder / "relation_info.json").write_text(json.dumps(domains))
        for name in relations:
            lines = [{"sub_label": f"subject {i} of {name}", "answer_idx": i % OPTIONS} for i in range(ITEMS)]
            (folder / f"{name}.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
        return benchmarks_module.install("bear", folder, slug, f"Synthetic {number + 1}")[0]


def _domain(relation: int) -> str:
    return f"Domain {relation % DOMAINS + 1}"


def _finished_runs(scale: Scale, board: Benchmark, own: Sequence[Model], chance: np.random.Generator) -> None:
    """Insert a finished run of every model, with its parts, events, scores and rank, or a printed figure."""
    relations = [f"R{number + 1}" for number in range(board.relations)]
    folders = [_store_items(f"{board.slug}-{n}", scale, board.relations, ITEMS, chance) for n in range(RESULT_FILES)]
    runs = [
        _finished(scale, board, model, folders[number % RESULT_FILES], number)
        for number, model in enumerate(own)
        if model.source != Model.Source.PUBLISHED
    ]
    _insert(runs)
    _insert(_printed(board, model, float(chance.beta(4, 6))) for model in own if model.source == Model.Source.PUBLISHED)
    _insert(part for run in runs for part in _parts(run, relations, scale.templates, done=True))
    _insert(RunEvent(run=run, state=state) for run in runs for state in (Run.State.QUEUED, Run.State.FINISHED))
    skills = chance.beta(4, 6, len(runs))
    _insert(score for run, skill in zip(runs, skills, strict=True) for score in _scores(run, skill, scale, chance))
    overall = Score.objects.filter(run__in=runs, metric=METRIC, dimension="overall")
    _insert(_ranks(list(overall)))


def _finished(scale: Scale, board: Benchmark, model: Model, folder: str, number: int) -> Run:
    return Run(
        model=model,
        benchmark=board,
        settings=scale.settings.to_json(),
        settings_digest=scale.settings.digest,
        state=Run.State.FINISHED,
        artefact=folder,
        provenance_record={"model": {"id": model.hub_id, "commit": model.commit}, "device": "cpu", "dtype": "float32"},
        started=DAY + timedelta(minutes=number),
        finished=DAY + timedelta(minutes=number + 10),
    )


def _printed(board: Benchmark, model: Model, value: float) -> Printed:
    """Return a figure of a paper, in a row of its own."""
    paper = {"title": "A paper that does not exist", "authors": "Nobody", "year": 2026, "url": ""}
    about = {"metric": METRIC, "dimension": "overall", "part": "all", "value": value, "error": 0.01}
    row = board.pk * 10**6 + model.pk
    return Printed(row=row, model=model, benchmark=board, name=model.hub_id, source=paper, place="Table 1", **about)


def _parts(run: Run, relations: Sequence[str], templates: int, done: bool) -> Iterator[RunPart]:
    facts = {"items": ITEMS, "items_done": ITEMS if done else 0, "work": PART_WORK, "done": done}
    for relation, template in product(relations, range(templates)):
        yield RunPart(run=run, relation=relation, template=template, **facts)


def _scores(run: Run, skill: float, scale: Scale, chance: np.random.Generator) -> Iterator[Score]:
    relations = run.benchmark.relations
    items = float(ITEMS * scale.templates)
    groups = [("overall", "all", relations * items)]
    groups += [("domain", _domain(n), relations * items / DOMAINS) for n in range(min(DOMAINS, relations))]
    groups += [("relation", f"R{n + 1}", items) for n in range(relations)]
    groups += [("template", str(n), relations * float(ITEMS)) for n in range(scale.templates)]
    for dimension, group, n in groups:
        value = float(np.clip(skill + (0 if dimension == "overall" else chance.normal(0, 0.1)), 0, 1))
        low, high = wilson(value, n)
        yield Score(run=run, metric=METRIC, dimension=dimension, group=group, value=value, n=n, low=low, high=high)
    yield Score(run=run, metric=f"{METRIC}_sem", dimension="overall", group="all", value=0.01, n=float(scale.templates))


def _ranks(scores: Sequence[Score]) -> Iterator[RunRank]:
    """Yield the places that separate intervals allow; they are enough to measure pages with."""
    lows, highs = (np.array([getattr(score, end) for score in scores], dtype=float) for end in ("low", "high"))
    for score, low, high in zip(scores, lows, highs, strict=True):
        ahead, behind = int((lows > high).sum()), int((highs < low).sum())
        figures = {"value": score.value, "low": score.low, "high": score.high, "n": score.n, "counted": score.n}
        yield RunRank(
            run_id=score.run_id, metric=METRIC, **figures, best=1 + ahead, worst=len(scores) - behind, tie_group=1
        )


def _waiting_runs(scale: Scale, boards: Sequence[Benchmark], own: Sequence[Model]) -> None:
    """Insert runs that wait, each with another seed than the finished one of its model and benchmark."""
    choices = ((seed, board, model) for seed in range(1, scale.waiting + 1) for board, model in product(boards, own))
    runs = [
        _waiting(scale, *choice, submitter=f"{ORGANISATION}-{number % 50}")
        for number, choice in zip(range(scale.waiting), choices, strict=False)
    ]
    _insert(runs)
    names = [f"R{number + 1}" for number in range(RELATIONS[0])]
    _insert(part for run in runs for part in _parts(run, names[: run.benchmark.relations], scale.templates, done=False))
    _insert(RunEvent(run=run, state=run.state, message="Submitted.") for run in runs)


def _waiting(scale: Scale, seed: int, board: Benchmark, model: Model, submitter: str) -> Run:
    settings = Settings(templates=scale.settings.templates, seed=seed)
    return Run(
        model=model,
        benchmark=board,
        settings=settings.to_json(),
        settings_digest=settings.digest,
        state=Run.State.QUEUED,
        waiting_work=PART_WORK * board.relations * scale.templates,
        submitter=submitter,
    )


def _large_run(scale: Scale, model: Model) -> None:
    """Insert a run with many stored items, on a benchmark whose own files are not here."""
    items = max(1, scale.rows // (RELATIONS[1] * scale.templates))
    board = Benchmark.objects.create(
        slug=f"{ORGANISATION}-large",
        version="1",
        digest="0" * 64,
        title="Synthetic, large",
        format="bear",
        probe="multiple_choice",
        settings={"templates": scale.settings.templates},
        path="",
        relations=RELATIONS[1],
        items=RELATIONS[1] * items,
    )
    chance = np.random.default_rng(1)
    folder = _store_items(board.slug, scale, board.relations, items, chance)
    run = _finished(scale, board, model, folder, number=0)
    run.save()
    _insert(_scores(run, 0.4, scale, chance))
    RunEvent.objects.create(run=run, state=run.state)


def _store_items(name: str, scale: Scale, relations: int, items: int, chance: np.random.Generator) -> str:
    """Store the items of a run of a multiple-choice benchmark, and return their folder."""
    folder = f"runs/{name}"
    rows = _item_rows(scale.templates, relations, items, chance)
    files = {
        item_rows.FILE: rows.to_parquet(index=False, row_group_size=GROUP_ROWS),
        highlights.FILE: highlights.to_json(highlights.surest_errors(rows)).encode(),
    }
    for file, content in files.items():
        storages["artefacts"].delete(f"{folder}/{file}")
        storages["artefacts"].save(f"{folder}/{file}", ContentFile(content))
    return folder


def _item_rows(templates: int, relations: int, items: int, chance: np.random.Generator) -> pd.DataFrame:
    shape = (relations, templates, items)
    relation, template, index = (axis.ravel() for axis in np.indices(shape))
    answer = index % OPTIONS
    scores = chance.normal(-20, 2, (len(index), OPTIONS))
    scores[np.arange(len(index)), answer] += 2
    prediction = scores.argmax(axis=1)
    best = scores[np.arange(len(index)), answer]
    others = np.where(np.arange(OPTIONS) == answer[:, None], -np.inf, scores).max(axis=1)
    names = "R" + pd.Series(relation + 1).astype(str)
    subjects = "subject " + pd.Series(index).astype(str) + " of " + names
    chosen = "option " + pd.Series(prediction).astype(str)
    columns = {
        "relation": names,
        "template": template,
        "index": index,
        "subject": subjects,
        "subject_id": "",
        "answer": answer,
        "answers": list(answer[:, None]),
        "prediction": prediction,
        "correct": prediction == answer,
        "rank": (scores > best[:, None]).sum(axis=1) + 1,
        "margin": best - others,
        "scores": list(scores.astype("f4")),
        "exact": list(np.ones((len(index), OPTIONS), dtype=bool)),
        "answer_label": "option " + pd.Series(answer).astype(str),
        "prediction_label": chosen,
        "statement": subjects + " is known for " + chosen + ", wording " + pd.Series(template).astype(str) + ".",
        "domain": [[_domain(number)] for number in relation],
        "tokens": list(np.full((len(index), OPTIONS), 9)),
    }
    return pd.DataFrame(columns).astype({"rank": "Int64"})
