"""The time left, replayed on recorded runs of SmolLM2-135M and of a small BERT: right within 30 % from a quarter on.

A recording is the work that each step did and the processor time that it took, on one thread.
"""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from probing.time_left import Pace, Step

RUNS: dict[str, Any] = json.loads(Path(__file__).with_name("recorded_runs.json").read_text(encoding="utf-8"))["runs"]


def steps_of(run: Mapping[str, Any]) -> list[Step]:
    columns = (map(float, run["steps"][name].split()) for name in Step._fields)
    return [Step(*values) for values in zip(*columns, strict=True)]


def errors(steps: Sequence[Step]) -> list[float]:
    """The relative errors of the whole time as estimated after each step; what is estimated as too long is positive."""
    whole, elapsed, left, pace = sum(step.seconds for step in steps), 0.0, sum(step.work for step in steps), Pace()
    relative = []
    for step in steps:
        pace.add(*step)
        elapsed, left = elapsed + step.seconds, left - step.work
        seconds_left = left / pace.rate if pace.rate else float("inf")
        if elapsed >= whole / 4:
            relative.append((elapsed + seconds_left) / whole - 1)
    return relative


def test_there_are_eighteen_recorded_runs() -> None:
    assert len(RUNS) == 18


@pytest.mark.parametrize("name", RUNS)
def test_the_time_left_of_a_recorded_run_is_near(name: str) -> None:
    assert max(map(abs, errors(steps_of(RUNS[name])))) < 0.3


def test_work_that_was_taken_for_more_than_it_is_makes_the_time_too_short_at_first() -> None:
    assert errors([Step(1, 0.5)] * 500 + [Step(1, 1.5)] * 500)[0] < -0.4
