"""The simulation of the queue, on a small scale: what fair turns and lanes promise."""

from dataclasses import replace

import numpy as np
import pytest

from leaderboard.turns import in_turn
from speed import queue_simulation
from speed.queue_simulation import (
    Outcome,
    Submission,
    equal_shares,
    fairness,
    first_come,
    served_lanes,
    simulate,
    submissions,
    waits,
)

RUNS = submissions(200)
ONE_LINE = [replace(run, lane="default") for run in RUNS]


@pytest.mark.parametrize("workers", [1, 2, 4, 16])
def test_every_run_is_begun_once_and_never_before_its_submission(workers: int) -> None:
    outcome = simulate(RUNS, served_lanes(workers), in_turn)
    assert set(outcome.begun) == {run.number for run in RUNS}
    assert all(outcome.begun[run.number] >= run.time for run in RUNS)


@pytest.mark.parametrize("workers", [1, 2, 4, 16])
def test_no_worker_is_idle_while_work_of_its_lanes_waits(workers: int) -> None:
    assert simulate(RUNS, served_lanes(workers), in_turn).idle_beside_work == 0


@pytest.mark.parametrize("workers", [1, 2, 4])
def test_a_light_submitter_waits_at_most_a_third_as_long_as_in_one_line(workers: int) -> None:
    fair = simulate(ONE_LINE, [("default",)] * workers, in_turn)
    plain = simulate(ONE_LINE, [("default",)] * workers, first_come)
    for quantile in (0.5, 0.9):
        fair_wait, plain_wait = (np.quantile(waits(RUNS, outcome, "light"), quantile) for outcome in (fair, plain))
        assert fair_wait < plain_wait / 3


def test_a_light_submitter_waits_for_no_more_than_one_run_of_each_other_submitter() -> None:
    flood = [Submission(number, "flood", "flood", 0, 100, "default") for number in range(50)]
    others = [Submission(100 + number, "regular", f"r{number}", 1, 100, "default") for number in range(3)]
    light = Submission(999, "light", "light", 2, 100, "default")
    outcome = simulate([*flood, *others, light], [("default",)], in_turn)
    assert outcome.begun[light.number] == 400, "behind the run that was going on and one of each of the three others"


def test_large_models_never_delay_small_ones_where_a_worker_takes_only_small_ones() -> None:
    small = [run for run in RUNS if run.lane == "default"]
    alone = simulate(small, [("default",)], in_turn)
    beside = simulate(RUNS, [("default",), ("large",)], in_turn)
    assert {run.number: beside.begun[run.number] for run in small} == alone.begun


def test_all_workers_together_do_the_same_work_in_either_order() -> None:
    ends = [simulate(ONE_LINE, [("default",)], order).end for order in (in_turn, first_come)]
    assert ends[0] == pytest.approx(ends[1], rel=1e-9)


def test_fair_turns_share_the_workers_more_equally() -> None:
    fair, plain = (simulate(ONE_LINE, [("default",)] * 4, order) for order in (in_turn, first_come))
    assert fairness(ONE_LINE, fair, 4) > fairness(ONE_LINE, plain, 4)


def test_fairness_is_one_where_everybody_has_the_same() -> None:
    runs = [Submission(number, "light", f"{number}", 0, 10, "default") for number in range(4)]
    together = Outcome(begun=dict.fromkeys(range(4), 0.0), end=10)
    assert fairness(runs, together, 4) == pytest.approx(1)


def test_shares_are_equal_unless_somebody_wants_less() -> None:
    assert equal_shares([5, 1, 0, 9], 7) == [3, 1, 0, 3]
    assert equal_shares([5, 5], 1) == [0.5, 0.5]


def test_the_table_has_a_row_for_each_number_of_workers(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sys.argv", ["simulation", "--submissions", "50"])
    assert queue_simulation.main() == 0
    rows = [line for line in capsys.readouterr().out.splitlines() if line.startswith("|")]
    assert len(rows) == 2 + len(queue_simulation.WORKERS)
    assert len({row.count("|") for row in rows}) == 1
