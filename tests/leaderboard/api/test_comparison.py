"""The page, its CSV, the API and the command line give the same numbers of a comparison."""

import csv
from pathlib import Path

import pytest
from django.test import Client

from leaderboard.figures import benchmarks, item_rows
from leaderboard.models import Benchmark, Run
from probing.__main__ import main
from probing.analysis.paired_tests import DIFFERENCE_COLUMNS
from probing.results.result import Result
from tests.fakes import FakeModel
from tests.leaderboard import factories as make
from tests.leaderboard.conftest import Site
from tests.leaderboard.csv_rows import csv_rows

FIGURES = DIFFERENCE_COLUMNS[3:]
pytestmark = pytest.mark.django_db  # one test asks for its runs by name, which hides that it needs the database


@pytest.fixture
def graph_runs(db: None) -> list[Run]:
    graph = make.shipped("graph")
    true = [i.subject for r in benchmarks.read(graph).relations for i in r.items if i.is_true]
    return [
        make.probed(graph, make.model(f"org/{name}"), FakeModel(knows=true[::every]), graph.settings_with({}))
        for name, every in (("half", 2), ("third", 3), ("tenth", 10))
    ]


@pytest.fixture
def choice_runs(site: Site, small: Benchmark) -> list[Run]:
    return [site.first, site.second, make.measured(small, make.model("org/third"), skill=5, seed=5)]


def saved(run: Run, folder: Path) -> str:
    """Save a run as the command line would have saved it."""
    benchmark = run.benchmark
    record = {
        "model": {"id": run.model.hub_id},
        "benchmark": {"slug": benchmark.slug, "version": benchmark.version, "digest": benchmark.digest},
        "probe": benchmark.probe,
        "settings": {"options": {}},
    }
    scores = make.tidy_scores(run)
    Result(item_rows.frame(run, item_rows.names(run)), scores, record).save(folder)
    return str(folder)


@pytest.mark.parametrize("kind", ["choice_runs", "graph_runs"])
@pytest.mark.parametrize("number", [2, 3])
def test_page_csv_api_and_command_line_agree(
    client: Client, tmp_path: Path, request: pytest.FixtureRequest, kind: str, number: int
) -> None:
    runs: list[Run] = request.getfixturevalue(kind)[:number]
    query = "&".join(f"m={run.pk}" for run in runs)
    site = csv_rows(client, f"/compare/?{query}", "differences")
    api = client.get(f"/api/v1/compare?{query}").json()
    folders = [saved(run, tmp_path / str(run.pk)) for run in runs]
    assert main(["compare", *folders, "--csv", str(tmp_path / "differences.csv")]) == 0
    with (tmp_path / "differences.csv").open(encoding="utf-8") as file:
        written = list(csv.DictReader(file))
    assert len(site) == len(api["differences"]) == len(written) > 0
    for page, line, row in zip(site, api["differences"], written, strict=True):
        assert page["result"] == line["result"] == row["result"]
        assert (line["dimension"], page["group"]) == (row["dimension"], row["group"])
        for name in FIGURES:
            assert float(page[name]) == line[name] == float(row[name])
    for run, side in zip(runs, api["runs"], strict=True):
        assert side["run"] == run.pk
    assert [side["result"] for side in api["runs"]] == ["first", "second", "third"][:number]


def test_numbers_that_are_not_defined_are_null(client: Client, pairs: Benchmark) -> None:
    settings = pairs.settings_with({})
    runs = [make.probed(pairs, make.model(), FakeModel(), settings) for _ in range(2)]
    answer = client.get(f"/api/v1/compare?m={runs[0].pk}&m={runs[1].pk}")
    overall = answer.json()["differences"][0]
    assert overall["first_low"] is None, "a macro-average has no interval of its own"


def test_the_api_says_what_is_missing(client: Client, site: Site) -> None:
    for query in ("", f"m={site.first.pk}", f"m={site.first.pk}&m=org/nobody"):
        answer = client.get(f"/api/v1/compare?{query}")
        assert answer.status_code == 400
        assert answer.json()["error"]["next_step"]
