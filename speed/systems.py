"""The systems that score the same workload on the same network: this project and the peer library."""

from dataclasses import dataclass, replace
from typing import Any, NamedTuple, Protocol

import numpy as np
import torch
from lm_pub_quiz import Evaluator
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


class System(Protocol):
    @property
    def name(self) -> str: ...

    def __call__(self, workload: Workload) -> list[OptionScores]: ...

    def observe(self, workload: Workload) -> Observation: ...


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


@dataclass(frozen=True)
class Peer:
    name: str
    evaluator: Evaluator
    batch_size: int

    def __call__(self, workload: Workload) -> list[OptionScores]:
        item_scores = [
            self.evaluator.score_answers(
                template=item.template,
                subject=item.subject,
                answers=item.options,
                reduction="sum",
                batch_size=self.batch_size,
            )
            for item in workload
        ]
        return [OptionScores(np.array(scores), np.ones(len(scores), bool)) for scores in item_scores]

    def observe(self, workload: Workload) -> Observation:
        positions = padding = 0

        def count(module: torch.nn.Module, args: Any, inputs: dict[str, torch.Tensor]) -> None:
            nonlocal positions, padding
            positions += inputs["input_ids"].numel()
            padding += int((inputs["attention_mask"] == 0).sum())

        hook = self.evaluator.model.register_forward_pre_hook(count, with_kwargs=True)
        try:
            return Observation(self(workload), positions, padding)
        finally:
            hook.remove()
