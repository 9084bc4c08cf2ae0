"""The fold of a benchmark's page with the sizes that go with the scores of its models."""

from collections.abc import Sequence
from io import StringIO

import pandas as pd
import pytest
from django.test import Client

from leaderboard.models import Benchmark, Model, RunRank
from probing.analysis.size_equivalents import size_equivalents
from tests.leaderboard import factories as make
from tests.probing.analysis.test_size_equivalents import SCORES, SIZES

pytestmark = pytest.mark.django_db
TITLE = "Sizes that go with the scores"


def rank(on: Benchmark, scores: Sequence[float]) -> None:
    """Measure a model of each size beside a baseline, and rank it as the site does after its run."""
    make.baseline(on, 0.25)
    for place, (size, score) in enumerate(zip(SIZES, scores, strict=False)):
        run = make.finished(on, score, make.model(f"org/model-{place}", parameters=int(size)))
        figures = {"value": score, "low": 0.1, "high": 0.6}
        RunRank.objects.create(run=run, metric="accuracy", counted=100, n=100, **figures, best=1, worst=9, tie_group=1)


def table(client: Client, on: Benchmark) -> pd.DataFrame:
    content = client.get(f"{on.get_absolute_url()}?table=sizes&format=csv").content.decode()
    return pd.read_csv(StringIO(content)).set_index("model")


def test_each_model_has_the_size_of_others_that_know_as_much(client: Client) -> None:
    tiny = make.benchmark()
    rank(tiny, SCORES)
    assert TITLE in client.get(tiny.get_absolute_url()).content.decode()
    rows = table(client, tiny)
    for place, expected in enumerate(size_equivalents(SIZES, SCORES)):
        row = rows.loc[f"org/model-{place}"]
        assert expected
        assert row[["equivalent", "equivalent_low", "equivalent_high"]].tolist() == pytest.approx(expected, abs=1)
        assert row[["value", "low", "high", "n", "chance"]].tolist() == [SCORES[place], 0.1, 0.6, 100, 0.25]
    beaten = {"org/model-4"}  # 0.37 with 1.4 B, where 1 B has 0.38
    assert set(rows.index[rows["unbeaten"] == "yes"]) == set(rows.index) - beaten


def test_a_mixture_of_experts_has_the_parameters_of_each_token_as_well(client: Client) -> None:
    tiny = make.benchmark()
    rank(tiny, SCORES)
    page = client.get(tiny.get_absolute_url()).content.decode()
    assert 'data-column="active_parameters"' not in page, "no model has idle parameters"
    Model.objects.filter(hub_id="org/model-8").update(idle_parameters=27_000_000_000)
    Model.objects.filter(hub_id="org/model-7").update(idle_parameters=0)
    make.finished(tiny, 0.1)  # a change of figures, after which the page is made anew
    assert 'data-column="active_parameters"' in client.get(tiny.get_absolute_url()).content.decode()
    rows = table(client, tiny)
    assert rows.loc["org/model-8", "active_parameters"] == 3e9
    assert rows["unbeaten_active"].dropna().index.tolist() == ["org/model-8"], "of two that state them"
    Model.objects.update(idle_parameters=0)
    Model.objects.filter(hub_id="org/model-8").update(idle_parameters=29_000_000_000)
    make.finished(tiny, 0.1)
    rows = table(client, tiny)
    larger = rows.index[rows["active_parameters"] >= 1e9].drop("org/model-8")
    assert len(larger) > 2
    assert rows["unbeaten_active"].reindex(larger).isna().all(), "the best has 1 B for each token"
    assert (rows.loc[["org/model-8", *larger.drop("org/model-4")], "unbeaten"] == "yes").all()


def test_sizes_far_from_those_of_all_models_are_not_named(client: Client) -> None:
    tiny = make.benchmark()
    rank(tiny, [*SCORES[:-1], 0.8])
    content = client.get(f"{tiny.get_absolute_url()}?table=sizes").content.decode()
    assert "over 300 B" in content and "under 7 M" in content, "ten times the largest, a tenth of the smallest"
    named = table(client, tiny)[["equivalent", "equivalent_low", "equivalent_high"]].stack().dropna()
    assert named.between(7e6, 3e11).all()


@pytest.mark.parametrize("scores", [SCORES[:8], SCORES[::-1]])
def test_too_few_models_and_scores_that_do_not_rise_have_no_sizes(client: Client, scores: list[float]) -> None:
    tiny = make.benchmark()
    rank(tiny, scores)
    assert TITLE not in client.get(tiny.get_absolute_url()).content.decode()


def test_published_figures_and_models_of_unknown_size_are_not_on_the_line(client: Client) -> None:
    tiny = make.benchmark()
    rank(tiny, SCORES)
    before = table(client, tiny)
    make.published(tiny, 0.99)
    unknown = make.finished(tiny, 0.01, make.model("org/unknown", parameters=None))
    RunRank.objects.create(run=unknown, metric="accuracy", counted=100, n=100, value=0.01, best=9, worst=9, tie_group=2)
    pd.testing.assert_frame_equal(table(client, tiny), before)
