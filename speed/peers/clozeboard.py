"""This project's scoring: of every option, or of as many as decide which is the best."""

from collections.abc import Sequence
from typing import Any

from speed.peers.protocol import Item, Job, System, serve


class Clozeboard:
    def __init__(self, model: Any, decide: int) -> None:
        self.model, self.decide = model, decide
        model.check()

    @property
    def positions(self) -> int:
        return int(self.model.usage.positions)

    def score(self, items: Sequence[Item], batch_size: int) -> list[float | None]:
        from probing.language_model import Scoring, fitting
        from probing.template import prompt

        requests = ((prompt(item.template, item.subject), item.options) for item in items)
        answers = map(fitting, self.model.score(requests, Scoring(decide=self.decide)))
        pairs = (pair for answer in answers for pair in zip(answer.reduce().tolist(), answer.exact, strict=True))
        return [score if exact else None for score, exact in pairs]


def _load(job: Job, decide: int) -> Clozeboard:
    from probing.scoring.load import load

    return Clozeboard(load(job.weights, device=job.device, dtype=job.dtype), decide)


SYSTEMS = (
    System("full", "clozeboard", ("causal", "masked", "gpu"), lambda job: _load(job, 0), own=True),
    System("decide", "clozeboard", ("causal", "masked", "gpu"), lambda job: _load(job, 1), own=True),
)

if __name__ == "__main__":
    serve(SYSTEMS)
