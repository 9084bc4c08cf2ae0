"""The comparison of a measuring process with a run in the same process."""

from pathlib import Path

import pytest

from probing.measuring import sandbox
from speed.isolation import Timing, compare, report, task_of
from tests.tiny_models import build_gpt2


@pytest.mark.skipif(bool(sandbox.problem()), reason=f"no isolation: {sandbox.problem()}")
def test_three_ways_measure_the_same_parts(tmp_path: Path) -> None:
    seconds, starts = compare(task_of(build_gpt2(tmp_path / "model")), rounds=1, count=1)
    assert set(seconds) == {"here", "bare", "isolated"}
    assert all(starts[name].ready > starts[name].load > 0 for name in ("bare", "isolated"))


def test_the_exit_code_tells_whether_a_limit_is_missed(capsys: pytest.CaptureFixture[str]) -> None:
    starts = {"isolated": Timing(3.0, 1.0), "bare": Timing(2.8, 1.0)}
    assert report({"here": [10.0, 10.0], "bare": [10.0, 10.0], "isolated": [10.1, 10.1]}, starts) == 0
    assert "isolation adds 0.20 s" in capsys.readouterr().out
    assert report({"here": [10.0], "bare": [10.0], "isolated": [10.3]}, starts) == 1
    assert report({"here": [10.0], "bare": [10.0], "isolated": [10.0]}, starts | {"isolated": Timing(9.0, 1.0)}) == 1
