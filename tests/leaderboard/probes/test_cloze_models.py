"""Models beside each other on cloze: difficulty of fact types, and both kinds of model on the same sentences."""

import pytest
from django.test import Client

from leaderboard.models import Run
from tests.leaderboard.csv_rows import csv_rows
from tests.leaderboard.probes.cloze_runs import published_cloze_run

pytestmark = pytest.mark.django_db


def test_the_benchmark_compares_the_two_kinds_by_fact_type(client: Client, encoder: Run, generator: Run) -> None:
    published_cloze_run(encoder.benchmark)
    page = client.get("/benchmarks/geography/").content.decode()
    assert 'id="chart-difficulty"' in page and 'id="chart-sides"' in page
    rows = {row["fact_type"]: row for row in csv_rows(client, "/benchmarks/geography/", "difficulty")}
    city = rows["country of a city"]
    assert (city["encoders"], city["encoders_models"], city["generators"]) == ("0.5", "1", "0.5")
    assert city["encoders_published_models"] == "1", "figures of other sentences are not averaged with measured ones"
    assert rows["continent of a desert"]["generators"] == ""


def test_both_kinds_stand_side_by_side_on_the_same_sentences(client: Client, encoder: Run, generator: Run) -> None:
    rows = csv_rows(client, "/benchmarks/geography/", "sides")
    assert {(row["side"], row["n"]) for row in rows} == {("encoder", "4.0"), ("generator", "4.0")}


def test_the_difficulty_of_fact_types_follows_the_switches(client: Client, cities: Run) -> None:
    rows = csv_rows(client, "/benchmarks/cities/?types=major&sentences=not-leaky", "difficulty")
    assert [(row["fact_type"], float(row["encoders"])) for row in rows] == [("country of a city", 0.8)]
