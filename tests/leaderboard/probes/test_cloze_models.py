"""Models beside each other on cloze: difficulty of fact types, and both kinds of model on the same sentences."""

import pytest
from django.test import Client

from leaderboard.figures.ranks import refresh_standings
from leaderboard.models import Run
from probing.probes.cloze import RANKED, WRITTEN, Cloze
from tests.leaderboard import factories as make
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


def test_encoders_and_models_that_write_are_ranked_apart_and_pages_say_why(
    client: Client, encoder: Run, generator: Run
) -> None:
    make.restore_figures(encoder.benchmark)
    refresh_standings(encoder.benchmark)
    assert {run.ranks.get(metric="accuracy").rank_range for run in (encoder, generator)} == {"1"}
    table = client.get("/benchmarks/geography/").context["tables"]["leaderboard"].table
    headings = {row.run: table.heading(row) for row in table.rows if not row.is_baseline}
    assert headings[encoder] == f"● Measured here, {RANKED}, 1 model"
    assert headings[generator] == f"● Measured here, {WRITTEN}, 1 model"
    assert WRITTEN in client.get(generator.get_absolute_url()).content.decode()
    assert client.get(encoder.get_absolute_url()).context["headline"].rank == "", "one model alone has no rank"


def test_models_that_rank_the_same_answers_are_one_group() -> None:
    assert {Cloze.way(kind, {"closed": True}) for kind in ("masked", "causal")} == {""}
    assert Cloze.way("masked", {}) != Cloze.way("causal", {}) == Cloze.way("encoder-decoder", {})


def test_a_kind_of_model_has_the_same_look_in_both_charts(client: Client, encoder: Run, generator: Run) -> None:
    published_cloze_run(encoder.benchmark)
    charts = client.get("/benchmarks/geography/").context["charts"]
    looks: dict[str, set[tuple[str, str]]] = {}
    for name in ("difficulty", "sides"):
        for trace in charts[name].figure.data:
            looks.setdefault(trace["name"], set()).add((trace["marker"]["symbol"], trace["marker"]["color"]))
    assert looks["encoders"] == {("diamond", "var(--series-1)")}
    assert looks["generators"] == {("circle", "var(--series-2)")}
    assert looks["encoders, published"] == {("diamond-open", "var(--series-1)")}
