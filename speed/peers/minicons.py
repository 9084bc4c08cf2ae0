"""minicons, a library for the scores of sentences."""

from collections.abc import Sequence
from typing import Any

from speed.peers.protocol import Item, Job, OfTorch, System, serve


class Minicons(OfTorch):
    def __init__(self, scorer: Any) -> None:
        super().__init__(scorer.model)
        self.scorer = scorer

    def score(self, items: Sequence[Item], batch_size: int) -> list[float]:
        texts = [text for item in items for text in item.texts]
        return [
            score
            for start in range(0, len(texts), batch_size)
            for score in self.scorer.sequence_score(
                texts[start : start + batch_size], reduction=lambda tokens: tokens.sum().item(), bos_token=True
            )
        ]


def _load(job: Job) -> Minicons:
    from minicons.scorer import IncrementalLMScorer

    return Minicons(IncrementalLMScorer(job.weights, "cpu"))


SYSTEMS = (System("minicons", "minicons", ("causal",), _load, batch_sizes=(8, 16, 32, 64)),)

if __name__ == "__main__":
    serve(SYSTEMS)
