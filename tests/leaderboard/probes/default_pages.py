"""A run of a probe with the default pages, opened on every page."""

from django.test import Client

from leaderboard.models import Benchmark
from leaderboard.probes.items import item_url
from probing.settings import Settings
from tests.fakes import FakeModel
from tests.leaderboard import factories as make
from tests.leaderboard.csv_rows import csv_rows


def assert_every_page_opens(client: Client, benchmark: Benchmark, probe: str) -> None:
    """Assert that lists show the run's main score and that all its pages open; `benchmark` is the small one."""
    Benchmark.objects.update(probe=probe)
    benchmark.refresh_from_db()
    run = make.probed(benchmark, make.model(), FakeModel(), Settings(probe=probe))
    score = run.scores.get(metric=benchmark.main_metric, dimension="overall").value
    for address in ("/benchmarks/small/", f"/models/{run.model.hub_id}/"):
        (row,) = (row for row in csv_rows(client, address) if str(score) in row.values())
        assert row
    for page in ("", "items/"):
        assert client.get(f"/runs/{run.pk}/{page}").status_code == 200
    question = item_url(run, {"relation": "P30", "template": 0, "index": 1})
    for address in (question, "/benchmarks/small/", "/benchmarks/small/relations/P30/", f"/compare/?m={run.pk}"):
        assert client.get(address).status_code == 200
