"""Specificity: promptings side by side, the factors beside it, and what prompting changes (methods 2)."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any, NamedTuple

import numpy as np

from leaderboard.display import cells, charts, labels
from leaderboard.display.charts import Chart, Point
from leaderboard.display.sections import Section, Sections
from leaderboard.display.tables import Column, Table
from leaderboard.lists import queries
from leaderboard.models import Benchmark, Run, Score
from probing.statements.prompting import PROMPTINGS

MEAN = "all"
FACTORS = ("specificity", "naturalness", "relatedness")
CHANGE = "acc_at_10_fine_change"  # the paper prints no absolute figure
PROVENANCE = Run.Provenance

Figures = Mapping[tuple[str, str], Score]  # metric and group -> score


class Line(NamedTuple):
    """A relation, or the mean over relations, with a score per column."""

    group: str
    scores: Mapping[str, Score]


def of_run(run: Run) -> list[Section]:
    """The run beside others of its model, and its factors."""
    runs = _by_prompting(queries.runs_beside(run))
    figures = queries.figures(runs)
    return [by_prompting(runs, figures), by_factor(figures[run.pk])]


def of_benchmark(benchmark: Benchmark) -> list[Section]:
    """What prompting changes, and how alike models are."""
    runs = [run for run in queries.finished_runs(benchmark) if run.provenance != PROVENANCE.BASELINE]
    runs = _by_prompting(runs)
    figures = queries.figures(runs)
    return [section for section in (changes(runs, figures), alike(runs, figures)) if section]


def prompting(run: Run) -> str:
    """As published rows and as measured runs have it among their settings."""
    return str({**run.settings, **run.settings.get("options", {})}.get("prompting", "vanilla"))


def _by_prompting(runs: Sequence[Run]) -> list[Run]:
    order = list(PROMPTINGS)
    known = [run for run in runs if prompting(run) in order]
    return sorted(known, key=lambda run: (order.index(prompting(run)), run.provenance, run.pk))


def _label(run: Run) -> str:
    return ", ".join([_asked(run), *_published(run)])


def _asked(run: Run) -> str:
    """The prompting, and what else is not usual."""
    others = [f"{name} {value}" for name, value in run.differences.items() if name != "prompting"]
    return ", ".join([prompting(run), *others])


def _published(run: Run) -> list[str]:
    return ["published"] if run.provenance == PROVENANCE.PUBLISHED else []


def _told_apart(labels: Mapping[int, str]) -> dict[int, str]:
    """By run; the number is added where commits of a model would have the same label."""
    times = Counter(labels.values())
    return {pk: f"{label}, run {pk}" if times[label] > 1 else label for pk, label in labels.items()}


def _groups(found: Sequence[Figures], metric: str = FACTORS[0]) -> list[str]:
    """The relations in stored order, then their mean."""
    relations = dict.fromkeys(group for figures in found for name, group in figures if name == metric and group != MEAN)
    return [*relations, MEAN]


def by_prompting(runs: Sequence[Run], figures: Mapping[int, Figures]) -> Section:
    asked = {title: figures[pk] for pk, title in _told_apart({run.pk: _label(run) for run in runs}).items()}
    lines = [
        Line(group, {title: known[key] for title, known in asked.items() if (key := ("specificity", group)) in known})
        for group in _groups(list(asked.values()))
    ]
    return _section("promptings", "Specificity by prompting", {title: title for title in asked}, lines)


def by_factor(figures: Figures) -> Section:
    titles = {metric: labels.metric(metric) for metric in FACTORS if (metric, MEAN) in figures}
    lines = [
        Line(group, {metric: figures[metric, group] for metric in titles if (metric, group) in figures})
        for group in _groups([figures])
    ]
    note = "Naturalness: the same with the subject hidden. Relatedness: which answer is closer to the subject."
    return _section("factors", "Factors", titles, lines, note)


def _section(name: str, title: str, titles: Mapping[str, str], lines: Sequence[Line], note: str = "") -> Section:
    """A column and a series of dots for each of the titles."""
    columns = [Column("relation", "Relation", lambda line: cells.text(_name(line.group)), align="head")]
    for key, heading in titles.items():
        columns += _columns(key, heading)
    series = {
        heading: [_point(line.group, line.scores[key]) for line in lines if key in line.scores]
        for key, heading in titles.items()
    }
    table = Table(name=name, caption=title, columns=columns, rows=lines, sortable=False)
    summary = "; ".join(f"{heading}: {_mean(points)}" for heading, points in series.items())
    return Section(name, title, table, Chart(name, title, f"Means: {summary}.", charts.grouped(series, 0.5)), note)


def _columns(key: str, heading: str) -> list[Column[Line]]:
    def score(line: Line) -> Score | None:
        return line.scores.get(key)

    return [
        Column(key, heading, lambda line: cells.of_score(score(line)), align="score"),
        Column(
            f"{key}_low", "95 % low", lambda line: cells.bound(getattr(score(line), "low", None)), align="number bound"
        ),
        Column(
            f"{key}_high",
            "95 % high",
            lambda line: cells.bound(getattr(score(line), "high", None)),
            align="number bound",
        ),
        Column(f"{key}_n", "Pairs", lambda line: cells.items(getattr(score(line), "n", None)), align="number"),
    ]


def _name(group: str) -> str:
    return "mean" if group == MEAN else group


def _point(group: str, score: Score) -> Point:
    return Point(_name(group), np.nan if score.value is None else score.value, score.low, score.high)


def _mean(points: Sequence[Point]) -> str:
    value = next((point.value for point in points if point.label == "mean"), np.nan)
    return "not measured" if np.isnan(value) else f"{value:.3f}"


@dataclass(frozen=True)
class Change:
    """A prompting against vanilla prompting of the same model."""

    run: Run
    specificity: float
    accuracy: float | None


def changes(runs: Sequence[Run], figures: Mapping[int, Figures]) -> Section | None:
    """Change of Acc@10 of the fine answer against change of specificity (the paper's Table 8)."""
    vanilla = {_source(run): figures[run.pk] for run in runs if prompting(run) == "vanilla"}
    others = [run for run in runs if prompting(run) != "vanilla" and _source(run) in vanilla]
    found = [change for run in others if (change := _change(run, figures[run.pk], vanilla[_source(run)]))]
    if not found:
        return None
    title = "What prompting changes"
    columns = [
        Column("model", "Model", lambda c: cells.text(c.run.model.hub_id, href=c.run.get_absolute_url()), align="head"),
        Column("prompting", "Prompting", lambda c: cells.text(_asked(c.run))),
        Column("specificity", "Specificity", lambda c: cells.signed(c.specificity), align="number"),
        Column("accuracy", "Acc@10, fine answer", lambda c: _signed(c.accuracy), align="number"),
        Column("provenance", "Source", lambda c: cells.text(c.run.get_provenance_display())),
    ]
    table = Table(name="changes", caption="Change against vanilla prompting", columns=columns, rows=found)
    points = [_cross(change) for change in found if change.accuracy is not None]
    better = sum(change.specificity > 0 for change in found)
    summary = f"Specificity rises in {better} of {len(found)} cases."
    figure = charts.changes(points, "change of specificity", "change of Acc@10, fine answer")
    return Section("changes", title, table, Chart("changes", title, summary, figure))


def _source(run: Run) -> tuple[Any, ...]:
    """What two runs must share for their promptings to be compared."""
    others = {name: value for name, value in run.differences.items() if name not in ("prompting", "shots")}
    return run.model_id, run.provenance, *sorted(others.items())


def _change(run: Run, own: Figures, vanilla: Figures) -> Change | None:
    specificity = _difference(own, vanilla, "specificity")
    if specificity is None:
        return None
    printed = own.get((CHANGE, MEAN))
    return Change(run, specificity, printed.value if printed else _difference(own, vanilla, "acc_at_10_fine"))


def _difference(own: Figures, vanilla: Figures, metric: str) -> float | None:
    one, other = (figures.get((metric, MEAN)) for figures in (own, vanilla))
    if not one or not other or one.value is None or other.value is None:
        return None
    return one.value - other.value


def _cross(change: Change) -> Point:
    group = ", ".join([prompting(change.run), *_published(change.run)])
    return Point(change.run.name, change.accuracy or 0.0, x=change.specificity, group=group)


def _signed(value: float | None) -> cells.Cell:
    return cells.number(None) if value is None else cells.signed(value)


def alike(runs: Sequence[Run], figures: Mapping[int, Figures]) -> Section | None:
    """Pearson correlation of each two models' specificity over relations, under vanilla prompting."""
    rows = {run: _profile(figures[run.pk]) for run in runs if prompting(run) == "vanilla"}
    groups = list(dict.fromkeys(group for profile in rows.values() for group in profile))
    whole = [run for run, profile in rows.items() if _correlates(profile, len(groups))]
    if len(whole) < 2:
        return None
    matrix = np.corrcoef([[rows[run][group] for group in groups] for run in whole])
    mean = np.mean([matrix[pair] for pair in combinations(range(len(whole)), 2)])
    mixed = len({run.provenance for run in whole}) > 1
    labels = {run.pk: ", ".join([run.name, *(_published(run) if mixed else [])]) for run in whole}
    names = list(_told_apart(labels).values())
    short = [name.rpartition("/")[-1] for name in names]
    title = "How alike models are"
    columns = [Column("model", "Model", lambda row: cells.text(names[row]), align="head")]
    columns += [
        Column(name, name, lambda row, place=place: cells.number(float(matrix[row, place])), align="number")
        for place, name in enumerate(names)
    ]
    caption = "Correlation of specificity over relations, vanilla prompting"
    table = Table(name="alike", caption=caption, columns=columns, rows=list(range(len(names))), sortable=False)
    summary = f"{len(names)} models, mean pairwise correlation {mean:.3f}."
    return Section("alike", title, table, Chart("alike", title, summary, charts.heatmap(short, matrix.tolist())))


def _correlates(profile: Mapping[str, float], groups: int) -> bool:
    """Known on all of several relations, and not the same on all."""
    return len(profile) == groups > 2 and len(set(profile.values())) > 1


def _profile(figures: Figures) -> dict[str, float]:
    return {
        group: score.value
        for (metric, group), score in figures.items()
        if metric == "specificity" and group != MEAN and score.value is not None
    }


SECTIONS = Sections(of_run, of_benchmark)
