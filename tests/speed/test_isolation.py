"""The cost of a measuring process beside the measuring itself."""

import time
from collections.abc import Callable
from pathlib import Path

import pandas as pd
import pytest

from probing.measuring import sandbox
from probing.plan import Part
from probing.results.joining import PartResult
from speed import isolation
from speed.isolation import Cost, cost, measured, report, started, starts, task_of
from tests.tiny_models import build_gpt2


@pytest.mark.slow
@pytest.mark.skipif(bool(sandbox.problem()), reason=f"no isolation: {sandbox.problem()}")
def test_parts_are_measured_in_an_isolated_process(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(isolation, "LEAST", 2)
    monkeypatch.setattr(isolation, "PARTS", 1)
    task = task_of(build_gpt2(tmp_path / "model"))
    with started(task) as process:
        costs = measured(process.measure, task, seconds=0)
    assert len(costs) == 2 and all(cost.scoring > 0 and cost.beside > 0 for cost in costs)
    isolated, plain = starts(task, count=1)
    assert isolated[0] > 0 and plain[0] > 0


def test_the_watching_during_the_scoring_is_counted_beside_what_follows_it() -> None:
    def measure(part: Part, on_share: Callable[[float], None]) -> PartResult:
        be_busy(0.05)
        on_share(1)
        be_busy(0.03)
        return PartResult(pd.DataFrame(), {"timing": {"score_seconds": 0.05}})

    assert 0.08 <= cost(measure, Part("first", 0, 2)).beside < 0.5


def be_busy(seconds: float) -> None:
    begin = time.process_time()
    while time.process_time() - begin < seconds:
        pass


def test_the_exit_code_tells_whether_a_limit_is_missed(capsys: pytest.CaptureFixture[str]) -> None:
    cheap, dear = [Cost(10.0, 0.1), Cost(20.0, 0.2)], [Cost(10.0, 0.3), Cost(20.0, 0.5)]
    assert report(cheap, [4.0, 9.0, 3.0], [2.5]) == 0
    out = capsys.readouterr().out
    assert "beside scoring: 1.00% of its time (quartiles 1.00% to 1.00%), at most 2%" in out
    assert "starting costs 1.50 s, at most 3 s" in out
    assert report(dear, [4.0], [2.5]) == 1
    assert report(cheap, [5.6], [2.5]) == 1
