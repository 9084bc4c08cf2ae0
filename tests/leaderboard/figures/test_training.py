"""Series of runs over the steps of a training, and the lists in which a training stands once."""

from django.test import Client
from pytest_django import DjangoAssertNumQueries

from leaderboard.figures.ranks import refresh_standings
from leaderboard.figures.training import read_points, series_of, with_points
from leaderboard.models import Benchmark, Run, RunRank
from leaderboard.pages.training_page import headline
from leaderboard.ui import spelled
from tests.leaderboard import factories as make
from tests.leaderboard.csv_rows import csv_rows

DIGEST = "5" * 64


def training(on: Benchmark, values: dict[int, float], hub_id: str = "org/name") -> list[Run]:
    return [
        make.finished(on, value, make.model(hub_id, step=step), settings_digest=DIGEST)
        for step, value in values.items()
    ]


def test_lists_of_models_have_the_last_step_of_a_training_once(client: Client, small: Benchmark) -> None:
    *_, last = training(small, {0: 0.2, 1000: 0.6, 8000: 0.5, 143000: 0.4})
    other = make.finished(small, 0.3, make.model("org/other"))
    runs = {int(row["run"]): row for row in csv_rows(client, "/benchmarks/small/")}
    assert {last.pk, other.pk} == {pk for pk, row in runs.items() if row["model"] in ("org/name", "org/other")}
    assert runs[last.pk]["settings"] == "step 143,000 and 3 earlier steps"
    assert 'href="/models/org/name/training/"' in client.get("/benchmarks/small/").content.decode()
    (row,) = [row for row in csv_rows(client, "/") if row["hub_id"] == "org/name"]
    assert float(row["small"]) == 0.4


def test_a_step_that_was_measured_in_another_way_or_by_others_stays(small: Benchmark) -> None:
    first, last = training(small, {0: 0.2, 1000: 0.3})
    others = [
        make.finished(small, 0.4, make.model("org/name", step=10), settings_digest="6" * 64),
        make.finished(small, 0.4, make.model("org/name", step=20), settings_digest=DIGEST, reference="Somebody"),
        make.finished(small, 0.4, make.model("org/name"), settings_digest=DIGEST),
        make.finished(make.benchmark("other"), 0.4, make.model("org/name", step=30), settings_digest=DIGEST),
    ]
    kept = set(Run.objects.newest_steps())
    assert kept == {last, *others}
    counted = Run.objects.with_earlier_steps().filter(pk__in=[first.pk, last.pk])
    assert {run.pk: run.earlier_in_words for run in counted} == {first.pk: "", last.pk: "and 1 earlier step"}


def test_only_the_last_step_of_a_training_is_ranked(small: Benchmark) -> None:
    runs = [make.measured(small, make.model("org/name", step=step), skill=step) for step in (1, 2)]
    for run in runs:
        run.settings_digest = DIGEST
        run.save()
    single = make.measured(small, make.model("org/other"), skill=4, seed=1)
    make.restore_figures(small)
    refresh_standings(small)
    assert set(RunRank.objects.values_list("run", flat=True)) == {runs[-1].pk, single.pk}
    assert all(run.relation_outcomes.exists() for run in runs)


def test_a_run_is_ranked_no_longer_once_a_later_step_has_finished(small: Benchmark) -> None:
    first = make.measured(small, make.model("org/name", step=1), skill=1)
    Run.objects.filter(pk=first.pk).update(settings_digest=DIGEST)
    make.restore_figures(small)
    refresh_standings(small)
    assert RunRank.objects.filter(run=first).exists()
    later = make.measured(small, make.model("org/name", step=2), skill=2)
    Run.objects.filter(pk=later.pk).update(settings_digest=DIGEST)
    make.restore_figures(small)
    refresh_standings(small)
    assert not RunRank.objects.filter(run=first).exists()


def test_of_two_runs_at_one_step_a_series_has_the_newest(small: Benchmark) -> None:
    first, old, new = (make.finished(small, 0.3, make.model("org/name", step=step)) for step in (5, 7, 7))
    Run.objects.update(settings_digest=DIGEST)
    (series,) = series_of(Run.objects.filter(pk__in=[first.pk, old.pk, new.pk]).select_related("model", "benchmark"))
    assert series.runs == (first, new)


def test_a_sentence_says_where_a_score_begins_and_ends(small: Benchmark) -> None:
    (series,) = series_of(training(small, {0: 0.6, 10: 0.9, 20: 0.2}))
    points = with_points(series, "", read_points([series], series, "")[series]).points
    first, last = (spelled.uncertainty(point.value, point.score.low, point.score.high) for point in points[::2])
    assert headline("accuracy", points) == f"Accuracy: 0.600 {first} at step 0 and 0.200 {last} at step 20."
    assert headline("accuracy", points[:1]) == ""


def test_the_page_of_a_model_has_one_row_for_a_training(client: Client, small: Benchmark) -> None:
    runs = training(small, {step: 0.3 + step / 1000 for step in range(30)})
    response = client.get("/models/org/name/")
    text = " ".join(response.content.decode().split())
    assert '<a class="number" href="/models/org/name/training/?benchmark=small">30 points to 29</a>' in text
    assert len(response.context["runs"]) == 1
    shown = {version.pk for version in response.context["versions"]} - response.context["earlier_models"]
    assert shown == {runs[-1].model_id}
    assert {row["run"] for row in csv_rows(client, "/models/org/name/")} == {str(run.pk) for run in runs}
    (profile,) = csv_rows(client, "/models/org/name/", "profile")
    assert profile["run"] == str(runs[-1].pk)


def test_the_page_of_a_model_names_a_few_of_many_waiting_steps(client: Client, small: Benchmark) -> None:
    for step in range(25):
        make.run(make.model("org/name", step=step), small)
    text = " ".join(client.get("/models/org/name/").content.decode().split())
    assert "and 15 more." in text


def test_each_run_of_a_series_leads_to_it_and_a_single_one_does_not(
    client: Client, small: Benchmark, django_assert_max_num_queries: DjangoAssertNumQueries
) -> None:
    first, last = training(small, {0: 0.2, 1000: 0.3})
    single = make.finished(small, 0.3, make.model("org/other", step=5))
    for run in (first, last):
        with django_assert_max_num_queries(12):
            assert "/models/org/name/training/?benchmark=small" in client.get(f"/runs/{run.pk}/").content.decode()
    assert "/training/" not in client.get(f"/runs/{single.pk}/").content.decode()
