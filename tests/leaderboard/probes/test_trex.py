"""Imported folders in the formats of LAMA and mLAMA: T-REx beside a paper's figures, and languages without cultures."""

import json
import shutil
from pathlib import Path

import pytest
from django.http import QueryDict
from django.test import Client

from leaderboard.figures import benchmarks
from leaderboard.figures.ranks import refresh_standings
from leaderboard.figures.scores import main_scores
from leaderboard.models import Run
from leaderboard.pages.overview_page import selection
from tests.fakes import FakeModel
from tests.leaderboard import factories as make
from tests.leaderboard.csv_rows import csv_rows
from tests.leaderboard.probes.cloze_runs import cloze_run
from tests.leaderboard.ui.charts.plotted import plotted
from tests.probing.formats import test_lama
from tests.probing.formats.mlama_folder import MlamaFolder

pytestmark = pytest.mark.django_db


@pytest.fixture(params=["published first", "imported first", "imported alone"])
def measured(request: pytest.FixtureRequest, tmp_path: Path) -> Run:
    """A measured run on an imported folder with two relations, one of which the model knows in part."""
    if request.param == "published first":
        make.published_figures()
    folder = test_lama.write(tmp_path / "files")
    line = {"sub_label": "Nile treaty", "obj_label": "Egypt"}
    (folder / "P1001.jsonl").write_text(json.dumps(line) + "\n")
    trex, _ = benchmarks.install("lama", folder, "trex")
    shutil.rmtree(folder)
    if request.param == "imported first":
        make.published_figures()
    assert benchmarks.current("trex") == trex
    run = cloze_run(trex, make.model("org/measured", kind="masked"))
    make.restore_figures(trex)
    refresh_standings(trex)
    return run


def test_it_has_its_score_on_all_pages_and_a_rank(measured: Run, client: Client) -> None:
    (row,) = [row for row in csv_rows(client, "/benchmarks/trex/") if row["model"] == "org/measured"]
    assert (row["rank"], float(row["accuracy"])) == ("1", 0.5)
    board = client.get("/benchmarks/trex/").content.decode()
    assert 'id="chart-scatter"' in board and measured.get_absolute_url() in board
    html = client.get(measured.get_absolute_url()).content.decode()
    assert '<div class="headline">' in html
    assert 'data-table="relation"' in html
    rows = csv_rows(client, measured.get_absolute_url(), "relation")
    assert [(row["group"], float(row["value"])) for row in rows] == [("P1001", 1), ("P36", 0)]
    (row,) = csv_rows(client, measured.model.get_absolute_url())
    assert (row["metric"], float(row["score"])) == ("Accuracy", 0.5)


def test_figures_relative_to_the_model_before_training_are_one_row_and_no_standings(client: Client) -> None:
    make.published_figures()
    assert csv_rows(client, "/benchmarks/trex/?published=ranked") == []
    (row,) = csv_rows(client, "/benchmarks/trex/", "training")
    assert (row["model"], row["trained_on"]) == ("google-bert/bert-base-cased", "arXiv")
    assert (row["accuracy_lm_pub_quiz"], row["relative_accuracy_lm_pub_quiz_1"]) == ("0.405", "0.7237")
    assert "relative_accuracy_lm_pub_quiz_0" not in row, "it is 1 by definition"


def test_what_is_left_after_training_is_drawn_as_lines_over_its_steps(client: Client) -> None:
    make.published_figures()
    page = client.get("/benchmarks/trex/")
    traces = plotted(page.context["charts"]["training"].figure).data
    assert [trace.mode for trace in traces] == ["lines+markers"] * 2
    assert [list(trace.x) for trace in traces] == [[0, 1, 2, 3, 4]] * 2
    assert traces[0].y[:2] == (1.0, 0.7237)
    assert "1 by definition" in page.content.decode()


@pytest.mark.django_db
@pytest.mark.usefixtures("data")
def test_every_page_of_a_ranking_benchmark_without_cultures_is_shown(tmp_path: Path, client: Client) -> None:
    on, _ = benchmarks.install("mlama", MlamaFolder(tmp_path / "mlama1.1").write(), "mlama", "mLAMA")
    model = FakeModel(knows=["Lima lies in Peru", "Cusco lies in Peru", "Oslo lies in Norway"])
    runs = [make.probed(on, make.model(f"org/{name}"), model, on.settings_with({})) for name in ("one", "two")]
    of_spanish = runs[0].scores.get(metric="p_at_1", dimension="language_relation", group="es P17")
    assert (of_spanish.n, of_spanish.value < 1) == (2, True)
    pages = [
        "/",
        "/benchmarks/mlama/",
        "/benchmarks/mlama/relations/P17/",
        "/benchmarks/mlama/relations/P17.es/",
        "/benchmarks/mlama/items/",
        f"/runs/{runs[0].pk}/",
        f"/runs/{runs[0].pk}/items/",
        f"/compare/?runs={runs[0].pk},{runs[1].pk}",
        "/submit/?benchmark=mlama",
        "/models/org/one/",
    ]
    in_english = runs[0].scores.get(metric="p_at_1", dimension="language", group="en").value
    pooled = runs[0].scores.get(metric="p_at_1", dimension="overall").value
    assert in_english != pooled
    assert main_scores(runs[:1], lambda _: "p_at_1")[runs[0].pk].value == in_english
    assert client.get(f"/runs/{runs[0].pk}/").context["headline"].part == "Asked in English"
    (column,) = selection(QueryDict()).columns
    assert column.measure.title == "mLAMA, in English"
    assert {figure.value for figure in column.figures.values()} == {in_english}
    for part, value in (("", in_english), ("?part=es", of_spanish.value)):
        rows = csv_rows(client, f"/benchmarks/mlama/{part}")
        (shown,) = {float(row["p_at_1"]) for row in rows if row["model"] == "org/one"}
        assert shown == pytest.approx(value, abs=5e-4)
    answers = {page: client.get(page, follow=True).status_code for page in pages}
    assert answers == dict.fromkeys(pages, 200)
    assert "Noruega" in client.get(f"/runs/{runs[0].pk}/items/").content.decode()
