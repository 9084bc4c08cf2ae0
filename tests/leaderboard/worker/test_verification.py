"""Spot re-measurement of parts that came from elsewhere."""

from collections.abc import Callable
from contextlib import nullcontext
from types import SimpleNamespace
from typing import Any

import numpy as np
import pandas as pd
import pytest
from pytest_django.fixtures import Settings as SiteSettings

from leaderboard.figures import artefacts, benchmarks
from leaderboard.intake import queue, tokens
from leaderboard.intake.submissions import submit
from leaderboard.models import Benchmark, Run, RunPart, WorkerToken
from leaderboard.worker import jobs
from leaderboard.worker.jobs import measure_again
from leaderboard.worker.lease import Ended, LeasedPart
from leaderboard.worker.verification import TOLERANCES, ResultsDiffer, difference, parts_to_verify, verify
from probing.measuring.failures import Crashed
from probing.part_runner import probe_part
from probing.plan import Part, plan_of
from probing.settings import Settings
from tests.fakes import FakeModel
from tests.hub.local_hub import Hub

pytestmark = pytest.mark.django_db


def measured(part: RunPart) -> pd.DataFrame:
    """What a trusted worker gets for a part."""
    settings = Settings.from_json(part.run.settings)
    content = benchmarks.read(part.run.benchmark)
    return probe_part(FakeModel(), plan_of(content, settings), part.covered).rows


@pytest.fixture
def run(small: Benchmark, local_hub: Hub, monkeypatch: pytest.MonkeyPatch) -> Run:
    """A run whose two parts came from the untrusted token `lab`."""
    monkeypatch.setattr(queue, "enqueue", lambda run_id, *more: True)
    run = submit("org/causal", small).run
    tokens.create("lab")
    run.parts.update(done=True, worker="lab/host-1", token=WorkerToken.objects.get(name="lab"), attempts=1)
    for part in run.parts.all():
        artefacts.store_part(part, measured(part))
    return run


def test_nothing_is_measured_again_unless_the_operator_asks_for_it(run: Run) -> None:
    verify(run, lambda part: pytest.fail("measured"))
    assert not run.parts.filter(verified=True).exists()


@pytest.mark.parametrize(("share", "count"), [(0.01, 1), (0.5, 1), (0.51, 2), (1, 2)])
def test_a_share_of_the_parts_and_at_least_one_is_measured_again(
    run: Run, settings: SiteSettings, share: float, count: int
) -> None:
    settings.VERIFY_SHARE = share
    verify(run, measured)
    assert run.parts.filter(verified=True).count() == count


def test_the_draw_is_always_the_same_and_not_known_outside(run: Run, settings: SiteSettings) -> None:
    settings.VERIFY_SHARE = 0.5
    assert parts_to_verify(run) == parts_to_verify(run)
    draws = set()
    for number in range(20):
        settings.SECRET_KEY = f"key {number}"
        draws.add(parts_to_verify(run)[0].pk)
    assert len(draws) == 2


def test_a_part_that_was_measured_again_is_not_measured_a_third_time(run: Run, settings: SiteSettings) -> None:
    settings.VERIFY_SHARE = 1
    verify(run, measured)
    verify(run, lambda part: pytest.fail("measured"))


def test_parts_of_a_trusted_token_and_of_this_site_are_believed(run: Run, settings: SiteSettings) -> None:
    settings.VERIFY_SHARE = 1
    WorkerToken.objects.update(trusted=True)
    assert parts_to_verify(run) == []
    run.parts.update(token=None)
    assert parts_to_verify(run) == []


def better(rows: pd.DataFrame) -> pd.DataFrame:
    """The rows of a worker that makes its model look good."""
    return rows.assign(scores=[[*np.full(len(scores), -9.0)] for scores in rows["scores"]])


def test_invented_rows_revoke_the_token_and_free_its_parts(run: Run, settings: SiteSettings) -> None:
    settings.VERIFY_SHARE = 0.5
    for part in run.parts.all():
        artefacts.store_part(part, better(measured(part)))
    with pytest.raises(ResultsDiffer, match=r"another 'scores' than the worker lab/host-1 had sent.*lab is revoked"):
        verify(run, measured)
    assert WorkerToken.objects.get().revoked
    assert list(run.parts.values_list("done", "attempts", "token", "worker")) == [(False, 0, None, "")] * 2


def cell(column: str, change: Callable[[object], object]) -> Callable[[pd.DataFrame], pd.DataFrame]:
    return lambda rows: rows.assign(**{column: [change(value) for value in rows[column]]})


def test_numbers_may_differ_within_the_tolerance_of_their_format(run: Run) -> None:
    rows = measured(run.parts.first())
    for shift, dtype, result in [(5e-5, "float32", ""), (5e-3, "float32", "scores"), (5e-3, "float16", "")]:
        other = cell("scores", lambda scores, shift=shift: [score - shift for score in scores])(rows)
        assert difference(rows, other, TOLERANCES[dtype]) == result


def test_a_prediction_may_differ_only_between_options_that_are_as_good(run: Run) -> None:
    rows = measured(run.parts.first())
    first, second = (rows.iloc[:1].assign(scores=[[-1.0, -1.00001, -9.0]], prediction=[number]) for number in (0, 1))
    assert difference(first, second.assign(correct=~first["correct"]), TOLERANCES["float32"]) == ""
    assert difference(first, first.assign(prediction=[2]), TOLERANCES["float32"]) == "prediction"


def test_other_texts_and_other_columns_are_differences(run: Run) -> None:
    rows = measured(run.parts.first())
    assert difference(rows, rows.assign(prediction_label="Mars"), TOLERANCES["float32"]) == "prediction_label"
    assert difference(rows, rows.drop(columns="margin"), TOLERANCES["float32"]) == "columns"
    assert difference(rows, rows.iloc[1:], TOLERANCES["float32"]) == "columns"


@pytest.mark.parametrize(("crashes", "verified"), [(2, True), (3, False)])
def test_a_process_that_is_lost_while_it_measures_again_is_replaced(
    run: Run, settings: SiteSettings, monkeypatch: pytest.MonkeyPatch, crashes: int, verified: bool
) -> None:
    settings.VERIFY_SHARE = 1
    lost: list[Part] = []

    class Process:
        def measure(self, part: Part, **_: Any) -> Any:
            if len(lost) < crashes:
                lost.append(part)
                raise Crashed.by(-9)
            return SimpleNamespace(rows=measured(run.parts.get(relation=part.relation, template=part.template)))

    monkeypatch.setattr(jobs, "loaded_model", lambda run, leased: nullcontext(Process()))
    with nullcontext() if verified else pytest.raises(Crashed):
        measure_again(run, LeasedPart())
    assert run.parts.filter(verified=True).exists() == verified


def test_no_part_of_a_cancelled_run_is_measured_again(run: Run, settings: SiteSettings) -> None:
    settings.VERIFY_SHARE = 1
    Run.objects.filter(pk=run.pk).update(state=Run.State.CANCELLED)
    with pytest.raises(Ended):
        measure_again(run, LeasedPart())
