"""The comparison of a measuring process with a run in the same process."""

from pathlib import Path

import pytest

from probing.measuring import sandbox
from probing.probes.parts import Part
from speed import isolation
from speed.isolation import Cost, Way, compare, in_turns, report, starts, task_of
from tests.tiny_models import build_gpt2

PARTS = [Part("first", 0, 2), Part("second", 0, 1)]


@pytest.mark.skipif(bool(sandbox.problem()), reason=f"no isolation: {sandbox.problem()}")
def test_three_ways_measure_the_same_parts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(isolation, "LEAST", 1)
    task = task_of(build_gpt2(tmp_path / "model"))
    costs = compare(task, seconds=0, count=1)
    assert {name: len(own) for name, own in costs.items()} == {"here": 1, "bare": 1, "isolated": 1}
    assert all(own[0].clock > 0 for own in costs.values())
    assert len(starts(task, count=1)) == 1


def test_every_way_is_the_first_one_in_its_turn() -> None:
    order: list[str] = []
    ways = {name: Way(lambda part, name=name: order.append(f"{name} {part.relation}"), lambda: 0.0) for name in "abc"}
    costs = in_turns(ways, PARTS, seconds=0)
    assert order[:3] == ["a first", "b first", "c first"], "each process measures once in advance"
    assert order[3:9] == ["b first", "c first", "a first", "c second", "a second", "b second"]
    assert {len(own) for own in costs.values()} == {isolation.LEAST}


def test_the_exit_code_tells_whether_a_limit_is_missed(capsys: pytest.CaptureFixture[str]) -> None:
    quick = {"isolated": [1.9, 2.0, 9.0], "bare": [1.8]}
    equal = {name: [Cost(10.0, 10.0), Cost(20.0, 18.0)] for name in ("here", "bare")}
    assert report(equal | {"isolated": [Cost(10.1, 10.0), Cost(20.2, 18.0)]}, quick) == 0
    out = capsys.readouterr().out
    assert "isolated / here, clock: median 1.010, quartiles 1.010 to 1.010" in out
    assert "isolated: starts in 2.00 s (1.90 to 9.00), beside loading" in out
    assert report(equal | {"isolated": [Cost(10.3, 10.0), Cost(20.6, 18.0)]}, quick) == 1
    assert report(equal | {"isolated": equal["here"]}, quick | {"isolated": [3.1]}) == 1
