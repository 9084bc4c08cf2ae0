"""Scoring as one would explain it: one statement at a time, one call of the network, a sum in Python.

The reference of every test here. It shares nothing with the core but the tokenizer and the network.
"""

from collections.abc import Callable, Sequence

import torch
from transformers import PreTrainedModel, PreTrainedTokenizerFast

from probing.language_model import Request
from probing.template import Statement

Score = Callable[[Statement], list[float]]


def statements(asked: Request, blank: str = "") -> list[Statement]:
    prompt, options = asked
    return [prompt.fill(option, blank) for option in options]


@torch.inference_mode()
def predictions(network: PreTrainedModel, ids: Sequence[int]) -> torch.Tensor:
    """What the network says at each place; log-probabilities, shape (places, vocabulary)."""
    logits = network(input_ids=torch.tensor([list(ids)])).logits[0]
    return torch.log_softmax(logits.double(), dim=-1)


def causal(network: PreTrainedModel, tokenizer: PreTrainedTokenizerFast) -> Score:
    """Log-probabilities of a statement's tokens, each given the start token and what stands before it."""
    start = tokenizer.bos_token_id if tokenizer.bos_token_id is not None else tokenizer.eos_token_id

    def score(statement: Statement) -> list[float]:
        tokens = tokenizer(statement.text, add_special_tokens=False)["input_ids"]
        ids = tokens if start is None else [start, *tokens]
        says = predictions(network, ids)
        return [float(says[place - 1, ids[place]]) for place in range(1, len(ids))]

    return score


def masked(network: PreTrainedModel, tokenizer: PreTrainedTokenizerFast, pll: str) -> Score:
    """Log-probabilities of a statement's tokens, each hidden together with what the PLL variant says."""

    def score(statement: Statement) -> list[float]:
        encoding = tokenizer(statement.text, return_offsets_mapping=True, return_special_tokens_mask=True)
        special, words, ids = encoding["special_tokens_mask"], encoding.word_ids(), encoding["input_ids"]
        answer = [
            not special[place] and first < statement.end and last > statement.start
            for place, (first, last) in enumerate(encoding["offset_mapping"])
        ]

        def hidden(place: int, other: int) -> bool:
            if pll == "whole_answer" and answer[place]:
                return answer[other]
            if other <= place or pll == "original":
                return other == place
            if pll == "sentence_l2r":
                return True
            if pll == "answer_l2r+word_l2r" and answer[place]:
                return answer[other]
            return words[other] is not None and words[other] == words[place]

        found = []
        for place in range(len(ids)):
            if not special[place]:
                shown = [tokenizer.mask_token_id if hidden(place, i) else ids[i] for i in range(len(ids))]
                found.append(float(predictions(network, shown)[place, ids[place]]))
        return found

    return score
