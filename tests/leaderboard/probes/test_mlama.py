"""The pages of mLAMA, a benchmark of ranking whose items have languages but no cultures."""

from pathlib import Path

import pytest
from django.test import Client

from leaderboard.figures import benchmarks
from probing.settings import Settings
from tests.fakes import FakeModel
from tests.leaderboard import factories as make
from tests.probing.formats.mlama_folder import MlamaFolder


@pytest.mark.django_db
@pytest.mark.usefixtures("data")
def test_every_page_of_a_ranking_benchmark_without_cultures_is_shown(tmp_path: Path, client: Client) -> None:
    on, _ = benchmarks.install("mlama", MlamaFolder(tmp_path / "mlama1.1").write(), "mlama", "mLAMA")
    model = FakeModel(knows=["Lima lies in Peru", "Cusco lies in Peru", "Oslo lies in Norway"])
    runs = [make.probed(on, make.model(f"org/{name}"), model, Settings(probe="ranking")) for name in ("one", "two")]
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
    answers = {page: client.get(page, follow=True).status_code for page in pages}
    assert answers == dict.fromkeys(pages, 200)
    assert "Noruega" in client.get(f"/runs/{runs[0].pk}/items/").content.decode()
