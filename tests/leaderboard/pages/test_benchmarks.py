"""/benchmarks/ and what pages of benchmarks share: sentences in groups, and diversity."""

from collections import Counter

import pytest
from django.test import Client

from leaderboard.figures import benchmarks
from leaderboard.figures.country_shares import countries_of
from leaderboard.models import Benchmark
from probing.analysis.facts_by_culture import facts_of
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


def test_facts_are_counted_by_the_culture_that_the_benchmark_names(client: Client, culture: Benchmark) -> None:
    facts = facts_of(benchmarks.read(culture))
    numbers = Counter(name for fact in facts for name in fact.cultures)
    rows = csv_rows(client, "/benchmarks/culture/", "diversity")
    assert sorted(int(row["number"]) for row in rows) == sorted(numbers.values())
    for row in rows:
        assert float(row["share"]) == pytest.approx(int(row["number"]) / len(facts))
    assert 'id="chart-diversity"' in client.get("/benchmarks/culture/").content.decode()


def test_questions_about_countries_are_counted_where_no_culture_is_named(client: Client, db: None) -> None:
    starter = make.shipped("starter")
    countries = Counter(countries_of(starter).values())
    rows = csv_rows(client, "/benchmarks/starter/", "diversity")
    assert [int(row["number"]) for row in rows] == sorted(countries.values(), reverse=True)
    assert sum(float(row["share"]) for row in rows) == pytest.approx(1)
    assert not {row["group"] for row in rows} & countries.keys()  # names, not codes


def test_a_benchmark_of_neither_has_no_such_section(client: Client, small: Benchmark) -> None:
    assert "section-diversity" not in client.get("/benchmarks/small/").content.decode()
