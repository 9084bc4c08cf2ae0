"""Masked inputs that BEAR takes, and the fewest that would do: `python -m speed.masked_bounds TOKENIZER`.

A masked model reads each statement of template 0 once for each of its tokens. The inputs of all of BEAR are counted
without a network. How few of them prove which options are best is found with a small model that is trained on the true
statements of three relations (`speed/early_decision.py`). CLOZEBOARD_TEST_DATA names the folder with BEAR's files.
"""

import argparse
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from transformers import AutoTokenizer

from probing.arrays import Ids
from probing.benchmark import Benchmark
from probing.language_model import Request, Scoring
from probing.scoring.masked import Predictions
from probing.scoring.tokens import Encoded, Encoder, windows
from speed.early_decision import early_decision
from speed.machine import describe
from speed.stored_results import show, store
from speed.work import bear, choice_item

ITEMS = 20  # of each relation, for which early decisions are repeated


@dataclass
class InputCount:
    """A number of inputs, and of the token positions in them."""

    inputs: int = 0
    positions: int = 0

    def add(self, lengths: Iterable[int]) -> None:
        for length in lengths:
            self.inputs += 1
            self.positions += length


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m speed.masked_bounds", description=__doc__)
    parser.add_argument("tokenizer", help="folder or hub id of a masked model's tokenizer")
    parser.add_argument("--items", type=int, default=ITEMS, help="items of each relation that are decided")
    options = parser.parse_args()
    benchmark = bear()
    if not benchmark:
        parser.error("CLOZEBOARD_TEST_DATA must name the folder that has BEAR's files in bear/.")
    tokenizer = AutoTokenizer.from_pretrained(options.tokenizer)
    results = {
        "machine": describe(),
        "tokenizer": {"class": type(tokenizer).__name__, "vocabulary": len(tokenizer)},
        "statements": sum(len(texts) for _, texts in requests(benchmark)),
        "counts": {name: vars(count) for name, count in counts(benchmark, tokenizer).items()},
        "early_decision": early_decision(benchmark, tokenizer, options.items),
    }
    if options.items == ITEMS:
        store("masked_bounds", results)
    show(results)
    return 0


def requests(benchmark: Benchmark) -> Iterator[Request]:
    return (choice_item(relation, item).request for relation in benchmark.relations for item in relation.items)


def counts(benchmark: Benchmark, tokenizer: Any) -> dict[str, InputCount]:
    """Count the inputs of template 0: all of them, and the distinct ones of items, of windows and of the benchmark.

    `first_tokens`: the distinct inputs of a window in which the first token of some option is hidden.
    """
    names = ("all", "of_items", "of_windows", "distinct", "first_tokens")
    count, seen = {name: InputCount() for name in names}, set[Ids]()
    for window in windows(requests(benchmark), Encoder(tokenizer, special_tokens=True)):
        predictions = _predictions(window.statements, tokenizer.mask_token_id)
        count["all"].add(len(statement.ids) for statement in window.statements for _ in statement.scored)
        for options in window.prompts:
            count["of_items"].add(_predictions(options, tokenizer.mask_token_id).length.tolist())
        count["of_windows"].add(predictions.length.tolist())
        count["first_tokens"].add(predictions.length[first_inputs(predictions, window.statements)].tolist())
        new = set(predictions.inputs) - seen
        count["distinct"].add(map(len, new))
        seen |= new
    return count


def _predictions(statements: list[Encoded], mask: int) -> Predictions:
    return Predictions.of(statements, Scoring().pll, mask)


def first_inputs(predictions: Predictions, statements: list[Encoded]) -> Any:
    """Return the inputs that predict the first token of each statement's option, each once."""
    columns = np.array([statement.answer.start for statement in statements])
    return np.unique(predictions.input[predictions.of_statement[np.arange(len(statements)), columns]])


if __name__ == "__main__":
    raise SystemExit(main())
