"""A real small training on a corpus that states the facts of a benchmark as often as planned.

Two networks that differ in capacity alone read the corpus once. What they know rises with exposure, and α tells the
larger one from the smaller one.
"""

import random
from collections.abc import Sequence
from pathlib import Path

import pandas as pd
import pytest
import torch
from tokenizers import Tokenizer, models, pre_tokenizers
from transformers import GPT2Config, GPT2LMHeadModel, PreTrainedTokenizerFast

import probing
from probing.analysis.exposure import BUCKETS, Recall, fit_alphas
from probing.benchmark import Benchmark
from probing.catalog import open_benchmark
from probing.exposure.counting import count_exposure
from probing.exposure.named_facts import facts_of
from probing.results.rescoring import rescored
from probing.results.result import Result

RELATIONS = ["battle_war", "element_group", "instrument_family", "moon_planet", "novel_author", "painting_painter"]
FREQUENCIES = (0, 1, 2, 4, 8, 16, 32)
WIDTHS = {"small": 8, "large": 64}
SEEDS = range(3)
BATCH, RATE = 16, 3e-3
END = "<end>"


def planned(benchmark: Benchmark) -> dict[tuple[str, int], int]:
    """Return how often each fact is to be stated: every frequency equally often in each relation, in random order."""
    chance, plan = random.Random(0), {}
    for relation in benchmark.relations:
        items = chance.sample(relation.items, len(relation.items))
        plan |= {(relation.label, item.index): FREQUENCIES[place % 7] for place, item in enumerate(items)}
    return plan


def sentences(benchmark: Benchmark, plan: dict[tuple[str, int], int]) -> list[str]:
    """Return the sentences of the corpus in random order."""
    facts = [(relation, item) for relation in benchmark.relations for item in relation.items]
    stated = [
        relation.templates[0].replace("[X]", item.subject).replace("[Y]", relation.answer_space[item.answers[0]])
        for relation, item in facts
        for _ in range(plan[relation.label, item.index])
    ]
    return random.Random(1).sample(stated, len(stated))


def word_tokenizer(texts: Sequence[str]) -> PreTrainedTokenizerFast:
    """Return a tokenizer with a token for each word and each mark of the texts."""
    splitter = pre_tokenizers.Whitespace()
    words = dict.fromkeys(word for text in texts for word, _ in splitter.pre_tokenize_str(text))
    vocabulary = {word: number for number, word in enumerate([END, "<unknown>", *words])}
    tokenizer = Tokenizer(models.WordLevel(vocabulary, "<unknown>"))
    tokenizer.pre_tokenizer = splitter
    return PreTrainedTokenizerFast(
        tokenizer_object=tokenizer, bos_token=END, eos_token=END, pad_token=END, model_max_length=64
    )


def trained(width: int, seed: int, corpus: Sequence[str], tokenizer: PreTrainedTokenizerFast) -> GPT2LMHeadModel:
    """Train a network on the corpus, each sentence of which it reads once."""
    torch.manual_seed(seed)
    sizes = {"n_embd": width, "n_layer": 2, "n_head": 2, "n_positions": 64, "vocab_size": len(tokenizer)}
    ends = {"bos_token_id": 0, "eos_token_id": 0}
    network = GPT2LMHeadModel(GPT2Config(**sizes, **ends, resid_pdrop=0, embd_pdrop=0, attn_pdrop=0))
    optimiser = torch.optim.AdamW(network.parameters(), lr=RATE)
    order = random.Random(seed).sample(corpus, len(corpus))
    for start in range(0, len(order), BATCH):
        batch = tokenizer([END + text for text in order[start : start + BATCH]], padding=True, return_tensors="pt")
        inputs = {"input_ids": batch["input_ids"], "attention_mask": batch["attention_mask"]}
        labels = batch["input_ids"].masked_fill(batch["attention_mask"] == 0, -100)
        network(**inputs, labels=labels).loss.backward()
        optimiser.step()
        optimiser.zero_grad()
    return network.eval()


def by_exposure(results: Sequence[Result]) -> pd.Series:
    """Return the mean accuracy of several results in each bucket."""
    return pd.concat([result.by("exposure")["value"] for result in results], axis=1).mean(axis=1)


@pytest.mark.slow
def test_recall_rises_with_exposure_and_alpha_ranks_networks_by_capacity(tmp_path: Path) -> None:
    benchmark = open_benchmark("starter").select(RELATIONS)
    plan = planned(benchmark)
    corpus = sentences(benchmark, plan)
    (tmp_path / "corpus.txt").write_text("\n".join(corpus), encoding="utf-8")
    counts = count_exposure(
        [str(tmp_path / "corpus.txt")], facts_of(benchmark), tmp_path / "counts.csv", progress=False
    )
    assert dict(zip(zip(counts["relation"], counts["index"], strict=True), counts["count"], strict=True)) == plan
    options = [option for relation in benchmark.relations for option in relation.answer_space]
    subjects = [item.subject for relation in benchmark.relations for item in relation.items]
    tokenizer = word_tokenizer([*corpus, *options, *subjects])
    results: dict[str, list[Result]] = {}
    for name, width in WIDTHS.items():
        for seed in SEEDS:
            network = trained(width, seed, corpus, tokenizer)
            measured = probing.run(network, benchmark, tokenizer=tokenizer, templates=(0,), progress=False)
            results.setdefault(name, []).append(rescored(measured, benchmark, counts))
    for of_size in results.values():
        rare, often, most_often = (
            by_exposure(of_size)[names].mean() for names in (BUCKETS[:5], BUCKETS[5], BUCKETS[6])
        )
        assert rare + 0.05 < often < most_often - 0.1
    fit = fit_alphas([Recall.of(result.items, "correct") for of_size in results.values() for result in of_size])
    small, large = fit.alphas[: len(SEEDS)], fit.alphas[len(SEEDS) :]
    assert max(alpha.value for alpha in small) < min(alpha.value for alpha in large)
    assert all(alpha.low < alpha.value < alpha.high for alpha in fit.alphas)
