"""A finished run that is measured again: how much of it, and what is said of the differences."""

import logging
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
import pytest
from django.test import Client
from pytest_django.fixtures import Settings as SiteSettings

from leaderboard.intake import queue
from leaderboard.management.commands.remeasure import Differences, differences, measured_run, remeasure, sampled_parts
from leaderboard.models import Benchmark, Run
from probing.errors import BadInput
from tests.fakes import FakeModel
from tests.hub.local_hub import Hub
from tests.leaderboard import factories as make
from tests.leaderboard import in_process
from tests.leaderboard.in_process import submit, work_off
from tests.leaderboard.management.commands.output import output_of

pytestmark = pytest.mark.django_db(transaction=True)


class Otherwise(FakeModel):
    """A model that gives another prediction for every item, as the best option becomes the worst."""

    def score(self, requests: Any, scoring: Any) -> Any:
        for scored in super().score(requests, scoring):
            yield replace(scored, log_probs=tuple(-values - 50 for values in scored.log_probs))


@pytest.fixture(autouse=True)
def device(settings: SiteSettings) -> None:
    """Have the former device restored after each test, as the command changes it."""
    settings.DEVICE = "cpu"


@pytest.fixture
def finished(small: Benchmark, local_hub: Hub, monkeypatch: pytest.MonkeyPatch) -> Run:
    """A run that a worker has measured with a fake model."""
    monkeypatch.setattr(queue, "enqueue", lambda run_id, *more: True)
    run = submit("org/causal", small).run
    measure_with(monkeypatch, FakeModel())
    work_off(run)
    return Run.objects.get(pk=run.pk)


def measure_with(monkeypatch: pytest.MonkeyPatch, model: FakeModel) -> None:
    for module in ("leaderboard.worker.jobs", "leaderboard.management.commands.remeasure"):
        monkeypatch.setattr(f"{module}.MeasuringProcess", in_process.asking(model))


def test_the_same_model_gives_the_same_and_nothing_is_reported(finished: Run) -> None:
    compared = remeasure(finished, 10_000, "2026-11-23")
    assert compared == Differences(6, 0, 0, "cpu")
    assert not compared.is_alarm
    assert compared.in_words == "6 items on cpu: no prediction changed, the largest difference of a score is 0"
    assert not finished.events.filter(message__contains="other predictions").exists()


def test_other_predictions_are_reported_to_the_log_and_to_readers(
    finished: Run, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture, client: Client
) -> None:
    measure_with(monkeypatch, Otherwise())
    with caplog.at_level(logging.ERROR):
        compared = remeasure(finished, 10_000, "2026-11-23")
    assert compared.is_alarm and compared.changed > 0
    assert compared.largest is not None and compared.largest > 1
    assert f"Run {finished.pk} gave other predictions" in caplog.text
    assert "Measured again with other predictions" in client.get(finished.get_absolute_url()).content.decode()


def test_the_run_itself_stays_as_it_is(finished: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    scores = list(finished.scores.values())
    measure_with(monkeypatch, Otherwise())
    remeasure(finished, 10_000, "2026-11-23")
    again = Run.objects.get(pk=finished.pk)
    assert (again.state, again.artefact, list(again.scores.values())) == (finished.state, finished.artefact, scores)


def test_parts_are_taken_until_there_are_enough_items(finished: Run) -> None:
    assert len(sampled_parts(finished, 1, "a")) == 1
    assert len(sampled_parts(finished, 6, "a")) == 2
    chosen = {sampled_parts(finished, 1, f"seed {number}")[0].pk for number in range(20)}
    assert len(chosen) == 2
    assert remeasure(finished, 1, "a").items < 6


def test_only_finished_runs_that_were_measured_here_can_be_measured_again(finished: Run, small: Benchmark) -> None:
    others = [make.finished(small, provenance=Run.Provenance.ELSEWHERE), make.running(make.model(), small)]
    assert measured_run(finished.pk) == finished
    for number in (*(run.pk for run in others), finished.pk + 1000):
        with pytest.raises(BadInput, match="no such finished run"):
            measured_run(number)


def rows(scores: list[list[float]], predictions: list[int], **columns: Any) -> pd.DataFrame:
    index = range(len(scores))
    base = {"relation": "P30", "template": 0, "index": index, "prediction": predictions}
    return pd.DataFrame({**base, "scores": scores, **columns})


def test_the_largest_difference_and_the_changed_predictions_are_counted() -> None:
    first = rows([[-1.0, -2.0], [-3.0, -3.1]], [0, 0])
    again = rows([[-1.0, -2.25], [-3.125, -3.1]], [0, 1])
    assert differences(first, again, 1e-4) == Differences(2, 1, 0.25)


def test_bounds_in_place_of_scores_are_not_compared() -> None:
    first = rows([[-1.0, -2.0]], [0], exact=[[True, False]])
    again = rows([[-1.5, -9.0]], [0], exact=[[True, True]])
    assert differences(first, again, 1e-4) == Differences(1, 0, 0.5)


def test_without_predictions_an_item_changes_with_its_score() -> None:
    first = rows([[-1.0], [-2.0]], [0, 0]).drop(columns="prediction")
    again = rows([[-1.00005], [-2.5]], [0, 0]).drop(columns="prediction")
    assert differences(first, again, 1e-4) == Differences(2, 1, 0.5)


def test_an_item_that_only_one_measurement_has_counts_as_changed() -> None:
    first = rows([[-1.0, -2.0], [-1.0, -2.0]], [0, 0])
    assert differences(first, first.iloc[:1], 1e-4) == Differences(2, 1, 0)


def test_missing_scores_and_missing_predictions_are_equal() -> None:
    columns = {"relation": "P30", "template": 0, "index": [0], "prediction_label": [None], "fine_log_prob": [np.nan]}
    assert differences(pd.DataFrame(columns), pd.DataFrame(columns), 1e-4) == Differences(1, 0, None)


@pytest.mark.slow
def test_the_command_measures_with_the_real_model_and_says_what_came_out(
    small: Benchmark, local_hub: Hub, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(queue, "enqueue", lambda run_id, *more: True)
    run = submit("org/causal", small).run
    work_off(run)
    printed = output_of("remeasure", str(run.pk), "--items", "1", "--device", "cpu")
    assert f"Run {run.pk}, " in printed and "items on cpu: no prediction changed" in printed


def test_the_command_ends_with_an_error_at_an_alarm(finished: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    measure_with(monkeypatch, Otherwise())
    with pytest.raises(SystemExit, match="1"):
        output_of("remeasure", str(finished.pk))
