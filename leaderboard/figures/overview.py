"""The front page's figures: benchmarks as columns, and a row for each model, in few queries.

The figure of a model is that of its newest run that was measured here with the usual settings, or else a published one.
A column has one metric, and it is about the same items in all of its rows: figures about other items are marked. Models
whose published figures are in other metrics, or that still wait to be measured, have rows as well.
"""

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import pandas as pd
from django.db.models import Q

from leaderboard.figures.board import FACTS, board, listed_models, rows_of, with_value
from leaderboard.figures.runs import ANY_VERSION, OPEN
from leaderboard.figures.scores import MAIN_DIMENSIONS, PARTS, Slice, baselines_of, main_part, parts_among
from leaderboard.figures.verdicts import level_with
from leaderboard.models import Benchmark, Printed, Run
from leaderboard.models.printed import PUBLISHED
from probing.analysis.accuracy import CHANCE, MAJORITY

MEASURED, ELSEWHERE = Run.Provenance.MEASURED.value, Run.Provenance.ELSEWHERE.value
# Whose figure a model has on a benchmark, where several have one.
PREFERENCE = (MEASURED, ELSEWHERE, PUBLISHED)
REFERENCES = {"chance": CHANCE, "commonest": MAJORITY}  # what is reached without a model, as benchmarks state it
HUMAN = "Human"  # as sources name what annotators reach

Key = tuple[str, str]  # a model's id, and what sets its weights apart from those of the hub
Figure = Any  # a row of the board
Row = dict[str, Any]
Mention = tuple[Key, Any]  # a model with what lists say of it
OpenRun = tuple[int, str]  # its number and its state


def versions() -> dict[str, list[Benchmark]]:
    """Map each slug to the versions that pages show: the current one, and that of figures about other items. One query.

    A benchmark whose only figures are such comes with that version alone. All are asked by the main probe.
    """
    rows = Benchmark.objects.filter(Q(current=True) | Q(version=ANY_VERSION), main=True).order_by("-current", "pk")
    by_slug: dict[str, list[Benchmark]] = {}
    for row in rows:
        by_slug.setdefault(row.slug, []).append(row)
    return by_slug


def figures_on(benchmarks: Mapping[str, Sequence[Benchmark]], metrics: Collection[str]) -> pd.DataFrame:
    """Return the figures on all versions of benchmarks, of all items and of parts."""
    numbers = [version.pk for of_slug in benchmarks.values() for version in of_slug]
    return with_value(board(numbers, metrics, MAIN_DIMENSIONS))


def parts_by_slug(benchmarks: Mapping[str, Sequence[Benchmark]], figures: pd.DataFrame) -> dict[str, list[Slice]]:
    """Map benchmarks to the parts in which any run has a score, of the kind that measured runs have.

    Published figures on some of the same items may be about parts of another kind.
    """
    slugs = {version.pk: slug for slug, of_slug in benchmarks.items() for version in of_slug}
    of_parts = figures[figures["dimension"].isin(PARTS)]
    parts: dict[str, list[Slice]] = {}
    for slug, own in of_parts.groupby(of_parts["benchmark"].map(slugs)):
        measured = own[own["is_measured"]]
        kind = main_part(_slices(own if measured.empty else measured)).dimension
        parts[str(slug)] = parts_among(part for part in _slices(own) if part.dimension == kind)
    return parts


def _slices(scores: pd.DataFrame) -> set[Slice]:
    return {Slice(*part) for part in scores[["dimension", "group"]].itertuples(index=False, name=None)}


def key_of(row: Any) -> Key:
    """Return what a figure, a run or a model of lists has in common with the others of its row."""
    return row.hub_id, row.weights


