"""/models/<org>/<name>/training/ : what a model knows at several steps of its training."""

import re
from typing import Any

import pytest
from django.test import Client
from pytest_django import DjangoAssertNumQueries

from leaderboard.figures.outcomes import store_outcomes
from leaderboard.models import Benchmark, Model, Run, Score
from tests.leaderboard import factories as make
from tests.leaderboard.csv_rows import csv_rows
from tests.leaderboard.pages.html_table import Tables
from tests.leaderboard.pages.test_every_page import same

ADDRESS = "/models/org/name/training/"
STEPS = (0, 1000, 8000, 143000)
VALUES = (0.2, 0.21, 0.4, 0.44)
DIGEST = "5" * 64


def point(on: Benchmark, step: int, value: float, hub_id: str = "org/name", **fields: Any) -> Run:
    """A finished run at a step of a training."""
    tokens = step * 2_000_000
    of = Model.objects.filter(hub_id=hub_id, step=step).first()
    of = of or make.model(hub_id, step=step, tokens=tokens, revision=f"step{step}")
    return make.finished(on, value, of, **{"settings_digest": DIGEST, **fields})


def training(on: Benchmark, values: tuple[float, ...] = VALUES, hub_id: str = "org/name", **fields: Any) -> list[Run]:
    return [point(on, step, value, hub_id, **fields) for step, value in zip(STEPS, values, strict=True)]


def add_groups(runs: list[Run], scores: dict[str, tuple[float, ...]]) -> None:
    for place, run in enumerate(runs):
        for group, values in scores.items():
            make.score(run, values[place], "domain", group, 50)


def page(client: Client, query: str = "") -> str:
    response = client.get(f"{ADDRESS}?{query}")
    assert response.status_code == 200
    return " ".join(response.content.decode().split())


@pytest.fixture
def series(small: Benchmark) -> list[Run]:
    return training(small)


@pytest.fixture
def answered(small: Benchmark) -> list[Run]:
    """Two points of a training with all their answers."""
    runs = []
    for step, skill in ((0, -3), (1000, 6)):
        run = make.measured(small, make.model("org/name", step=step, revision=f"step{step}"), skill, seed=step + 1)
        run.settings_digest = DIGEST
        run.save()
        store_outcomes(run, make.stored_rows(run))
        runs.append(run)
    return runs


def test_the_page_begins_with_a_sentence_on_the_whole_training(client: Client, series: list[Run]) -> None:
    html = page(client)
    assert "Accuracy: 0.200 " in html and " at step 0 and 0.440 " in html and " at step 143,000." in html


def test_the_points_are_the_same_on_the_page_in_csv_and_in_the_api(client: Client, series: list[Run]) -> None:
    rows = csv_rows(client, ADDRESS)
    assert [(int(row["step"]), float(row["score"])) for row in rows] == list(zip(STEPS, VALUES, strict=True))
    assert [int(row["run"]) for row in rows] == [run.pk for run in series]
    assert [float(row["percent"]) for row in rows] == pytest.approx([100, 105, 200, 220])
    head, *lines = Tables(client.get(ADDRESS).content.decode()).found["points"]
    for line, row in zip(lines, rows, strict=True):
        assert [
            name for name, text in zip(head, line, strict=True) if name != "tokens" and not same(text, row[name])
        ] == []


def test_points_of_the_chart_lead_to_their_runs(client: Client, series: list[Run]) -> None:
    (line,) = client.get(ADDRESS).context["charts"]["points"].figure.data
    assert line["customdata"] == [run.get_absolute_url() for run in series]
    assert line["x"] == list(STEPS)


def test_one_point_is_no_series_and_the_page_says_so(client: Client, small: Benchmark) -> None:
    point(small, 1000, 0.3)
    response = client.get(ADDRESS)
    assert response.status_code == 404
    assert "has no results at two different steps of its training" in response.content.decode()
    assert client.get("/models/org/name/").content.decode().count("/training/") == 0


def test_runs_with_other_settings_make_no_series_together(client: Client, small: Benchmark) -> None:
    point(small, 0, 0.3)
    point(small, 1000, 0.4, settings_digest="6" * 64)
    assert client.get(ADDRESS).status_code == 404


def test_points_from_here_and_from_elsewhere_never_share_a_curve(client: Client, small: Benchmark) -> None:
    training(small)
    third = {"provenance": Run.Provenance.ELSEWHERE, "reference": "Somebody", "settings_digest": "7" * 64}
    training(small, (0.1, 0.2, 0.3, 0.35), **third)
    measured, uploaded = client.get(ADDRESS).context["charts"]["points"].figure.data
    assert (measured["marker"]["symbol"], uploaded["marker"]["symbol"]) == ("triangle-up", "triangle-down-open")
    assert (measured["y"], uploaded["y"]) == (list(VALUES), [0.1, 0.2, 0.3, 0.35])
    assert [row["provenance"] for row in csv_rows(client, ADDRESS)] == 4 * ["measured here"] + 4 * [
        "measured elsewhere: Somebody"
    ]


