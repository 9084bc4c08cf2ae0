"""lm-pub-quiz, the library of BEAR's authors."""

from collections.abc import Sequence
from typing import Any

from speed.peers.protocol import Item, Job, OfTorch, System, serve


class LmPubQuiz(OfTorch):
    def __init__(self, evaluator: Any) -> None:
        super().__init__(evaluator.model)
        self.evaluator = evaluator

    def score(self, items: Sequence[Item], batch_size: int) -> list[float]:
        return [
            score
            for item in items
            for score in self.evaluator.score_answers(
                template=item.template,
                subject=item.subject,
                answers=item.options,
                reduction="sum",
                batch_size=batch_size,
            )
        ]


def _load(job: Job) -> LmPubQuiz:
    import torch
    from lm_pub_quiz import Evaluator
    from transformers import AutoModelForCausalLM, AutoModelForMaskedLM, AutoTokenizer

    loader = AutoModelForMaskedLM if job.kind == "masked" else AutoModelForCausalLM
    network = loader.from_pretrained(job.weights, dtype=torch.float32).eval()
    tokenizer = AutoTokenizer.from_pretrained(job.weights)
    model_type = "MLM" if job.kind == "masked" else "CLM"
    return LmPubQuiz(Evaluator.from_model(network, tokenizer=tokenizer, model_type=model_type, device="cpu"))


SYSTEMS = (
    System(
        "lm-pub-quiz",
        "lm-pub-quiz",
        ("causal", "masked"),
        _load,
        batch_sizes=(8, 16, 32, 64),
        required={
            ("causal", "full"): 6.0,
            ("causal", "decide"): 20.0,
            ("masked", "full"): 1.8,
            ("masked", "decide"): 5.5,
        },
    ),
)

if __name__ == "__main__":
    serve(SYSTEMS)
