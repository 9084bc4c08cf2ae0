"""The figures of one comparison, from measurements that are given."""

from typing import Any

import numpy as np
import pytest

from speed.comparison import Measurement, _against, _costs
from speed.lower_bounds import LowerBounds
from speed.systems import Observation, OptionScores
from speed.work import ChoiceItem, Workload

WORK = Workload("starter", (), (ChoiceItem("[X] is in [Y].", "Chad", ("Asia", "Africa"), 1),) * 5)


class Named:
    """A system of which only the name is needed."""

    def __init__(self, name: str) -> None:
        self.name = name


def measurement(name: str, seconds: list[float], scores: tuple[float, float] = (-1.0, -2.0)) -> Measurement:
    observed = [OptionScores(np.array(scores), np.array([True, True]))]
    system: Any = Named(name)
    return Measurement(system, Observation(observed, positions=80, padding=20), 6.0, seconds, 1024)


def test_costs_are_relative_to_the_bounds_and_to_the_median_time() -> None:
    costs = _costs(measurement("full", [1.0, 2.0, 9.0]), WORK, LowerBounds(real=160, distinct=40), (6.0, 12.0))
    assert (costs["statements_per_second"], costs["positions"]) == (5.0, 80)
    assert (costs["of_real"], costs["of_distinct"], costs["padding"]) == (0.5, 2.0, 0.25)
    assert (costs["of_shapes_rate"], costs["of_square_rate"]) == (0.5, 0.25)


@pytest.mark.parametrize(("name", "required"), [("full", 5.0), ("decide", 12.0), ("peer", None)])
def test_a_system_is_held_against_the_peer(name: str, required: float | None) -> None:
    peer = measurement("peer", [10.0, 20.0], (-1.0, -2.5))
    own = peer if name == "peer" else measurement(name, [2.0, 5.0])
    row = _against(own, peer, "causal")
    assert row["must_be"] == required
    assert row["ratio"] == (1.0 if name == "peer" else 4.5)
    assert row["largest_difference"] == (0.0 if name == "peer" else 0.5)
    assert row["same_predictions"] == 1.0
