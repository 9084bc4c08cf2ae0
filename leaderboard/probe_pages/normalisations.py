"""Sections on normalisations: how accuracy and place of a run, and of all models, move if scores are normalised."""

from collections.abc import Mapping, Sequence
from operator import attrgetter
from typing import NamedTuple

from leaderboard.display import cells, charts, labels
from leaderboard.display.charts import Chart
from leaderboard.display.columns import interval_columns, model_column, score_points, settings_column, summary
from leaderboard.display.sections import Section
from leaderboard.display.tables import Column, Table
from leaderboard.lists.normalisations import normalised_scores, places, run_scores
from leaderboard.lists.runs import read_records
from leaderboard.models import Benchmark, Run, Score
from leaderboard.stored import item_rows
from probing.analysis.normalisations import CHANGED, NORMALISATION, OWN_RULE
from probing.errors import ProbingError
from probing.probes import probe_named, probe_of
from probing.settings import Settings

TITLE = "By normalisation"
NOTE = (
    "The same option scores, divided by the length of the text that is scored, or less what the text has with its "
    "subject hidden (PMI). Main figure and ranks stay those of the benchmark's own rule."
)
PLACES_NOTE = "Places are among the models that were measured here by the benchmark's own plan and have the figure."
DIFFERENCE_HELP = "The figure minus that of the run's own rule."
CHANGED_HELP = "The share of predictions that are other options than by the run's own rule."
MODELS_DRAWN = 30


class Normalised(NamedTuple):
    """A run under one normalisation; `own` marks the rule that the run used. `of`: how many runs have a place."""

    name: str
    own: bool
    score: Score
    difference: float | None
    changed: float | None
    place: int | None
    of: int


class ModelPlaces(NamedTuple):
    """A run with its scores and its places by normalisation."""

    run: Run
    scores: Mapping[str, Score]
    places: Mapping[str, int]


def run_section(run: Run, metric: str, title: str) -> Section | None:
    """Return the section of a finished run, None for one without scores and items; `title` is that of the metric."""
    rows = _run_rows(run, metric)
    if not (rows or run.artefact):
        return None
    caption = f"{title} by normalisation"
    points = score_points((row.name, row.score) for row in rows)
    chart = Chart(NORMALISATION, caption, summary(caption, points), charts.dots(points, title=labels.within(title)))
    table = Table(
        name=NORMALISATION,
        caption=caption,
        columns=_run_columns(title),
        rows=rows,
        empty="No normalisation was computed for this run.",
    )
    note = " ".join([NOTE, *_missing(run)])
    return Section(NORMALISATION, TITLE, table, chart if len(points) > 1 else None, note)


def _run_columns(title: str) -> list[Column[Normalised]]:
    return [
        Column("normalisation", "Normalisation", lambda row: cells.text(row.name), align="head"),
        Column("own", "This run's rule", lambda row: cells.yes_no(row.own)),
        Column("value", title, lambda row: cells.of_score(row.score), align="score"),
        *interval_columns(attrgetter("score")),
        Column("difference", "Difference", lambda row: cells.signed(row.difference), DIFFERENCE_HELP, align="number"),
        Column("changed", "Changed", lambda row: cells.number(row.changed), CHANGED_HELP, align="number"),
        Column("place", "Place", _place, PLACES_NOTE, align="number"),
        Column("of", "Of models", lambda row: cells.number(row.of), align="number", shown=False),
    ]


def _place(row: Normalised) -> cells.Cell:
    if row.place is None:
        return cells.number(None)
    return cells.Cell(row.place, f"{row.place} of {row.of}", kind="number")


def _run_rows(run: Run, metric: str) -> list[Normalised]:
    scores, among = run_scores(run, metric), normalised_scores(run.benchmark, metric)
    rule = _own_rule(Settings.from_json(run.settings))
    own = scores[rule][metric].value if rule in scores else None
    rows = []
    for name, by_metric in scores.items():
        value, others = by_metric[metric].value, among.get(name, {})
        difference = None if value is None or own is None else value - own
        changed = by_metric[CHANGED].value if CHANGED in by_metric else None
        place = places(others.values()).get(run.pk)
        rows.append(Normalised(name, name == rule, by_metric[metric], difference, changed, place, len(others)))
    return rows


def _own_rule(settings: Settings) -> str:
    """Return the normalisation by which a run with these settings ranks options."""
    return OWN_RULE[probe_named(settings.probe).fixed.get("reduction", settings.reduction)]


def _missing(run: Run) -> list[str]:
    """Return why some normalisations are not there; nothing where the rows of the run are not at hand."""
    settings = Settings.from_json(run.settings)
    try:
        return probe_of(settings).missing_alternatives(settings, item_rows.names(run))
    except ProbingError:
        return []


def benchmark_section(benchmark: Benchmark, metric: str, title: str) -> Section | None:
    """Return the places of all models under each normalisation; None where fewer than two models have any."""
    scores, rule = normalised_scores(benchmark, metric), _own_rule(benchmark.settings_with({}))
    if len(scores.get(rule, {})) < 2:
        return None
    by_rule = {name: places(by_run.values()) for name, by_run in scores.items()}
    rows = [
        ModelPlaces(
            score.run,
            {name: by_run[score.run_id] for name, by_run in scores.items() if score.run_id in by_run},
            {name: by_run[score.run_id] for name, by_run in by_rule.items() if score.run_id in by_run},
        )
        for score in scores[rule].values()
    ]
    rows.sort(key=lambda row: (row.places[rule], row.run.name))
    table = Table(
        name=NORMALISATION,
        caption="Place by normalisation",
        columns=[
            model_column(attrgetter("run")),
            settings_column(attrgetter("run")),
            *(column for name in scores for column in _rule_columns(name, title)),
        ],
        rows=rows,
        page_size=MODELS_DRAWN,
        prepare=read_records,
    )
    return Section(NORMALISATION, TITLE, table, _places_chart(rows, rule), f"{NOTE} {PLACES_NOTE}")


def _rule_columns(name: str, title: str) -> list[Column[ModelPlaces]]:
    word = name.lower().replace(" ", "_")
    return [
        Column(
            f"{word}_place",
            f"Place, {name}",
            lambda row: cells.number(row.places.get(name)),
            PLACES_NOTE,
            align="number",
        ),
        Column(word, f"{title}, {name}", lambda row: cells.of_score(row.scores.get(name)), align="score"),
    ]


def _places_chart(rows: Sequence[ModelPlaces], rule: str) -> Chart | None:
    """Return the order of the best models under each normalisation that all of them have, the own rule first."""
    charted = rows[:MODELS_DRAWN]
    rules = [name for name in rows[0].places if all(name in row.places for row in charted)]
    rules.sort(key=lambda name: name != rule)
    if len(rules) < 2:
        return None
    orders = {name: [row.run.name for row in sorted(charted, key=lambda row: row.places[name])] for name in rules}
    addresses = {row.run.name: row.run.get_absolute_url() for row in charted}
    moving = sum(len({orders[name].index(row.run.name) for name in rules}) > 1 for row in charted)
    words = f"{moving} of {len(charted)} models have another place under some normalisation than under the own rule."
    return Chart(NORMALISATION, "Order of the models by normalisation", words, charts.bumps(orders, addresses))
