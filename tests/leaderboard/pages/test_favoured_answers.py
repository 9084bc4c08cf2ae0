"""Which answers a model favours, on the page of a run."""

import re

import pytest
from django.test import Client

from leaderboard.models import Benchmark, Run
from leaderboard.ui import labels
from probing.analysis.option_scores import FULL_RUN_NEEDED
from probing.settings import Settings
from tests.fakes import FakeModel
from tests.leaderboard import factories as make
from tests.leaderboard.conftest import Site
from tests.leaderboard.csv_rows import csv_rows

pytestmark = pytest.mark.django_db


def csv(client: Client, run: Run, table: str, query: str = "") -> list[dict[str, str]]:
    return csv_rows(client, f"/runs/{run.pk}/{query}", table)


def test_the_relation_that_is_furthest_off_comes_first_and_its_options_are_shown(client: Client, site: Site) -> None:
    rows = csv(client, site.first, "biases")
    distances = [float(row["bias_gold_distance"]) for row in rows]
    assert distances == sorted(distances, reverse=True)
    address = client.get(f"/runs/{site.first.pk}/").context["favoured"]["href"]
    html = client.get(f"/runs/{site.first.pk}/{address}").content.decode()
    assert f"{labels.relation(rows[0]['relation'])}: favoured answers" in html
    assert f'title="{rows[0]["relation"]}"' in html


def test_only_a_relation_of_enough_questions_is_named_as_furthest_off(client: Client, site: Site) -> None:
    rows, address = csv(client, site.first, "biases"), f"/runs/{site.first.pk}/"
    assert "most in" not in client.get(address).content.decode()
    site.first.scores.filter(dimension="relation").update(n=10)
    page = client.get(address).content.decode()
    assert re.search(rf"most in {labels.relation(rows[0]['relation'])}, \d+ %", page)


def test_a_relation_can_be_chosen(client: Client, site: Site) -> None:
    for relation, options in (("P30", {"Africa", "Asia", "Europe"}), ("P36", {"Oslo", "Cairo"})):
        html = client.get(f"/runs/{site.first.pk}/?bias={relation}").content.decode()
        assert f"{labels.relation(relation)}: favoured answers" in html
        assert re.search(r'id="bias"\s+open>', html)
        assert {row["option"] for row in csv(client, site.first, "bias", f"?bias={relation}")} == options


def test_options_have_their_names_where_no_item_has_them_as_answer_or_prediction(
    client: Client, small: Benchmark
) -> None:
    run = make.probed(small, make.model(), FakeModel(), Settings(limit=1))
    assert {row["option"] for row in csv(client, run, "bias", "?bias=P30")} == {"Africa", "Asia", "Europe"}


def test_the_shares_of_options_sum_to_one(client: Client, site: Site) -> None:
    rows = csv(client, site.first, "bias", "?bias=P30")
    for column in ("bias", "gold", "predicted"):
        assert sum(float(row[column]) for row in rows) == pytest.approx(1)
    assert "generic" not in rows[0]


def test_generic_subjects_have_a_column_and_a_mark(client: Client, small: Benchmark) -> None:
    settings = Settings(options={"generic_subjects": "it, the region"})
    run = make.probed(small, make.model(), FakeModel(), settings)
    assert sum(float(row["generic"]) for row in csv(client, run, "bias", "?bias=P30")) == pytest.approx(1)
    assert "generic subjects" in client.get(f"/runs/{run.pk}/?bias=P30").content.decode()


def test_a_run_with_upper_bounds_says_that_it_needs_a_full_run(client: Client, small: Benchmark) -> None:
    run = make.measured(small, make.model(), skill=1)
    run.settings |= {"decide": True}
    run.save()
    html = client.get(f"/runs/{run.pk}/?bias=P30").content.decode()
    assert FULL_RUN_NEEDED in html
    assert 'data-table="biases"' not in html
