"""The front page's figures: benchmarks as columns, and a row for each model, in few queries.

The figure of a model is that of its newest run that was measured here with the usual settings, or else a published one.
A column has one metric, and it is about the same items in all of its rows: figures about other items are marked. Models
whose published figures are in other metrics, or that still wait to be measured, have rows as well.
"""

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import pandas as pd
from django.db.models import Q

from leaderboard.figures.board import FACTS, WEIGHTS, board, rows_of, usual, with_value
from leaderboard.figures.runs import ANY_VERSION, OPEN
from leaderboard.figures.scores import MAIN_DIMENSIONS, PARTS, Slice, baselines_of, main_part, parts_among
from leaderboard.figures.verdicts import level_with
from leaderboard.models import Benchmark, Printed, Run
from leaderboard.models.model import weights_in_words
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


def versions() -> dict[str, list[Benchmark]]:
    """Map each slug to the versions that pages show: the current one, and that of figures about other items. One query.

    A benchmark whose only figures are such comes with that version alone. All are asked by the main probe.
    """
    rows = Benchmark.objects.filter(Q(current=True) | Q(version=ANY_VERSION), main=True).order_by("-current", "pk")
    by_slug: dict[str, list[Benchmark]] = {}
    for row in rows:
        by_slug.setdefault(row.slug, []).append(row)
    return by_slug


def parts_by_slug(benchmarks: Mapping[str, Sequence[Benchmark]], metrics: Collection[str]) -> dict[str, list[Slice]]:
    """Map benchmarks to the parts in which any run has a score, of the kind that measured runs have.

    Published figures on some of the same items may be about parts of another kind.
    """
    slugs = {version.pk: slug for slug, of_slug in benchmarks.items() for version in of_slug}
    scores = board(slugs, metrics, PARTS)
    parts: dict[str, list[Slice]] = {}
    for slug, own in scores.groupby(scores["benchmark"].map(slugs)):
        measured = own[own["is_measured"].astype(bool)]
        kind = main_part(_slices(own if measured.empty else measured)).dimension
        parts[str(slug)] = parts_among(part for part in _slices(own) if part.dimension == kind)
    return parts


def _slices(scores: pd.DataFrame) -> set[Slice]:
    return {Slice(*part) for part in scores[["dimension", "group"]].itertuples(index=False, name=None)}