def test_curves_can_be_drawn_over_tokens(client: Client, series: list[Run]) -> None:
    chart = client.get(f"{ADDRESS}?x=tokens").context["charts"]["points"]
    assert chart.figure.data[0]["x"] == [step * 2_000_000 for step in STEPS]
    assert chart.figure.layout["xaxis"]["title"]["text"] == "tokens read"


def test_tokens_are_offered_only_where_every_point_states_them(client: Client, series: list[Run]) -> None:
    assert "Over tokens read" in page(client)
    Model.objects.filter(step=8000).update(tokens=None)
    assert "Over tokens read" not in page(client)
    assert client.get(f"{ADDRESS}?x=tokens").context["charts"]["points"].figure.data[0]["x"] == list(STEPS)


def test_curves_can_be_relative_to_the_first_point(client: Client, series: list[Run]) -> None:
    (line,) = client.get(f"{ADDRESS}?relative=1").context["charts"]["points"].figure.data
    assert line["y"] == pytest.approx([100, 105, 200, 220])


def test_groups_have_curves_and_those_that_changed_most_come_first(client: Client, series: list[Run]) -> None:
    add_groups(series, {"Movies": (0.1, 0.2, 0.5, 0.7), "Sports": (0.3, 0.3, 0.3, 0.2)})
    rows = csv_rows(client, ADDRESS, "curves")
    assert list(dict.fromkeys(row["group"] for row in rows)) == ["Movies", "Arts", "Sports"]
    assert "Movies changes most: 0.100" in page(client)
    curves = client.get(ADDRESS).context["charts"]["curves"].figure.data
    assert [line["name"] for line in curves] == ["Movies", "Arts", "Sports"]


def test_a_reader_can_choose_another_breakdown(client: Client, series: list[Run]) -> None:
    for run in series:
        make.score(run, 0.3, "relation", "P36", 40)
    assert {row["group"] for row in csv_rows(client, f"{ADDRESS}?by=relation", "curves")} == {"P30", "P36"}


def test_two_points_lead_to_the_comparison_of_their_answers(client: Client, answered: list[Run]) -> None:
    html = page(client)
    form = html[html.index('action="/compare/"') :]
    chosen = [int(number) for number in re.findall(r'<option value="(\d+)"', form[: form.index("</form>")])]
    assert chosen == 2 * [run.pk for run in answered]
    before, after = answered
    rows = csv_rows(client, f"/compare/?m={before.pk}&m={after.pk}", "disagreements")
    assert rows and {row["right"] for row in rows} <= {"first", "second"}


def test_points_without_stored_answers_lead_to_no_comparison(client: Client, series: list[Run]) -> None:
    assert "Learned and forgotten" not in page(client)


def test_the_benchmark_can_be_chosen(client: Client, series: list[Run]) -> None:
    training(make.benchmark("other"), (0.5, 0.4, 0.3, 0.2))
    assert 'href="?benchmark=other"' in page(client)
    assert "Accuracy: 0.500" in page(client, "benchmark=other")


def test_one_chart_has_all_benchmarks_relative_to_the_first_point_of_each(client: Client, series: list[Run]) -> None:
    assert "On every benchmark" not in page(client)
    other = make.benchmark("other")
    training(other, (0.5, 0.4, 0.3, 0.25))
    rows = csv_rows(client, ADDRESS, "benchmarks")
    last = {row["benchmark"]: row for row in rows if row["step"] == "143000"}
    assert float(last["small"]["percent"]) == pytest.approx(220)
    assert float(last["other"]["percent"]) == pytest.approx(50)
    assert "The last point has, of the first score:" in page(client)
    lines = client.get(ADDRESS).context["charts"]["benchmarks"].figure.data
    assert sorted(line["y"][-1] for line in lines) == pytest.approx([50, 220])
    assert len(csv_rows(client, ADDRESS, "benchmarks")) == 2 * len(STEPS)


def test_two_hundred_points_take_few_queries_and_a_small_page(
    client: Client, small: Benchmark, django_assert_max_num_queries: DjangoAssertNumQueries
) -> None:
    steps = range(0, 200_000, 1000)
    models = Model.objects.bulk_create(
        Model(hub_id=hub_id, commit=f"{hub_id}{step}", step=step, tokens=step)
        for step in steps
        for hub_id in ("org/name", "org/b")
    )
    runs = Run.objects.bulk_create(
        Run(model=of, benchmark=small, state=Run.State.FINISHED, settings_digest=DIGEST) for of in models
    )
    Score.objects.bulk_create(
        Score(run=run, metric="accuracy", dimension=dimension, group=group, value=0.3, n=100, low=0.2, high=0.4)
        for run in runs
        for dimension, group in [("overall", "all"), *(("domain", name) for name in "ABCDEFGHI")]
    )
    with django_assert_max_num_queries(12):
        response = client.get(ADDRESS)
    assert len(response.content) < 300_000
    assert len(re.findall("data-chart=", response.content.decode())) == 2
