"""Token positions that ranking the candidates of the culture set takes, counted: `python -m speed.culture_counts`.

No network runs. The probe asks a model that makes prefix trees of its requests and packs them as the scoring core does,
with the tokens of SmolLM2, and counts what would be computed. The estimates before a run are set beside that.
"""

import argparse
import sys
from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np
from transformers import DynamicCache

from probing.arrays import Ids
from probing.benchmark import Benchmark
from probing.catalog import open_benchmark
from probing.estimate.work import Estimates, estimate_work
from probing.language_model import ModelCard, OptionScores, Request, Scoring
from probing.plan import Plan, plan
from probing.scoring.kv_cache import KVCache
from probing.scoring.packing import PackedRow, often_repeated, pack
from probing.scoring.prefix_tree import PrefixTree
from probing.scoring.tokens import STATEMENTS_PER_WINDOW, Encoder, grouped
from probing.uniform_model import UniformModel
from speed.few_shot_counts import prefix_tree, smollm2_encoder
from speed.stored_results import show, store


class CountingPrefixes(UniformModel):
    """A causal model without a network.

    `scored`: its statements. `in_rows`: the positions in the rows of all windows, where some prefixes are repeated.
    `sequences`: the tokens of all statements.
    """

    card = ModelCard(id="", kind="causal", architecture="", parameters=0)

    def __init__(self, encoder: Encoder) -> None:
        self.encoder, self.tokenizer = encoder, encoder.tokenizer
        self.scored = self.in_rows = 0
        self.sequences: list[Ids] = []

    def score(self, requests: Iterable[Request], scoring: Scoring) -> Iterator[OptionScores]:
        blank = str(self.tokenizer.eos_token or "")
        for window in grouped(requests, STATEMENTS_PER_WINDOW):
            statements = [prompt.fill(option, blank) for prompt, options in window for option in options]
            sequences = [statement.ids for statement in self.encoder.encode(statements, scoring.span)]
            tree = prefix_tree(sequences)
            self.in_rows += sum(len(row.nodes) for row in packed(tree))
            self.scored += len(sequences)
            self.sequences += sequences
            yield from super().score(window, scoring)

    @property
    def distinct(self) -> int:
        """The distinct prefixes with something after them."""
        return int(prefix_tree(self.sequences).inner.sum())


def packed(tree: PrefixTree) -> list[PackedRow]:
    """Return all rows of a tree: where they would repeat many nodes, those of these nodes come first and are kept."""
    nodes = np.flatnonzero(tree.inner)
    rows = pack(tree, nodes, None)
    stem = often_repeated(rows)
    if not len(stem):
        return rows
    cache, place = KVCache(tree, len(stem), stem), np.full(len(tree.token), -1)
    place[stem] = np.arange(len(stem))
    cache.add(DynamicCache(), 0, place)  # without layers, as there is no network
    return pack(tree, stem, None) + pack(tree, np.setdiff1d(nodes, stem), cache)


def main() -> int:
    argparse.ArgumentParser(prog="python -m speed.culture_counts", description=__doc__).parse_args()
    results = count(open_benchmark("culture"), smollm2_encoder())
    store("culture_counts", results)
    show(results)
    return 0


def count(benchmark: Benchmark, encoder: Encoder) -> dict[str, Any]:
    """Return the positions over all parts by both rules, by the first alone, and as they are estimated."""
    usual = plan(benchmark, {})
    both = counted_parts(usual, encoder)
    first = counted_parts(plan(benchmark, {"decide": True}), encoder)
    estimates = Estimates(usual).of(CountingPrefixes(encoder)).values()
    by_pieces = [estimate_work(usual, part, "causal") for part in usual.parts]
    return {
        "items": sum(part.items for part in usual.parts),
        "candidates": sum(model.scored for model in first),
        "in_rows": sum(model.in_rows for model in both),
        "distinct": sum(model.distinct for model in both),
        "distinct_first_rule": sum(model.distinct for model in first),
        "estimated": round(sum(estimate.positions for estimate in estimates)),
        "estimated_by_pieces": round(sum(estimate.positions for estimate in by_pieces)),
    }


def counted_parts(asked: Plan, encoder: Encoder) -> list[CountingPrefixes]:
    """Return a model for each part that was asked all items of the part."""
    models = []
    for part in asked.parts:
        models.append(CountingPrefixes(encoder))
        list(asked.probe.rows(models[-1], asked.relation(part), part.template, asked.settings))
    return models


if __name__ == "__main__":
    sys.exit(main())
