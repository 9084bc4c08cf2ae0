"""Scores that need no model: chance and other baselines of a benchmark, from the questions alone.

The uniform baseline is a language model without knowledge, whose scores are those of guessing.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from typing import Any, Self

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from probing.analysis.option_scores import OPTIONS
from probing.analysis.paired_tests import SCORE_KEY
from probing.analysis.specificity_metrics import rarer_answer_scores
from probing.benchmark import Benchmark, Item, Relation
from probing.errors import BadInput
from probing.language_model import BlankDistribution, Continuation, ModelCard, OptionScores, Request, Scoring, Usage
from probing.plan import Plan
from probing.probes.probe import item_cells, tag_cells
from probing.template import Prompt


def baseline_scores(plan: Plan) -> pd.DataFrame:
    """Return the tidy scores of all baselines; there are none where the probe has no options to guess from.

    They are about all items of the relations that the plan asks, also where it asks some of these only.
    """
    rows = [
        {"relation": relation.label, "template": part.template, **_item_row(relation, item)}
        for part in plan.parts
        for relation in [plan.relation(part)]
        for item in relation.all_items
    ]
    return plan.probe.baselines(pd.DataFrame(rows))


def with_baselines(scores: pd.DataFrame, rows: pd.DataFrame, plan: Plan) -> pd.DataFrame:
    """Return the scores of a run's rows with baselines of all items, where rows of some are missing.

    Of a few items nearly every answer is the most common one, so that their own baseline says little.
    """
    if len(rows) == sum(len(plan.relation(part).all_items) for part in plan.parts):
        return scores
    table, baselines = scores.set_index(SCORE_KEY), baseline_scores(plan).set_index(SCORE_KEY)
    table.update(baselines[["value", "n"]].astype(float))
    return table.reset_index()


def _item_row(relation: Relation, item: Item) -> dict[str, Any]:
    """Return what the rows of any probe with options say about an item, whatever a model answers."""
    options = relation.options_of(item)
    label = options[item.answers[0]] if options else ""
    return {**item_cells(item), "answer_label": label, OPTIONS: len(options), **tag_cells(relation, item)}


def pair_answers(benchmark: Benchmark) -> list[str]:
    """Return the answers of all pairs of a specificity benchmark, each once; other benchmarks are refused."""
    if benchmark.probe != "specificity":
        raise BadInput(f"{benchmark.slug} has no pairs of answers.", "Word frequencies need a specificity benchmark.")
    return list(dict.fromkeys(o for r in benchmark.relations for item in r.items for o in r.options_of(item)))


def rarer_scores(plan: Plan, counts: Mapping[str, float]) -> pd.DataFrame:
    """Return what is reached by always choosing the rarer answer of a pair (S-TEST's baseline Freq)."""
    pairs = [
        (
            relation.label,
            item.index,
            *(relation.options_of(item)[option] for option in (item.answers[0], 1 - item.answers[0])),
        )
        for part in plan.parts
        for relation in [plan.relation(part)]
        for item in relation.items
    ]
    columns = ["relation", "index", "answer_label", "coarse_label"]
    return rarer_answer_scores(pd.DataFrame(pairs, columns=columns), counts)


class UniformModel:
    """A language model to which every option is as likely as the next, wherever the blank is.

    Every probe can be run with it, which takes no weights.
    """

    card = ModelCard(id="baseline/chance", kind="masked", architecture="", parameters=0)
    usage = Usage()
    device, dtype, batch_tokens = "cpu", "float32", 0

    def scoring_state(self) -> AbstractContextManager[None]:
        """Return an empty context, as there is no network."""
        return nullcontext()

    def starting(self, start: str) -> Self:
        """Return this model, which reads no text."""
        return self

    def score(self, requests: Iterable[Request], scoring: Scoring) -> Iterator[OptionScores]:
        """Yield 0 as the log-probability of every option, all of them exact."""
        for _, options in requests:
            count = len(options)
            yield OptionScores((np.zeros(1),) * count, (slice(0, 1),) * count, np.ones(count, dtype=bool))

    def fill(self, requests: Iterable[Request], k: int, words: Sequence[str] = ()) -> Iterator[BlankDistribution]:
        """Yield no ranked tokens, and every option on the first rank."""
        for _, options in requests:
            yield BlankDistribution((), np.zeros(0), np.zeros(len(options)), np.ones(len(options), dtype=int))

    def generate(
        self, texts: Iterable[str | Prompt], tokens: int, *, chat: bool = False, system: str = ""
    ) -> Iterator[Continuation]:
        return (Continuation("") for _ in texts)

    def embed(self, texts: Iterable[str]) -> Iterator[NDArray[np.float32]]:
        """Yield the same vector for every text."""
        return (np.ones(1, np.float32) for _ in texts)

    def unknown(self, requests: Iterable[Request]) -> Iterator[list[bool]]:
        """Yield that every option is known, as there are no tokens."""
        return ([False] * len(options) for _, options in requests)
