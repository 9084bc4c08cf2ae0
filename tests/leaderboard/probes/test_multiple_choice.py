"""Pages of multiple choice and of similarity, which are the default ones."""

import pytest
from django.test import Client

from leaderboard.figures import scores
from leaderboard.models import Benchmark
from leaderboard.probes.items import item_url
from probing.settings import Settings
from tests.fakes import FakeModel
from tests.leaderboard import factories as make
from tests.leaderboard.csv_rows import csv_rows


@pytest.mark.parametrize("probe", ["multiple_choice", "similarity"])
def test_a_run_opens_on_every_page_with_the_same_main_score(client: Client, small: Benchmark, probe: str) -> None:
    Benchmark.objects.update(probe=probe)
    small.refresh_from_db()
    run = make.probed(small, make.model(), FakeModel(), Settings(probe=probe))
    score = run.scores.get(metric=small.main_metric, dimension="overall").value
    for address in ("/benchmarks/small/", f"/models/{run.model.hub_id}/"):
        (row,) = (row for row in csv_rows(client, address) if str(score) in row.values())
        assert row
    question = item_url(run, {"relation": "P30", "template": 0, "index": 1})
    pages = (f"/runs/{run.pk}/", f"/runs/{run.pk}/items/", question, "/benchmarks/small/relations/P30/")
    for address in (*pages, f"/compare/?m={run.pk}"):
        assert client.get(address).status_code == 200


@pytest.mark.parametrize(("most", "are_some"), [(scores.MOST_DOTS, False), (1, True)])
def test_that_some_models_are_drawn_is_said_only_where_it_is_so(
    client: Client, small: Benchmark, monkeypatch: pytest.MonkeyPatch, most: int, are_some: bool
) -> None:
    monkeypatch.setattr(scores, "MOST_DOTS", most)
    for number in range(2):
        make.measured(small, make.model(f"org/{number}"), skill=number + 1, seed=number)
    small.settings = {"templates": [0, 1]}
    small.save()
    make.restore_figures(small)
    page = client.get(small.get_absolute_url()).content.decode()
    assert "Hardest relations" in page
    assert ("Some of the models are drawn" in page) == are_some
    assert "Those with the lowest medians, with a dot for each model that is drawn." in page
