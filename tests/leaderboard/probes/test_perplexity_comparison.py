"""Comparisons of perplexity runs: superiority on shared sentences, and their ranks; never raw perplexities."""

from dataclasses import replace

import pytest
from django.test import Client
from scipy.stats import rankdata, spearmanr

from leaderboard.figures import benchmarks, item_rows
from leaderboard.models import Benchmark, Run
from tests.fakes import FAKE_CARD, FakeModel
from tests.leaderboard import factories as make
from tests.leaderboard.csv_rows import csv_rows

pytestmark = pytest.mark.django_db


def measured(on: Benchmark, name: str, every: int) -> Run:
    """A run of a model that knows every so many-th true statement."""
    true = [i.subject for r in benchmarks.read(on).relations for i in r.items if i.is_true]
    model = FakeModel(card=replace(FAKE_CARD, id=name), knows=frozenset(true[::every]))
    return make.probed(on, make.model(name), model, on.settings_with({}))


@pytest.fixture
def runs(graph: Benchmark) -> list[Run]:
    return [measured(graph, "org/half", 2), measured(graph, "org/third", 3), measured(graph, "org/tenth", 10)]


def address(runs: list[Run]) -> str:
    return "/compare/?" + "&".join(f"m={run.pk}" for run in runs)


def test_a_run_of_perplexity_offers_the_comparison(client: Client, runs: list[Run]) -> None:
    assert "Compare with another run" in client.get(f"/runs/{runs[0].pk}/").content.decode()


def test_runs_are_compared_by_their_superiority(client: Client, runs: list[Run]) -> None:
    page = client.get(address(runs))
    assert page.status_code == 200
    html = page.content.decode()
    assert "Probability of superiority" in html
    assert "Where the runs disagree" not in html
    rows = csv_rows(client, address(runs), "runs")
    for row, run in zip(rows, runs, strict=True):
        stored = run.scores.get(metric="superiority", dimension="overall")
        assert float(row["value"]) == pytest.approx(stored.value)
        assert float(row["low"]) == pytest.approx(stored.low)
        assert float(row["high"]) == pytest.approx(stored.high)
    assert float(rows[1]["difference"]) < 0
    assert float(rows[2]["p_holm"]) < 0.05


def test_the_ranks_of_sentences_are_shown_and_not_their_perplexities(client: Client, runs: list[Run]) -> None:
    columns = ["statement", "perplexity"]
    first, second = (item_rows.frame(run, columns) for run in runs[:2])
    (_, summary) = csv_rows(client, address(runs[:2]), "ranks")
    expected = spearmanr(first["perplexity"], second["perplexity"]).statistic
    assert float(summary["correlation"]) == pytest.approx(expected)
    sentences = csv_rows(client, address(runs[:2]), "sentences")
    assert "perplexity" not in sentences[0]
    places = dict(zip(first["statement"], (rankdata(first["perplexity"]) - 1) / (len(first) - 1), strict=True))
    assert all(float(row["first"]) == pytest.approx(places[row["statement"]]) for row in sentences)
    spreads = [float(row["spread"]) for row in sentences]
    assert spreads == sorted(spreads, reverse=True)


def test_no_number_of_the_comparison_changes_with_the_scale_of_the_perplexities(
    client: Client, graph: Benchmark, runs: list[Run]
) -> None:
    """As if the other model had another tokenizer: its perplexities are cubed, its order of sentences is the same."""
    scaled = item_rows.frame(runs[1], item_rows.names(runs[1]))
    same = make.stored_items(make.model("org/cubed"), graph, scaled.assign(perplexity=scaled["perplexity"] ** 3))
    shown = [csv_rows(client, address([runs[0], other]), "differences") for other in (runs[1], same)]
    for one, other in zip(*shown, strict=True):
        names = {"run": "", "name": ""}
        assert {**one, **names} == {**other, **names}
