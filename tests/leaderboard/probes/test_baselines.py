"""Baselines in words, in the list of a benchmark's models and on their own pages."""

import pytest
from django.test import Client

from leaderboard.models import Benchmark, Run
from tests.leaderboard.csv_rows import csv_rows

MAJORITY = "Majority answer always gives the answer that is right most often in the relation"


def test_every_baseline_stands_once_on_the_page_of_its_benchmark(client: Client, small: Benchmark) -> None:
    rows = csv_rows(client, "/benchmarks/small/", "leaderboard")
    values = {row["model"]: float(row["accuracy"]) for row in rows}
    assert values == {
        "baseline/chance": pytest.approx((4 / 3 + 2 / 2) / 6),
        "baseline/majority-answer": pytest.approx(3 / 6),
        "baseline/most-frequent-answer": pytest.approx(3 / 6),
    }
    response = client.get("/benchmarks/small/")
    assert set(response.context["tables"]) == {"leaderboard", "relations"}
    lines = response.context["tables"]["leaderboard"].lines
    names = [cell.text for line in lines for column, cell in line.cells if column.name == "model"]
    assert sorted(names) == ["Chance", "Majority answer and 1 baseline alike"]
    assert f"Chance takes every option to be as likely as the next; {MAJORITY}" in response.context["baselines"]
    assert response.context["baselines"] in response.content.decode()


def test_the_run_of_a_baseline_says_what_it_does(client: Client, small: Benchmark) -> None:
    run = Run.objects.get(model__hub_id="baseline/majority-answer")
    assert f"{MAJORITY}." in client.get(f"/runs/{run.pk}/").content.decode()


def test_a_benchmark_of_pairs_has_chance_only(client: Client, pairs: Benchmark) -> None:
    response = client.get(f"/benchmarks/{pairs.slug}/")
    assert response.context["baselines"].endswith("Chance takes every option to be as likely as the next.")