@dataclass(eq=False)
class Column:
    """A benchmark as a column: what it is to show, and what `read` finds.

    `versions`: those that figures may be about, the current one first. `metrics`: the first of them that any model has
    is shown. `part`: the group of items that the figures are about. `narrowed_by`: options of a run that choose such a
    group, so that a run with them is still comparable.

    `version` is the one that the column is about, and `references` has what is reached there without a model or by
    people.
    `published`: the published figures of models whose figure was measured. `waiting`: models with an open run and no
    figure. `apart`: those whose published figures cannot stand in the column, as they are in other metrics, about other
    settings, or about another group of items.
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
    waiting: Mapping[Key, Row] = field(default_factory=dict)
    apart: Mapping[Key, Row] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.version = self.versions[0]
        self.slug = self.version.slug

    @property
    def models(self) -> list[Key]:
        """All models that it has anything of."""
        return [*self.figures, *self.waiting, *self.apart]

    def is_about_other_items(self, figure: Figure) -> bool:
        """Tell whether a figure is about other items than the rest of the column."""
        return bool(figure.benchmark != self.version.pk)

    def comparable(self) -> dict[Key, Figure]:
        """Return the figures about the items of this column."""
        return {key: figure for key, figure in self.figures.items() if not self.is_about_other_items(figure)}

    def best(self) -> set[int]:
        """Return the runs whose figures cannot be told from the highest one; none where more is not always better.

        None either where only one model has a figure, or where nothing says how sure the highest is.
        """
        figures = list(self.comparable().values())
        if len(figures) < 2 or not all(0 <= figure.value <= 1 for figure in figures):
            return set()
        return level_with(max(figures, key=lambda figure: figure.value), figures)


def read(columns: Sequence[Column]) -> list[Column]:
    """Fill columns, and return those that have a figure or wait for one. Two queries beside those of the board."""
    numbers = [version.pk for column in columns for version in column.versions]
    scores = board(numbers, {metric for column in columns for metric in column.metrics}, MAIN_DIMENSIONS)
    printed, people = _printed()
    waiting = _open_runs()
    for column in columns:
        is_of_part = (scores["dimension"] == column.part.dimension) & (scores["group"] == column.part.group)
        own = usual(with_value(scores[is_of_part & scores["metric"].isin(column.metrics)]), column.narrowed_by)
        _fill(column, [row for version in column.versions for row in rows_of(own[own["benchmark"] == version.pk])])
        column.references = _references(column, people)
        column.waiting = _without_figure(waiting.get(column.slug, {}), column)
        column.apart = _without_figure(printed.get(column.slug, {}), column, column.waiting)
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
        key = (figure.hub_id, figure.weights)
        if key not in one_each or preference(figure) < preference(one_each[key]):
            one_each[key] = figure
    return one_each


def _printed() -> tuple[dict[str, dict[Key, Row]], dict[tuple[int, str, Slice], float]]:
    """Map slugs to the models of which figures are printed there, and benchmarks to what people reach. One query.

    What people reach is known by the benchmark's number, the metric and the part of the items.
    """
    mentions: dict[str, dict[Key, Row]] = {}
    people: dict[tuple[int, str, Slice], float] = {}
    for figure in Printed.objects.filter(benchmark__main=True).select_related("model", "benchmark").order_by("pk"):
        model, part = figure.model, Slice(figure.dimension, figure.part)
        if not figure.baseline:
            facts = {name: getattr(model, name) for name in FACTS}
            mentions.setdefault(figure.benchmark.slug, {})[model.hub_id, model.weights_in_words] = facts
        elif figure.name == HUMAN:
            people[figure.benchmark_id, figure.metric, part] = figure.value
    return mentions, people


def _open_runs() -> dict[str, dict[Key, Row]]:
    """Map slugs to the models that have an open run there, each with its newest one. One query."""
    names = ("benchmark__slug", "pk", "state", *(f"model__{name}" for name in (*FACTS, "hub_id", *WEIGHTS)))
    runs = Run.objects.filter(state__in=OPEN, benchmark__main=True)
    mentions: dict[str, dict[Key, Row]] = {}
    for slug, pk, state, *own, hub_id, quantisation, adapter, file, source in runs.order_by("pk").values_list(*names):
        key = (hub_id, weights_in_words(quantisation, adapter, file, source))
        mentions.setdefault(slug, {})[key] = {"run": pk, "state": state, **dict(zip(FACTS, own, strict=True))}
    return mentions


def _without_figure(mentions: Mapping[Key, Row], column: Column, others: Collection[Key] = ()) -> dict[Key, Row]:
    return {key: facts for key, facts in mentions.items() if key not in column.figures and key not in others}


# The rows: a model with its figures by the slug of the benchmark.


def model_rows(columns: Sequence[Column]) -> list[Row]:
    """Return a row for each model of any of the columns, those with the most figures first."""
    keys = dict.fromkeys(key for column in columns for key in column.models)
    short_names = Counter(hub_id.rpartition("/")[2] for hub_id in {hub_id for hub_id, _ in keys})
    rows = [{**_row(key, columns), **_name(key[0], short_names)} for key in keys]
    return sorted(rows, key=lambda row: _order(row, columns))


def _row(key: Key, columns: Sequence[Column]) -> Row:
    """Return a model's row; facts about the model come from runs measured here, if there are any."""
    hub_id, weights = key
    figures = {column.slug: column.figures[key] for column in columns if key in column.figures}
    preferred = sorted(figures.values(), key=lambda figure: PREFERENCE.index(figure.provenance))
    mentions = [own[key] for column in columns for own in (column.waiting, column.apart) if key in own]
    facts = [figure._asdict() for figure in preferred] + mentions
    return {
        "key": key,
        "hub_id": hub_id,
        "model": f"{hub_id} ({weights})" if weights else hub_id,
        **{name: next((source[name] for source in facts if source[name]), facts[0][name]) for name in FACTS},
        "coverage": len(figures),
        "measured": sum(figure.is_measured for figure in preferred),
        "apart": {column.slug for column in columns if key in column.apart},
        "figures": figures,
    }


def _name(hub_id: str, short_names: Mapping[str, int]) -> Row:
    """Return the owner of a model, and its name, which has the owner in it where models of others share it."""
    owner, slash, name = hub_id.rpartition("/")
    return {"owner": owner + slash, "name": name} if short_names[name] == 1 else {"owner": "", "name": hub_id}


def _order(row: Row, columns: Sequence[Column]) -> tuple[int, int, list[float], Key]:
    figures = (row["figures"].get(column.slug) for column in columns)
    return (-row["coverage"], -row["measured"], [-figure.value if figure else 0.0 for figure in figures], row["key"])
