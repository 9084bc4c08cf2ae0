"""The pages of multiple choice: a benchmark's domains, with a dot for each model."""

from collections.abc import Mapping, Sequence
from statistics import median
from typing import Any

from django.http import QueryDict

from leaderboard.figures.board import board, figure_url, rows_of, usual, with_value
from leaderboard.figures.scores import DOMAIN, MOST_DOTS
from leaderboard.models import Benchmark
from leaderboard.models.printed import PUBLISHED
from leaderboard.probes.culture.pairs import PairInLanguage
from leaderboard.probes.probe_pages import Parts, ProbePages, parts
from leaderboard.probes.wording import group_title
from leaderboard.tables import Row
from leaderboard.ui import charts, labels
from leaderboard.ui.charts.basics import Chart
from leaderboard.ui.charts.dot_plots import ModelDot
from probing.analysis.accuracy import CHANCE

DOMAINS = ("group", "median", "lowest", "highest", "best", "chance")


def benchmark_parts(benchmark: Benchmark, query: QueryDict, pair: PairInLanguage | None) -> Parts:
    by_domain = usual(with_value(board([benchmark.pk], [benchmark.main_metric, CHANCE], (DOMAIN,))))
    figures = rows_of(by_domain[by_domain["metric"] == benchmark.main_metric])
    chance = by_domain[by_domain["metric"] == CHANCE]
    models = drawn_models(figures)
    rows = domains(figures, models, dict(zip(chance["group"], chance["value"], strict=True)))
    columns = [*DOMAINS, *(f"run_{run}" for run in sorted(models))]
    drawn = [_chart(rows, len(models))] if rows else []
    return parts(query, {"domains": (columns, rows)}, drawn, are_some=len(models) < len(_by_model(figures)))


def _by_model(figures: Sequence[Any]) -> dict[int, float]:
    """Map runs to their means over domains."""
    values: dict[int, list[float]] = {}
    for figure in figures:
        values.setdefault(figure.run, []).append(figure.value)
    return {run: sum(of_run) / len(of_run) for run, of_run in values.items()}


def drawn_models(figures: Sequence[Any]) -> list[int]:
    """Return the runs that have dots: all of a few, or some from the best to the worst in even steps."""
    means = _by_model(figures)
    runs = sorted(means, key=lambda run: -means[run])
    return runs[:: max(1, -(-len(runs) // MOST_DOTS))]


def domains(figures: Sequence[Any], models: Sequence[int], chance: Mapping[str, float]) -> list[Row]:
    """Return a row for each domain, that of the highest median first; nothing where one domain has all items."""
    by_group: dict[str, list[Any]] = {}
    for figure in sorted(figures, key=lambda figure: figure.value):
        if figure.run in models:
            by_group.setdefault(figure.group, []).append(figure)
    if len(by_group) < 2:
        return []
    rows = [
        {
            **{f"run_{run}": None for run in models},
            **{f"run_{figure.run}": figure.value for figure in of_group},
            "group": group,
            "title": group_title(DOMAIN, group, {}),
            "median": median(figure.value for figure in of_group),
            "lowest": of_group[0].value,
            "highest": of_group[-1].value,
            "best": of_group[-1].hub_id,
            "href": figure_url(of_group[-1]),
            "chance": chance.get(group),
            "figures": of_group,
        }
        for group, of_group in by_group.items()
    ]
    return sorted(rows, key=lambda row: -row["median"])


def _chart(rows: Sequence[Row], models: int) -> Chart:
    dots = {row["title"]: [*map(_dot, row["figures"])] for row in rows}
    medians = {row["title"]: row["median"] for row in rows}
    chances = {row["title"]: row["chance"] for row in rows if row["chance"] is not None}
    high, low = (f"{row['median']:.3f} ({row['title']})" for row in (rows[0], rows[-1]))
    words = f"Accuracy by domain, {labels.number_of(models, 'model')}: medians from {low} to {high}."
    return Chart("domains", "Accuracy by domain", words, charts.strips(dots, medians, chances, "accuracy"))


def _dot(figure: Any) -> ModelDot:
    return ModelDot(figure.hub_id, figure.value, figure.provenance == PUBLISHED, figure_url(figure), figure.kind)


PAGES = ProbePages(
    asked_by="multiple choice",
    option_labels={"few_shot": "Examples before each item", "chat": "Use the chat template"},
    template="probes/multiple_choice.html",
    benchmark_parts=benchmark_parts,
)
