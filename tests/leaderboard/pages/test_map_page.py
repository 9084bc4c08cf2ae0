"""/runs/<id>/map/ : the share right by country."""

import json
import re
from pathlib import Path
from random import Random

import pandas as pd
import pytest
from django.test import Client
from pytest_django import DjangoAssertNumQueries

from leaderboard.figures import benchmarks, item_rows
from leaderboard.figures.country_shares import CountryShare, countries_of, has_map
from leaderboard.figures.item_rows import ItemFilter
from leaderboard.figures.outcomes import store_outcomes
from leaderboard.models import Benchmark, Run
from leaderboard.pages import map_page
from probing.settings import Settings
from tests.leaderboard import factories as make
from tests.leaderboard.conftest import Site
from tests.leaderboard.csv_rows import csv_rows
from tests.leaderboard.kept import kept
from tests.probing.formats.dlama_folder import DlamaFolder, fact

NAMES = ["Egypt", "France", "Spain", "Italy", "Peru", "Japan", "Kenya", "Ghana", "Chile", "Norway", "Poland", "Oman"]


@pytest.fixture
def capitals(db: None, tmp_path: Path) -> Benchmark:
    """Three cities in each of twelve countries, and rivers of no country."""
    cities = [("city_country", f"{name} City {number}", [name]) for name in NAMES for number in range(3)]
    rivers = [("desert_continent", f"Desert {number}", ["Africa"]) for number in range(4)]
    triples = [dict(zip(("fact_type", "subject", "objects"), triple, strict=True)) for triple in cities + rivers]
    (tmp_path / "triples.jsonl").write_text("".join(json.dumps(triple) + "\n" for triple in triples))
    return kept("capitals", lambda: benchmarks.install("geography", tmp_path, "capitals")[0])


@pytest.fixture
def runs(capitals: Benchmark) -> list[Run]:
    return [answered(capitals, name, seed) for seed, name in enumerate(("org/a", "org/b"))]


def answered(on: Benchmark, name: str, seed: int) -> Run:
    """A finished run whose answers are right by chance."""
    chance = Random(seed)
    keys = [(relation.label, 0, item.index) for relation in benchmarks.read(on).relations for item in relation.items]
    rows = pd.DataFrame(keys, columns=["relation", "template", "index"])
    rows["correct"] = [chance.random() < 0.5 for _ in keys]
    run = make.stored_items(make.model(name), on, rows, settings=Settings("cloze").to_json())
    store_outcomes(run, rows)
    return run


def test_each_country_has_the_share_of_its_items_that_are_right(client: Client, runs: list[Run]) -> None:
    run, countries = runs[0], countries_of(runs[0].benchmark)
    right: dict[str, list[bool]] = {}
    for row in item_rows.rows(run, item_rows.find(run, ItemFilter())):
        if code := countries.get((row["relation"], row["index"])):
            right.setdefault(code, []).append(row["correct"])
    rows = csv_rows(client, f"/runs/{run.pk}/map/")
    assert {row["code"]: int(row["items"]) for row in rows} == {code: len(values) for code, values in right.items()}
    assert len(rows) == len(NAMES)
    for row in rows:
        assert float(row["share"]) == pytest.approx(sum(right[row["code"]]) / len(right[row["code"]]))
        assert float(row["low"]) - 1e-9 <= float(row["share"]) <= float(row["high"]) + 1e-9


def test_the_difference_of_two_runs_is_that_of_their_shares(client: Client, runs: list[Run]) -> None:
    first, second = ({row["code"]: row for row in csv_rows(client, f"/runs/{run.pk}/map/")} for run in runs)
    for row in csv_rows(client, f"/runs/{runs[0].pk}/map/?other={runs[1].pk}"):
        code = row["code"]
        assert float(row["difference"]) == pytest.approx(float(first[code]["share"]) - float(second[code]["share"]))
        assert float(row["other"]) == pytest.approx(float(second[code]["share"]))


