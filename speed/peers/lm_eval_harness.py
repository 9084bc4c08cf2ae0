"""lm-evaluation-harness: its model `hf`, and this project's model `clozeboard` for it."""

from collections.abc import Sequence
from typing import Any

from speed.peers.protocol import Item, Job, OfTorch, System, serve


class Harness(OfTorch):
    def __init__(self, model: Any) -> None:
        super().__init__(model.model)
        self.model = model

    def score(self, items: Sequence[Item], batch_size: int) -> list[float]:
        from lm_eval.api.instance import Instance

        self.model.batch_size_per_gpu = batch_size or 1
        pairs = [(item.context, text) for item in items for text in item.texts]
        requests = [Instance("loglikelihood", {}, pair, number) for number, pair in enumerate(pairs)]
        return [log_prob for log_prob, _ in self.model.loglikelihood(requests, disable_tqdm=True)]


def _hf(job: Job) -> Harness:
    from lm_eval.models.huggingface import HFLM

    return Harness(HFLM(pretrained=job.weights, dtype=job.dtype, device=job.device))


def _clozeboard(job: Job) -> Harness:
    from probing.harness.backend import ClozeboardLM

    model = ClozeboardLM(pretrained=job.weights, dtype="float32", device="cpu")
    if model.scorer is None:  # makes the self-check as well
        raise ValueError("The network takes no prefix tree.")
    return Harness(model)


SYSTEMS = (
    System(
        "lm-evaluation-harness",
        "lm_eval",
        ("causal", "completions"),
        _hf,
        batch_sizes=(8, 16, 32, 64),
        required={
            ("causal", "full"): 4.5,
            ("causal", "decide"): 14.0,
            ("causal", "harness model"): 2.0,
            ("completions", "harness model"): 2.0,
        },
    ),
    System(
        "lm-evaluation-harness",
        "lm_eval",
        ("gpu",),
        _hf,
        batch_sizes=(64, 256, 1024),
        required={("gpu", "full"): 5.0},
    ),
    System("harness model", "clozeboard", ("causal", "completions"), _clozeboard, own=True),
)

if __name__ == "__main__":
    serve(SYSTEMS)
