"""Of every pair of runs that a filled site ranks, all views give the same verdict."""

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from itertools import combinations
from pathlib import Path
from urllib.parse import urlencode

import pytest
from django.db import connection
from django.test import Client

from leaderboard.figures.comparisons import compared
from leaderboard.figures.ranks import rank_group
from leaderboard.figures.scores import Slice
from leaderboard.figures.verdicts import compared_with, ranked_part
from leaderboard.models import Run
from leaderboard.models.standing import rank_range
from leaderboard.pages import overview_page
from leaderboard.pages.comparison_words import compared_runs, is_certain
from leaderboard.pages.comparison_words import verdict as sentence
from probing.analysis.verdicts import ALIKE, BETTER, WORSE
from probing.probes.probe import Probe
from tests.leaderboard.csv_rows import csv_rows
from tests.tools.filled_folder import copy_filled_folder

TURNED = {BETTER: WORSE, WORSE: BETTER, ALIKE: ALIKE}
pytestmark = [
    pytest.mark.slow,
    pytest.mark.timeout(900),  # the site measures its models first
    pytest.mark.django_db(transaction=True),
    pytest.mark.skipif(connection.vendor != "sqlite", reason="The filled site is a file of SQLite."),
]


@pytest.fixture
def filled(data: Path, tmp_path_factory: pytest.TempPathFactory) -> None:
    """Put the data of the filled site into the folder and the database of the test."""
    copy_filled_folder(tmp_path_factory, data)
    connection.ensure_connection()
    with closing(sqlite3.connect(data / "clozeboard.sqlite3")) as stored:
        stored.backup(connection.connection)


def pairs() -> Iterator[tuple[Run, Run]]:
    """Yield all pairs of runs that are ranked together."""
    runs = Run.objects.filter(ranks__best__isnull=False).distinct().select_related("model", "benchmark")
    for first, second in combinations(runs, 2):
        if first.benchmark_id == second.benchmark_id and rank_group(first) == rank_group(second):
            yield first, second


def of_ranks(first: Run, second: Run, metric: str, part: Slice) -> str:
    if second.pk in compared_with(first.pk, metric, part).ahead_of:
        return BETTER
    return WORSE if first.pk in compared_with(second.pk, metric, part).ahead_of else ALIKE


def test_all_views_agree(filled: None, client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(overview_page, "LEAST_MODELS", 2)
    verdicts: dict[tuple[int, int], str] = {}
    for first, second in pairs():
        metric = first.benchmark.main_metric
        part = ranked_part(first.pk, metric)
        found = of_ranks(second, first, metric, part)
        comparison = compared(first.pk, second.pk, part=part)
        (overall,) = (row for row in comparison.differences if row["dimension"] == "overall")
        assert overall["verdict"] == found, (first, second)
        turned = compared(second.pk, first.pk, part=part).differences[0]
        assert (turned["p"], turned["p_holm"]) == pytest.approx((overall["p"], overall["p_holm"]))
        assert (overall["p_holm"] < 0.05) == is_certain(overall) == (found != ALIKE)
        assert (overall["p"] < 0.05) == (overall["low"] > 0 or overall["high"] < 0)
        words = sentence(compared_runs([first, second], comparison.differences), comparison, Probe.ahead)
        assert (ALIKE in words) == (found == ALIKE)
        query = {"m": [first.pk, second.pk], "benchmark": first.benchmark.name, "part": part.group}
        _, row = csv_rows(client, f"/compare/?{urlencode(query, doseq=True)}", "runs")
        assert (float(row["p_holm"]) < 0.05) == (found != ALIKE)
        verdicts[second.pk, first.pk], verdicts[first.pk, second.pk] = found, TURNED[found]
    assert {first.benchmark.probe for first, _ in pairs()} >= {"multiple_choice", "ranking", "specificity", "cloze"}
    assert set(verdicts.values()) == {BETTER, WORSE, ALIKE}
    _check_places(client, verdicts)
    _check_overview(client, verdicts)


def _check_places(client: Client, verdicts: dict[tuple[int, int], str]) -> None:
    """Rank ranges count the verdicts."""
    compared_runs = {first for first, _ in verdicts}
    addresses = {run.benchmark.get_absolute_url() for run in Run.objects.filter(pk__in=compared_runs)}
    shown = {row["run"]: row["rank"] for at in sorted(addresses) for row in csv_rows(client, at, "leaderboard")}
    for run in compared_runs:
        own = [found for (first, _), found in verdicts.items() if first == run]
        assert shown[str(run)] == rank_range(1 + own.count(WORSE), 1 + len(own) - own.count(BETTER))


def _check_overview(client: Client, verdicts: dict[tuple[int, int], str]) -> None:
    """Bold figures, and the second model where it is called level, are those that cannot be told from the best."""
    columns, _ = overview_page.all_columns()
    named = 0
    for column in columns:
        figures = sorted(column.comparable.values(), key=lambda figure: -figure.value)
        among_the_best = column.best_of(column.figures)
        for figure in figures[1:] if among_the_best else ():
            if found := verdicts.get((figures[0].run, figure.run)):
                assert (figure.run in among_the_best) == (found == ALIKE)
        answer = client.get("/", {"topic": column.topic.lower(), "sort": column.slug}).context["answer"]
        if found := "best" in answer and verdicts.get((answer["best"].run, figures[1].run)):
            assert answer["is_level"] == (found == ALIKE)
            named += 1
    assert named