def test_the_page_draws_the_map_with_its_summary_and_its_coverage(
    client: Client, runs: list[Run], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(map_page, "LEAST_QUESTIONS", 2)
    page = client.get(f"/runs/{runs[0].pk}/map/").content.decode()
    assert "<title>Egypt: " in page
    items = runs[0].benchmark.items
    assert f"{items - 4} of {items} questions" in " ".join(page.split())
    assert ", a is right most often about" in page, "without the organisation, as no other model is shown"
    assert "style=" not in page
    assert len(page) < 300_000


def test_the_map_takes_few_queries(
    client: Client, runs: list[Run], django_assert_max_num_queries: DjangoAssertNumQueries
) -> None:
    with django_assert_max_num_queries(12):
        client.get(f"/runs/{runs[0].pk}/map/?other={runs[1].pk}")


def test_the_map_of_a_culture_pair_in_one_language_has_its_items_only(
    client: Client, db: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = DlamaFolder(tmp_path / "pairs")
    (path, *_) = folder.facts
    folder.facts[path] = [fact(number, name, {"Q13955": "Arabic"}) for number, name in enumerate(NAMES, 200)]
    folder.add_arabic()
    run = answered(benchmarks.install("dlama", folder.write(), "culture")[0], "org/a", 1)
    for language in ("ar", "en"):
        make.score(run, 0.5, "culture_pair_language", f"arab-west {language}", metric="p_at_1")
    address = f"/runs/{run.pk}/map/"
    everything, one = client.get(address), client.get(f"{address}?part=arab-west+en")
    assert one.context["all_items"] == everything.context["all_items"] / 2
    assert one.context["counted"] == everything.context["counted"] / 2
    assert "Arab and West, asked in English" in one.content.decode()
    (cell,) = {cell.href for _, cell in one.context["tables"]["countries"].lines[0].cells if cell.href}
    assert "culture_pair=arab-west&language=en" in cell
    monkeypatch.setattr(map_page, "LEAST_COUNTRIES", 50)
    assert [client.get(f"{address}{query}").status_code for query in ("", "?part=arab-west+en")] == [404, 200]


@pytest.mark.parametrize("other", ["0", "x", "-1", "9" * 40, "<script>", "１"])
def test_a_run_that_cannot_be_compared_is_not_found_and_says_so(client: Client, runs: list[Run], other: str) -> None:
    response = client.get(f"/runs/{runs[0].pk}/map/", {"other": other})
    assert response.status_code == 404
    assert "Choose another finished run on" in response.content.decode()
    assert "<script>&" not in response.content.decode()


def test_a_run_is_not_compared_with_itself(client: Client, runs: list[Run]) -> None:
    assert client.get(f"/runs/{runs[0].pk}/map/?other={runs[0].pk}").status_code == 404


def test_a_benchmark_without_countries_has_no_map(client: Client, site: Site) -> None:
    make.restore_figures(site.benchmark)
    response = client.get(f"/runs/{site.first.pk}/map/")
    assert response.status_code == 404
    assert "too few for a map" in response.content.decode()


def test_answers_that_are_neither_right_nor_wrong_have_no_map(client: Client, runs: list[Run]) -> None:
    Benchmark.objects.update(probe="perplexity")
    response = client.get(f"/runs/{runs[0].pk}/map/")
    assert response.status_code == 404
    assert "not right or wrong" in response.content.decode()


def test_a_published_run_has_no_map(client: Client, site: Site) -> None:
    assert client.get(f"/runs/{site.published.pk}/map/").status_code == 404
    assert client.get("/runs/999/map/").status_code == 404


def test_only_a_run_about_countries_whose_questions_are_here_has_a_map(runs: list[Run], site: Site) -> None:
    assert has_map(runs[0])
    assert not has_map(site.first)
    runs[0].benchmark.path = ""
    assert not has_map(runs[0])


def test_the_page_of_a_benchmark_about_countries_leads_to_the_map_of_its_first_run(
    client: Client, runs: list[Run], site: Site
) -> None:
    for run in runs:
        make.score(run, 0.5)
    (address,) = re.findall(
        r'href="(/runs/\d+/map/)"', client.get(runs[0].benchmark.get_absolute_url()).content.decode()
    )
    assert address in {f"/runs/{run.pk}/map/" for run in runs}
    assert client.get(address).status_code == 200
    assert "/map/" not in client.get("/benchmarks/small/").content.decode(), "it is about no countries"


def test_the_summary_names_countries_with_enough_questions_and_their_intervals() -> None:
    rows = [CountryShare("FR", 40, 0.75), CountryShare("EG", 20, 0.25), CountryShare("AT", 2, 1.0)]
    summary = map_page.run_map(["a"], rows).summary
    assert summary == (
        "Among the 2 countries with 10 questions or more, a is right most often about France (0.60 to 0.86), and least "
        "often about Egypt (0.11 to 0.47)."
    )
    assert "Too few countries have 10 questions or more" in map_page.run_map(["a"], rows[1:]).summary
    differences = [CountryShare("FR", 40, 0.75, 0.5), CountryShare("EG", 20, 0.25, 0.5)]
    summary = map_page.run_map(["a", "b"], differences).summary
    assert "a is furthest ahead of b about France (+0.250), and least about Egypt (−0.250)." in summary
