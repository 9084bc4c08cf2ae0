"""This project's two systems in this process: full scoring, and scoring with early decision."""

from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from probing.language_model import Scoring, fitting
from probing.scoring.hf_model import HFModel
from speed.work import Workload


class OptionScores(NamedTuple):
    """Scores of one item's options. Those that are not `exact` are upper bounds."""

    scores: NDArray[np.float64]
    exact: NDArray[np.bool_]


class Observation(NamedTuple):
    """Scores of a workload, and the token positions that the network computed for them, padding included."""

    scores: list[OptionScores]
    positions: int
    padding: int


@dataclass(frozen=True)
class Ours:
    name: str
    model: HFModel
    decide: int = 0

    def __call__(self, workload: Workload) -> list[OptionScores]:
        answers = self.model.score((item.request for item in workload), Scoring(decide=self.decide))
        return [OptionScores(answer.reduce(), answer.exact) for answer in map(fitting, answers)]

    def observe(self, workload: Workload) -> Observation:
        before = replace(self.model.usage)
        scores, usage = self(workload), self.model.usage
        return Observation(scores, usage.positions - before.positions, usage.padding - before.padding)
