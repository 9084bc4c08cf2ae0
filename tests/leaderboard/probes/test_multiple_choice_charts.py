"""Charts of all models on a multiple-choice benchmark, each against the stored rows that it is made of."""

import re
from itertools import product
from statistics import median

import pandas as pd
import pytest
from django.test import Client

from leaderboard.figures.ranks import refresh_standings, store_figures
from leaderboard.models import Benchmark, Run
from tests.leaderboard import factories as make
from tests.leaderboard.csv_rows import csv_rows

SKILLS = {"org/weak": 0, "org/middling": 2, "org/strong": 6}


@pytest.fixture
def models(small: Benchmark) -> list[Run]:
    """Three models of different skill on the small benchmark, with everything that is stored when a run finishes."""
    small.settings = {"templates": [0, 1]}
    small.save()
    runs = [make.measured(small, make.model(name), skill, seed=7) for name, skill in SKILLS.items()]
    for run in runs:
        store_figures(run, make.stored_rows(run))
    refresh_standings(small)
    return runs


def stored(run: Run, dimension: str, group: str) -> float:
    value = run.scores.get(metric="accuracy", dimension=dimension, group=group).value
    assert value is not None
    return value


def test_each_domain_has_the_score_of_each_model_and_its_chance(client: Client, models: list[Run]) -> None:
    rows = csv_rows(client, "/benchmarks/small/", "domains")
    domains = set(models[0].scores.filter(dimension="domain").values_list("group", flat=True))
    assert {row["group"] for row in rows} == domains
    assert len(rows) == len(domains)
    for row, run in product(rows, models):
        assert float(row[f"run_{run.pk}"]) == stored(run, "domain", row["group"])
        chance = run.scores.get(metric="chance", dimension="domain", group=row["group"]).value
        assert float(row["chance"]) == chance


def test_domains_come_with_the_highest_median_first(client: Client, models: list[Run]) -> None:
    groups = list(dict.fromkeys(row["group"] for row in csv_rows(client, "/benchmarks/small/", "domains")))
    medians = [median(stored(run, "domain", group) for run in models) for group in groups]
    assert medians == sorted(medians, reverse=True)


def test_relations_come_with_the_lowest_median_first(client: Client, models: list[Run]) -> None:
    groups = list(dict.fromkeys(row["group"] for row in csv_rows(client, "/benchmarks/small/", "hardest")))
    medians = [median(stored(run, "relation", group) for run in models) for group in groups]
    assert len(groups) == 2
    assert medians == sorted(medians)


def test_questions_are_counted_by_the_share_of_right_answers(client: Client, models: list[Run]) -> None:
    answers = pd.concat([make.stored_rows(run) for run in models])
    shares = answers.groupby(["relation", "index"])["correct"].mean()
    rows = csv_rows(client, "/benchmarks/small/", "difficulty")
    assert int(rows[0]["questions"]) == (shares == 0).sum()
    assert int(rows[-1]["questions"]) == (shares == 1).sum()
    assert sum(int(row["questions"]) for row in rows) == len(shares)
    for place, row in enumerate(rows[1:-1]):
        between = (shares > place / 10 + 1e-9) & (shares <= (place + 1) / 10 + 1e-9) & (shares < 1)
        assert int(row["questions"]) == between.sum(), row["share"]


def test_the_page_has_the_three_charts_with_their_figures_in_words(client: Client, models: list[Run]) -> None:
    page = client.get("/benchmarks/small/").content.decode()
    assert all(f'id="chart-{name}"' in page for name in ("domains", "hardest", "difficulty"))
    assert re.search(r"6 questions. No answer is right to \d of them \(\d+ %\), and every answer to \d \(\d+ %\)", page)


def test_a_benchmark_that_no_model_was_measured_on_has_no_chart(client: Client, small: Benchmark) -> None:
    page = client.get("/benchmarks/small/").content.decode()
    assert not any(f'id="chart-{name}"' in page for name in ("domains", "hardest", "difficulty"))


def test_runs_with_other_settings_are_not_drawn(client: Client, models: list[Run]) -> None:
    other = make.measured(models[0].benchmark, make.model("org/other"), skill=3, templates=(0,))
    columns = csv_rows(client, "/benchmarks/small/", "domains")[0].keys()
    assert {f"run_{run.pk}" for run in models} <= columns
    assert f"run_{other.pk}" not in columns
