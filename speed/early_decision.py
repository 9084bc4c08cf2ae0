"""Which masked inputs an early decision computes, beside the fewest that prove the same best options.

All options are scored once. The rounds of `--decide` are then repeated with these values in place of the network, and
an integer program that knows all values beforehand finds the fewest token positions: of each best option every token,
and of every other option tokens that together cost more than the best option's score. No order can know this much, so
that the difference is a bound on what another order could save.
"""

from collections.abc import Sequence
from typing import Any, NamedTuple, cast

import numpy as np
import torch
from scipy.optimize import Bounds, LinearConstraint, milp
from scipy.sparse import csr_array
from transformers import BertConfig, BertForMaskedLM

from probing.arrays import Bools, Floats, Ints
from probing.benchmark import Benchmark
from probing.language_model import Scoring, Usage
from probing.scoring.masked import MaskedModel, MaskedRounds, Predictions
from probing.scoring.pruning import FirstPassShare, OptionPruning, decide
from probing.scoring.tokens import Encoder, Window
from speed.trained_bert import LEARNING_LAYERS, fit
from speed.work import BEAR_RELATIONS, Workload, select

SIZE = {"hidden_size": 128, "num_attention_heads": 4, "intermediate_size": 512}
SECONDS = 30  # for each integer program
GAP = 0.01  # of the fewest positions, by which a solution may be above them
# Options whose scores differ by a smaller share count as ties and are computed to their end. The solver is less exact.
MARGIN = 1e-5


class Fewest(NamedTuple):
    """Token positions that suffice for the proof, and a number below which none do."""

    positions: int
    at_least: int


class RecordedValues:
    """The values of a window's predictions, in place of a network; `rounds` has the positions of each computation."""

    def __init__(self, values: Floats) -> None:
        self.values, self.rounds = values, list[int]()

    def compute(self, predictions: Predictions, inputs: Ints, values: Floats, statements: float) -> None:
        computed, _ = predictions.of_inputs(inputs)
        values[computed] = self.values[computed]
        self.rounds.append(int(predictions.length[inputs].sum()))


def early_decision(benchmark: Benchmark, tokenizer: Any, items: int) -> dict[str, Any]:
    """Return the positions of all inputs, of those that `--decide` computes, and of the fewest, by relation.

    Items of different relations share no input.
    """
    model, relations = small_model(benchmark, tokenizer), {}
    for relation in BEAR_RELATIONS:
        window = encoded(select(benchmark, [relation], items), model)
        predictions = Predictions.of(window.statements, Scoring().pll, model.mask)
        values = np.full(len(predictions.input), np.nan)
        model.compute(predictions, np.arange(len(predictions.inputs)), values, len(window.statements))
        relations[relation] = measured(window, predictions, values)
    return {"items_per_relation": items, "relations": relations}


def small_model(benchmark: Benchmark, tokenizer: Any) -> MaskedModel:
    """Return a model that is trained on the true statements, as that of the speed test, so that it has preferences."""
    requests = [item.true_statement for item in select(benchmark, BEAR_RELATIONS)]
    texts = [prompt.fill(option) for prompt, (option,) in requests]
    torch.manual_seed(0)
    network = BertForMaskedLM(BertConfig(vocab_size=len(tokenizer), num_hidden_layers=LEARNING_LAYERS, **SIZE))
    fit(network, Encoder(tokenizer, special_tokens=True).encode(texts), tokenizer.mask_token_id)
    return MaskedModel(network.eval(), tokenizer)


def encoded(work: Workload, model: MaskedModel) -> Window:
    requests = [item.request for item in work]
    statements = [prompt.fill(option) for prompt, options in requests for option in options]
    return Window(model.encoder.encode(statements), [len(options) for _, options in requests])


def measured(window: Window, predictions: Predictions, values: Floats) -> dict[str, int]:
    """Return the positions of one window: all, computed in the rounds, in the first of them, and the fewest."""
    recorded = RecordedValues(values)
    rounds = MaskedRounds(cast(MaskedModel, recorded), window, predictions, 1)
    pruning = OptionPruning(np.array(window.sizes), rounds.scored.sum(axis=1), Scoring(decide=1))
    decide(rounds, pruning, FirstPassShare(), Usage())
    least = fewest(predictions, values, window.sizes)
    return {
        "all": int(predictions.length.sum()),
        "computed": sum(recorded.rounds),
        "first_tokens": recorded.rounds[0],
        "fewest": least.positions,
        "at_least": least.at_least,
    }


def fewest(predictions: Predictions, values: Floats, sizes: Sequence[int]) -> Fewest:
    """Return the fewest positions that prove the best options of all prompts, given the values of all predictions."""
    scored = predictions.of_statement >= 0
    costs = np.where(scored, -values[predictions.of_statement], 0.0)
    totals, starts = costs.sum(axis=1), np.cumsum(sizes) - np.array(sizes)
    least = np.repeat(np.minimum.reduceat(totals, starts), sizes) * (1 + MARGIN)
    best = totals <= least
    inputs = predictions.input[predictions.of_statement]
    certain = np.zeros(len(predictions.inputs), bool)
    certain[inputs[best][scored[best]]] = True
    solved = _cover(costs[~best], least[~best], inputs[~best], certain, predictions.length)
    chosen = np.rint(solved.x)
    return Fewest(int(predictions.length @ chosen), int(np.ceil(solved.mip_dual_bound - 1e-6)))


def _cover(costs: Floats, needed: Floats, inputs: Ints, certain: Bools, lengths: Ints) -> Any:
    """Choose inputs of the least total length, so that the chosen costs of each option reach what is needed.

    `costs`, `inputs`: of each option's tokens, shape (options, tokens). `certain`: inputs that are chosen in any case.
    """
    rows = np.repeat(np.arange(len(costs)), costs.shape[1])
    matrix = csr_array((costs.ravel(), (rows, inputs.ravel())), shape=(len(costs), len(lengths)))
    return milp(
        lengths,
        integrality=np.ones(len(lengths)),
        bounds=Bounds(certain.astype(float), 1),
        constraints=LinearConstraint(matrix, needed, np.inf),
        options={"time_limit": SECONDS, "mip_rel_gap": GAP},
    )
