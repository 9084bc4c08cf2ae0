"""The systems to score the same work: this project's, and the peer's, on the same network."""

from dataclasses import dataclass, replace
from typing import Any, NamedTuple, Protocol

import numpy as np
import torch
from lm_pub_quiz import Evaluator
from numpy.typing import NDArray

from probing.language_model import Scoring
from probing.scoring.hf_model import HFModel
from speed.work import Work


class Answer(NamedTuple):
    """The option scores of one question, and which of them are exact (the others are upper bounds)."""

    scores: NDArray[np.float64]
    exact: NDArray[np.bool_]


class Seen(NamedTuple):
    """What a system answers and the token positions that it lets the network compute, padding included."""

    answers: list[Answer]
    positions: int
    padding: int


class System(Protocol):
    name: str

    def __call__(self, work: Work) -> list[Answer]: ...

    def observe(self, work: Work) -> Seen: ...


@dataclass(frozen=True)
class Ours:
    name: str
    model: HFModel
    decide: int = 0

    def __call__(self, work: Work) -> list[Answer]:
        answers = self.model.score((question.asked for question in work), Scoring(decide=self.decide))
        return [Answer(answer.reduce(), answer.exact) for answer in answers]

    def observe(self, work: Work) -> Seen:
        before = replace(self.model.usage)
        answers, usage = self(work), self.model.usage
        return Seen(answers, usage.positions - before.positions, usage.padding - before.padding)


@dataclass(frozen=True)
class Peer:
    name: str
    evaluator: Evaluator
    batch_size: int

    def __call__(self, work: Work) -> list[Answer]:
        scores = [
            self.evaluator.score_answers(
                template=question.template,
                subject=question.subject,
                answers=question.options,
                reduction="sum",
                batch_size=self.batch_size,
            )
            for question in work
        ]
        return [Answer(np.array(found), np.ones(len(found), bool)) for found in scores]

    def observe(self, work: Work) -> Seen:
        positions = padding = 0

        def see(module: torch.nn.Module, args: Any, inputs: dict[str, torch.Tensor]) -> None:
            nonlocal positions, padding
            positions += inputs["input_ids"].numel()
            padding += int((inputs["attention_mask"] == 0).sum())

        hook = self.evaluator.model.register_forward_pre_hook(see, with_kwargs=True)
        try:
            return Seen(self(work), positions, padding)
        finally:
            hook.remove()
