"""/benchmarks/ : all benchmarks in groups, and what it says where there is none."""

import pytest
from django.test import Client

from leaderboard.models import Benchmark
from tests.leaderboard import factories as make
from tests.leaderboard.csv_rows import csv_rows

pytestmark = pytest.mark.django_db


def test_benchmarks_stand_in_four_groups_each_with_a_sentence(client: Client) -> None:
    make.published_figures()
    page = client.get("/benchmarks/").content.decode()
    places = [page.index(f"{topic}: ") for topic in ("Facts", "Cultures", "Precision", "Plausibility")]
    assert places == sorted(places)
    assert places[0] < page.index("BEAR") < places[1] < page.index("mLAMA") < places[2] < page.index("S-TEST")
    rows = csv_rows(client, "/benchmarks/")
    assert len(rows) == Benchmark.objects.filter(current=True).count()
    assert all(row["asks"].endswith(".") for row in rows)


def test_unknown_counts_are_not_zero(client: Client) -> None:
    make.benchmark(relations=0, items=0)
    (row,) = csv_rows(client, "/benchmarks/")
    assert (row["relations"], row["items"]) == ("", "")


def test_an_empty_site_says_what_to_do(client: Client) -> None:
    assert "import_benchmark" in client.get("/benchmarks/").content.decode()
