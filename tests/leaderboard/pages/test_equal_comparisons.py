"""A comparison has the same numbers as CSV, as JSON, in Python, and on the command line where it is of two runs."""

import json
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
def test_csv_json_python_and_command_line_agree(
    client: Client, tmp_path: Path, request: pytest.FixtureRequest, kind: str, number: int
) -> None:
    runs: list[Run] = request.getfixturevalue(kind)[:number]
    query = "&".join(f"m={run.pk}" for run in runs)
    site = csv_rows(client, f"/compare/?{query}", "differences")
    objects = client.get(f"/compare/?{query}&format=json&table=differences").json()
    folders = [saved(run, tmp_path / str(run.pk)) for run in runs]
    first, *others = map(Result.load, folders)
    table = first.compare(*others).to_dict("records")
    assert len(site) == len(objects) == len(table) > 0
    for page, line, row in zip(site, objects, table, strict=True):
        assert page["result"] == line["result"] == row["result"]
        assert (line["group"], page["group"]) == (row["group"], row["group"])
        for name in FIGURES:
            assert float(page[name]) == line[name] == row[name]
    if number == 2:
        assert main(["compare", *folders, "--json", str(tmp_path / "all.json")]) == 0
        written = json.loads((tmp_path / "all.json").read_text())["differences"]
        for row, line in zip(written, objects, strict=True):
            sides = {"A": "first", "B": "second", "A_low": "first_low", "B_high": "second_high"}
            assert row["group"] == line["group"]
            assert all(row[name] == line[sides.get(name, name)] for name in ("difference", "p", "p_holm", *sides))
