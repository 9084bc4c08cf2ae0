"""Obvious implementation of scoring, for tests: one statement, and one call of the network, at a time.

It shares nothing with the library's implementations but the tokenizer and the network.
"""

from collections.abc import Callable, Sequence

import torch
from transformers import BatchEncoding, PreTrainedModel, PreTrainedTokenizerFast

from probing.language_model import Request
from probing.template import Statement

Score = Callable[[Statement], list[float]]


def statements(request: Request, blank: str = "") -> list[Statement]:
    prompt, options = request
    return [prompt.fill(option, blank) for option in options]


@torch.inference_mode()
def predictions(network: PreTrainedModel, ids: Sequence[int]) -> torch.Tensor:
    """Return the network's log-probabilities at each place, shape (places, vocabulary)."""
    logits = network(input_ids=torch.tensor([list(ids)])).logits[0]
    return torch.log_softmax(logits.double(), dim=-1)


def usual_start(tokenizer: PreTrainedTokenizerFast) -> int | None:
    return tokenizer.bos_token_id if tokenizer.bos_token_id is not None else tokenizer.eos_token_id


def causal(network: PreTrainedModel, tokenizer: PreTrainedTokenizerFast) -> Score:
    """Return a function to the log-probabilities of a statement's tokens, each given all tokens before it."""
    return causal_after(usual_start(tokenizer), network, tokenizer)


def causal_after(start: int | None, network: PreTrainedModel, tokenizer: PreTrainedTokenizerFast) -> Score:
    """Return the function as `causal` does, for statements that begin with this token, or with none."""

    def score(statement: Statement) -> list[float]:
        tokens = tokenizer(statement.text, add_special_tokens=False)["input_ids"]
        ids = tokens if start is None else [start, *tokens]
        log_probs = predictions(network, ids)
        return [float(log_probs[place - 1, ids[place]]) for place in range(1, len(ids))]

    return score


def masked(network: PreTrainedModel, tokenizer: PreTrainedTokenizerFast, pll: str) -> Score:
    """Return a function to the log-probabilities of a statement's tokens, masked as the PLL variant defines."""

    def score(statement: Statement) -> list[float]:
        encoding = tokenizer(statement.text, return_offsets_mapping=True, return_special_tokens_mask=True)
        special, ids = encoding["special_tokens_mask"], encoding["input_ids"]
        words = words_of(statement.text, encoding)
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

        scores = []
        for place in range(len(ids)):
            if not special[place]:
                masked_ids = [tokenizer.mask_token_id if hidden(place, i) else ids[i] for i in range(len(ids))]
                scores.append(float(predictions(network, masked_ids)[place, ids[place]]))
        return scores

    return score


def words_of(text: str, encoding: BatchEncoding) -> list[tuple[int, int] | None]:
    """Return each token's word: its pre-token, and how many words between white space have begun where it ends.

    For a token that is white space, that is the word after it.
    """
    return [
        None if pre_token is None else (pre_token, len(text[:end].split()) + (not text[begin:end].strip()))
        for pre_token, (begin, end) in zip(encoding.word_ids(), encoding["offset_mapping"], strict=True)
    ]