@dataclass(eq=False)
class Column:
    """A benchmark as a column: what it is to show, and what `read` finds.

    `versions`: those that figures may be about, the current one first. `metrics`: the first of them that any model has
    is shown. `part`: the group of items that the figures are about. `narrowed_by`: options of a run that choose such a
    group, so that a run with them is still comparable.

    `version` is the one that the column is about, and `references` has what is reached there without a model or by
    people.
    `published`: the published figures of models whose figure was measured. `others`: what lists say of models without
    a figure. `waiting`: the newest open runs of these, and their states; the rest have published figures that cannot
    stand in the column, as they are in other metrics, about other settings, or about another group of items.
    """

    versions: Sequence[Benchmark]
    title: str
    topic: str
    metrics: Sequence[str]
    part: Slice
    narrowed_by: Collection[str] = ()
    metric: str = ""
    figures: Mapping[Key, Figure] = field(default_factory=dict)
    references: Mapping[str, float] = field(default_factory=dict)
    published: Mapping[Key, Figure] = field(default_factory=dict)
    others: Mapping[Key, Any] = field(default_factory=dict)
    waiting: Mapping[Key, OpenRun] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.version = self.versions[0]
        self.slug = self.version.slug

    @property
    def models(self) -> list[Key]:
        """All models that it has anything of."""
        return [*self.figures, *self.others]

    def is_apart(self, key: Key) -> bool:
        """Tell whether all that a model has are published figures that cannot stand in the column."""
        return key in self.others and key not in self.waiting

    def may_show(self, figure: Figure) -> bool:
        """Tell whether a figure is in one of the metrics, and of a run with the usual settings."""
        return figure.metric in self.metrics and all(name in self.narrowed_by for name, _ in figure.settings)

    def is_about_other_items(self, figure: Figure) -> bool:
        """Tell whether a figure is about other items than the rest of the column."""
        return bool(figure.benchmark != self.version.pk)

    @cached_property
    def comparable(self) -> dict[Key, Figure]:
        """The figures about the items of this column, once it is filled."""
        return {key: figure for key, figure in self.figures.items() if not self.is_about_other_items(figure)}

    def best_of(self, keys: Iterable[Key]) -> set[int]:
        """Return the runs of those models whose figures cannot be told from the highest one of the column.

        There are none where more is not always better, where only one model has a figure, or where nothing says how
        sure the highest is.
        """
        figures = list(self.comparable.values())
        if len(figures) < 2 or not all(0 <= figure.value <= 1 for figure in figures):
            return set()
        highest = max(figures, key=lambda figure: figure.value)
        return level_with(highest, [self.comparable[key] for key in keys if key in self.comparable])


def read(columns: Sequence[Column], figures: pd.DataFrame) -> list[Column]:
    """Fill columns with figures, and return those that have one or wait for one. Four queries."""
    (printed, waiting), people = _mentions(), _people()
    by_part: dict[tuple[int, str, str], list[Figure]] = {}
    for figure in rows_of(figures):
        by_part.setdefault((figure.benchmark, figure.dimension, figure.group), []).append(figure)
    for column in columns:
        of_part = [figure for version in column.versions for figure in by_part.get((version.pk, *column.part), ())]
        _fill(column, [figure for figure in of_part if column.may_show(figure)])
        column.references = _references(column, people)
        of_runs = [(key, model, run) for (key, model), run in waiting.get(column.slug, ()) if key not in column.figures]
        of_figures = [(key, model) for key, model in printed.get(column.slug, ()) if key not in column.figures]
        column.others = {key: model for key, model, _ in of_runs} | dict(of_figures)
        column.waiting = {key: run for key, _, run in of_runs}
    return [column for column in columns if column.models]


def _fill(column: Column, figures: Sequence[Figure]) -> None:
    """Show the first of the metrics that a model has, about the first version in which one has it."""
    column.metric = next((name for name in column.metrics if any(figure.metric == name for figure in figures)), "")
    shown = [figure for figure in figures if figure.metric == column.metric]
    if not shown:
        return
    with_figures = {figure.benchmark for figure in shown}
    column.version = next(version for version in column.versions if version.pk in with_figures)
    column.figures = _one_each(column, shown)
    of_papers = _one_each(column, [figure for figure in shown if figure.provenance == PUBLISHED])
    column.published = {key: figure for key, figure in of_papers.items() if column.figures[key] is not figure}


def _references(column: Column, people: Mapping[tuple[int, str, Slice], float]) -> dict[str, float]:
    """Return what is reached without a model on the items of a column, and what people reach."""
    stated = baselines_of(column.version, column.part)
    baselines = {name: stated[key] for name, key in REFERENCES.items() if key in stated}
    versions = [column.version, *column.versions]
    keys = [(version.pk, column.metric, column.part) for version in versions]
    human = next(({"human": people[key]} for key in keys if key in people), {})
    return {**(baselines if column.metric == column.version.main_metric else {}), **human}


