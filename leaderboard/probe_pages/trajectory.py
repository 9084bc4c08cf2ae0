"""What a reader chose to see of a model's training, read from a query string, and the sections that show it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from django.http import QueryDict

from leaderboard.display import labels
from leaderboard.display.links import link
from leaderboard.display.sections import Section
from leaderboard.lists.item_changes import ChangeShare, item_changes, overall_shares
from leaderboard.lists.model_profile import chance_levels
from leaderboard.lists.scores import Group
from leaderboard.lists.trajectories import Series, StepScore, Trajectories, dimensions_of, read_series
from leaderboard.models import Benchmark, Run
from leaderboard.probe_pages import pages_of
from leaderboard.probe_pages.breakdowns import group_names
from leaderboard.probe_pages.pages import ProbePages
from leaderboard.probe_pages.questions_in_words import read_relations
from leaderboard.probe_pages.trajectory_items import ChangedItem, items_table, shares_table
from leaderboard.probe_pages.trajectory_sections import (
    Curve,
    Look,
    curve_names,
    curves_section,
    differences_section,
    score_section,
)
from leaderboard.probe_pages.trajectory_tables import group_rows, groups_table
from leaderboard.probe_pages.trajectory_words import changes_in_words
from probing.analysis.trajectories import Changes
from probing.errors import BadInput, ProbingError

CHANGED = ("learned", "forgotten")  # the items that are listed unless a reader chooses one change
CHANGE_COLUMNS = ["relation", "index", "before", "after", "change"]
DOMAIN = "domain"  # the breakdown that is shown unless a reader chooses another


class NoSeries(BadInput):
    """The model was not measured at several steps of its training."""


@dataclass(frozen=True)
class Training:
    """Series of one benchmark in one choice of settings, with their scores.

    `all_series`: those of the model on every benchmark. `curves`: those of the model here, the main one first.
    `others`: those of a second model. `dimension`: that of the breakdown of the main series into `groups`, empty
    without one. `error` says which choice of the reader was left out, and why.
    """

    hub_id: str
    all_series: Sequence[Series]
    curves: Sequence[Curve]
    others: Sequence[Curve]
    dimensions: Sequence[str]
    dimension: str
    groups: Mapping[str, Sequence[StepScore]]
    look: Look
    error: ProbingError | None = None

    @property
    def main(self) -> Curve:
        return self.curves[0]

    @property
    def benchmark(self) -> Benchmark:
        return self.main.series.benchmark

    @property
    def pages(self) -> ProbePages:
        return pages_of(self.benchmark)

    @property
    def metric(self) -> str:
        """The title of the metric of all curves."""
        return self.pages.metric_label(self.benchmark.main_metric)

    @property
    def runs(self) -> list[Run]:
        """The runs of the model between which its answers are compared."""
        return [run for curve in self.curves for run in curve.series.runs]

    @property
    def settings_groups(self) -> list[str]:
        """The settings, in words, in which the model has series on the benchmark; empty for the usual ones."""
        return list(dict.fromkeys(part.settings_group for part in self.all_series if part.benchmark == self.benchmark))


def read_training(hub_id: str, query: QueryDict) -> Training:
    """Return what a query string asks for; raise `NoSeries` where the model has no two steps to show. Four queries."""
    all_series = read_series([hub_id])
    if not all_series:
        raise NoSeries(
            f"{hub_id} has no results at two different steps of its training that were measured in the same way.",
            f"The page of the model, /models/{hub_id}/, has all of its runs.",
        )
    own = _chosen(all_series, query)
    others, error = _second(query.get("with", ""), own[0])
    series, benchmark = [*own, *others], own[0].benchmark
    dimensions = dimensions_of(own[0].last, benchmark.main_metric, pages_of(benchmark).hidden_dimensions)
    dimension = next((name for name in (query.get("by"), DOMAIN, *dimensions) if name in dimensions), "") or ""
    scores = Trajectories(series, benchmark.main_metric, dimension)
    curves = [Curve(name, of, scores.overall(of)) for name, of in zip(curve_names(series), series, strict=True)]
    mine, theirs = curves[: len(own)], curves[len(own) :]
    groups = scores.groups(own[0])
    return Training(hub_id, all_series, mine, theirs, dimensions, dimension, groups, _look(query, series), error)


def _chosen(all_series: Sequence[Series], query: QueryDict) -> list[Series]:
    """Return the series of the chosen benchmark in the chosen settings, or of the first ones that there are."""
    on_slug = [part for part in all_series if part.benchmark.name == query.get("benchmark")] or all_series
    on_version = [part for part in on_slug if part.benchmark == on_slug[0].benchmark]
    groups = [part.settings_group for part in on_version]
    group = query.get("settings", "")
    group = group if group in groups else groups[0]
    return [part for part in on_version if part.settings_group == group]


def _second(hub_id: str, main: Series) -> tuple[list[Series], ProbingError | None]:
    """Return the series of a second model in the settings of the main one, or why there are none."""
    if not hub_id:
        return [], None
    if hub_id == main.model.hub_id:
        return [], BadInput(f"{hub_id} is the model of this page.", "Choose another model.")
    series = [part for part in read_series([hub_id], main.benchmark) if part.settings_group == main.settings_group]
    if series:
        return series, None
    return [], BadInput(
        f"{hub_id!r:.200} has no results at several steps on {main.benchmark.title} with these settings.",
        "Choose a model from the list.",
    )


def _look(query: QueryDict, series: Sequence[Series]) -> Look:
    over_tokens = query.get("x") == "tokens" and all(part.has_tokens for part in series)
    return Look(over_tokens, query.get("scale") == "log", query.get("relative") == "1")


def trajectory_sections(training: Training) -> list[Section]:
    """Return the sections with curves: of all scores, of the groups, and of the differences from a second model."""
    chance = chance_levels({training.benchmark.pk: training.benchmark}).get(training.benchmark.pk)
    sections = [score_section([*training.curves, *training.others], training.metric, training.look, chance)]
    if training.others:
        sections.append(differences_section(training.main, training.others[0]))
    return [*sections, *_group_sections(training)]


def _group_sections(training: Training) -> list[Section]:
    """Return the section with the curves of the groups, and that with the changes from the first to the last step."""
    last = training.main.series.last
    groups = [Group(name, {}, None) for name in training.groups]
    titles = group_names(last, training.dimension, groups)
    rows = group_rows(training.groups, titles)
    if not rows:
        return []
    dimension = labels.dimension(training.dimension).lower()
    curves = curves_section(training.main, training.groups, rows, dimension, training.metric, training.look)
    table = groups_table(rows, dimension)
    return [curves, Section("groups", f"First and last step by {dimension}", table)]


@dataclass(frozen=True)
class ChangesBetween:
    """What became of the questions between two runs; `sections` are its numbers and the list of questions.

    `percent` is the later score in percent of the earlier one, with its paired interval, where that is not 0.
    """

    before: Run
    after: Run
    shares: Sequence[ChangeShare]
    percent: tuple[float, float, float] | None
    sections: Sequence[Section]

    @property
    def sentence(self) -> str:
        return changes_in_words(self.before, self.after, self.shares, self.percent)


def changes_between(training: Training, query: QueryDict) -> ChangesBetween:
    """Return what became of the questions between the chosen points, the first and the last ones by default.

    Two queries. Raises `BadInput` if a point is not one of the series, or if the two have no answers to compare.
    """
    before = _run(training, query.get("from", ""), training.main.series.runs[0])
    after = _run(training, query.get("to", ""), training.main.series.last)
    changes = item_changes(before, after)
    shares = overall_shares(changes)
    chosen = query.get("change", "")
    kinds = [chosen] if chosen in {row.change for row in shares} else list(CHANGED)
    numbers = shares_table(shares, lambda change: f"{link(query, change=change)}#section-items")
    listed = items_table(changed_items(training.benchmark, changes, kinds), training.benchmark, training.pages)
    percent = (changes.percent, changes.percent_low, changes.percent_high)
    sections = [
        Section("changes", "Learned and forgotten", numbers),
        Section("items", "Which questions changed" if kinds == list(CHANGED) else "Questions", listed),
    ]
    return ChangesBetween(before, after, shares, percent if changes.percent == changes.percent else None, sections)


def _run(training: Training, number: str, otherwise: Run) -> Run:
    if not number:
        return otherwise
    run = next((run for run in training.runs if str(run.pk) == number), None)
    if run is None:
        raise BadInput(f"Run {number[:20]!r} is not a point of this series.", "Choose a point from the list.")
    return run


def changed_items(benchmark: Benchmark, changes: Changes, kinds: Sequence[str]) -> list[ChangedItem]:
    """Return the items of the chosen kinds of change, with their questions where the benchmark's files are here."""
    items = changes.items[changes.items["change"].isin(kinds)]
    questions = {
        (relation.label, item.index): (relation, item)
        for relation in read_relations(benchmark)
        for item in relation.items
    }
    return [
        ChangedItem(relation, index, before, after, change, questions.get((relation, index)))
        for relation, index, before, after, change in items[CHANGE_COLUMNS].itertuples(index=False, name=None)
    ]
