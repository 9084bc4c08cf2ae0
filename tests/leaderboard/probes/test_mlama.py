"""The pages of mLAMA, a benchmark of ranking whose items have languages but no cultures."""

from pathlib import Path

import pytest
from django.http import QueryDict
from django.test import Client

from leaderboard.figures import benchmarks
from leaderboard.figures.scores import main_scores
from leaderboard.pages.overview_page import selection
from tests.fakes import FakeModel
from tests.leaderboard import factories as make
from tests.leaderboard.csv_rows import csv_rows
from tests.probing.formats.mlama_folder import MlamaFolder


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
