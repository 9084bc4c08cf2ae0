"""The fold on template sensitivity."""

import re

import pytest
from django.http import QueryDict
from django.test import Client

from leaderboard.models import Benchmark, Run
from leaderboard.pages import run_folds
from tests.conftest import METADATA
from tests.leaderboard import factories as make
from tests.leaderboard.conftest import Site


def page(client: Client, run: Run, query: str = "") -> str:
    return client.get(f"/runs/{run.pk}/{query}").content.decode()


def test_the_line_that_opens_it_has_the_main_figures(client: Client, site: Site) -> None:
    html = page(client, site.first)
    overall = site.first.scores.filter(dimension="overall")
    flips, points = (overall.get(metric=metric).value for metric in ("template_flips", "template_range"))
    assert f"{100 * flips:.0f} % of the questions get another answer" in html
    assert f"is right {100 * points:.1f} points more often" in html


def test_it_is_closed_until_one_of_its_tables_is_sorted(client: Client, site: Site) -> None:
    assert re.search(r'id="wording"\s*>', page(client, site.first))
    assert re.search(r'id="wording" open>', page(client, site.first, "?wordings-sort=-range"))


def test_the_wording_that_does_worst_is_named(client: Client, site: Site) -> None:
    lines = client.get(f"/runs/{site.first.pk}/?format=csv&table=wordings").getvalue().decode().splitlines()
    assert lines[0] == "relation,template_0,template_1,range,flips,items,worst"
    for line in lines[1:]:
        relation, first, second, difference, *_, worst = line.split(",")
        assert float(difference) == pytest.approx(abs(float(first) - float(second)))
        sentences = [text.replace("[X]", "X").replace("[Y]", "____") for text in METADATA[relation]["templates"]]
        assert worst in sentences


def test_details_are_kept_out_of_the_main_figures_and_the_breakdowns(client: Client, site: Site) -> None:
    head = page(client, site.first).split('id="details"')[0]
    assert "template_flips" not in head
    assert "Template flips" not in head
    assert "variance_share_item" in client.get(f"/runs/{site.first.pk}/?format=csv").getvalue().decode()


def test_a_run_with_one_template_has_none(small: Benchmark) -> None:
    run = make.measured(small, make.model(), skill=1, templates=(0,))
    assert run_folds.wording_fold(run, list(run.scores.all())) is None


def test_a_run_without_stored_items_has_no_folds(client: Client, site: Site) -> None:
    make.score(site.published, 0.2, metric="template_flips")
    assert 'id="details"' not in page(client, site.published)


def test_a_fold_is_open_where_the_query_names_it(site: Site) -> None:
    fold = run_folds.wording_fold(site.first, list(site.first.scores.all()))
    assert fold
    assert [fold.is_open(QueryDict(query)) for query in ("", "wording=1", "wordings-page=2", "sort=value")] == [
        False,
        True,
        True,
        False,
    ]
