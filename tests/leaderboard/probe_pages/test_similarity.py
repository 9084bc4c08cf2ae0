"""Pages of similarity, which are the default ones."""

from django.test import Client

from leaderboard.models import Benchmark
from probing.settings import Settings
from tests.fakes import FakeModel
from tests.leaderboard import factories as make
from tests.leaderboard.csv_rows import csv_rows


def test_a_run_opens_on_every_page_with_the_same_main_score(client: Client, small: Benchmark) -> None:
    Benchmark.objects.update(probe="similarity")
    small.refresh_from_db()
    run = make.probed(small, make.model(), FakeModel(), Settings(probe="similarity"))
    score = run.scores.get(metric=small.main_metric, dimension="overall").value
    for address in ("/?benchmark=small", f"/models/{run.model.hub_id}/"):
        (row,) = (row for row in csv_rows(client, address) if str(score) in row.values())
        assert row
    for page in ("", "items/", "items/P30/0/1/"):
        assert client.get(f"/runs/{run.pk}/{page}").status_code == 200
    for address in ("/benchmarks/small/", "/benchmarks/small/relations/P30/", f"/compare/?m={run.pk}"):
        assert client.get(address).status_code == 200