def _one_each(column: Column, figures: Iterable[Figure]) -> dict[Key, Figure]:
    """Map each model to its figure: measured before published, about these items before others, the newest run."""

    def preference(figure: Figure) -> tuple[int, bool, int]:
        about_others = column.is_about_other_items(figure)
        return (PREFERENCE.index(figure.provenance), about_others, -abs(figure.run))

    one_each: dict[Key, Figure] = {}
    for figure in figures:
        key = key_of(figure)
        if key not in one_each or preference(figure) < preference(one_each[key]):
            one_each[key] = figure
    return one_each


def _mentions() -> tuple[dict[str, list[Mention]], dict[str, list[tuple[Mention, OpenRun]]]]:
    """Map slugs to the models of which figures are printed there, and to those with open runs there, the oldest first.

    Three queries, of which that of the models comes last, so that none is missing which was added since.
    """
    figures = Printed.objects.filter(benchmark__main=True, baseline=False).order_by("pk")
    runs = Run.objects.filter(state__in=OPEN, benchmark__main=True).order_by("pk")
    of_figures = list(figures.values_list("benchmark__slug", "model"))
    of_runs = list(runs.values_list("benchmark__slug", "model", "pk", "state"))
    models = {model.model: (key_of(model), model) for model in rows_of(listed_models())}
    printed: dict[str, list[Mention]] = {}
    for slug, model in of_figures:
        printed.setdefault(slug, []).append(models[model])
    waiting: dict[str, list[tuple[Mention, OpenRun]]] = {}
    for slug, model, pk, state in of_runs:
        waiting.setdefault(slug, []).append((models[model], (pk, state)))
    return printed, waiting


def _people() -> dict[tuple[int, str, Slice], float]:
    """Return what people reach, by the number of the benchmark, the metric and the part of the items. One query."""
    figures = Printed.objects.filter(baseline=True, name=HUMAN)
    rows = figures.values_list("benchmark", "metric", "dimension", "part", "value")
    return {(benchmark, metric, Slice(*part)): value for benchmark, metric, *part, value in rows}


# The rows: a model with its figures by the slug of the benchmark.


def model_rows(columns: Sequence[Column]) -> list[Row]:
    """Return a row for each model of any of the columns, those with the most figures first."""
    keys = dict.fromkeys(key for column in columns for key in column.models)
    short_names = Counter(hub_id.rpartition("/")[2] for hub_id in {hub_id for hub_id, _ in keys})
    rows = [{**_row(key, columns), **_name(key[0], short_names)} for key in keys]
    return sorted(rows, key=lambda row: _order(row, columns))


def _row(key: Key, columns: Sequence[Column]) -> Row:
    """Return a model's row; facts about the model come from runs measured here, if there are any.

    `provenances`: whether it has figures that were measured here, and whether it has published ones.
    """
    hub_id, weights = key
    figures = {column.slug: column.figures[key] for column in columns if key in column.figures}
    preferred = sorted(figures.values(), key=lambda figure: PREFERENCE.index(figure.provenance))
    apart = {column.slug for column in columns if column.is_apart(key)}
    provenances = {MEASURED if figure.is_measured else PUBLISHED for figure in preferred}
    if apart:
        provenances.add(PUBLISHED)
    facts = [*preferred, *(column.others[key] for column in columns if key in column.others)]
    return {
        "key": key,
        "hub_id": hub_id,
        "model": f"{hub_id} ({weights})" if weights else hub_id,
        **{name: next(filter(None, (getattr(one, name) for one in facts)), getattr(facts[0], name)) for name in FACTS},
        "coverage": len(figures),
        "measured": sum(figure.is_measured for figure in preferred),
        "provenances": provenances,
        "apart": apart,
        "figures": figures,
    }


def _name(hub_id: str, short_names: Mapping[str, int]) -> Row:
    """Return the owner of a model, and its name, which has the owner in it where models of others share it."""
    owner, slash, name = hub_id.rpartition("/")
    return {"owner": owner + slash, "name": name} if short_names[name] == 1 else {"owner": "", "name": hub_id}


def _order(row: Row, columns: Sequence[Column]) -> tuple[int, int, list[float], Key]:
    figures = (row["figures"].get(column.slug) for column in columns)
    return (-row["coverage"], -row["measured"], [-figure.value if figure else 0.0 for figure in figures], row["key"])
