"""The section of a benchmark's page with its baselines."""

import pytest
from django.test import Client

from leaderboard.models import Benchmark
from leaderboard.probe_pages.baselines import baselines_section
from tests.leaderboard import factories as make
from tests.leaderboard.csv_rows import csv_rows


def test_every_baseline_stands_on_the_page(client: Client, small: Benchmark) -> None:
    rows = csv_rows(client, "/benchmarks/small/", "baselines")
    values = {row["baseline"]: float(row["value"]) for row in rows}
    assert values == {
        "Chance": pytest.approx((4 / 3 + 2 / 2) / 6),
        "Majority answer": pytest.approx(3 / 6),
        "Most frequent answer": pytest.approx(3 / 6),
    }


def test_only_chance_is_known_of_pairs(pairs: Benchmark) -> None:
    (section,) = baselines_section(pairs)
    assert section
    assert section.table
    assert len(section.table.rows) == 1


def test_a_benchmark_of_published_figures_has_no_section(db: None) -> None:
    assert baselines_section(make.benchmark()) == []
