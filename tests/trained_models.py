"""Small networks that are trained here on a corpus which states the facts of a benchmark as often as planned."""

import random
from collections.abc import Sequence

import torch
from tokenizers import Tokenizer, models, pre_tokenizers
from transformers import GPT2Config, GPT2LMHeadModel, PreTrainedTokenizerFast

from probing.benchmark import Benchmark

FREQUENCIES = (0, 1, 2, 4, 8, 16, 32)
BATCH, RATE = 16, 3e-3
END = "<end>"


def planned_counts(benchmark: Benchmark) -> dict[tuple[str, int], int]:
    """Return how often each fact is to be stated: every frequency equally often in each relation, in random order."""
    generator, plan = random.Random(0), {}
    for relation in benchmark.relations:
        items = generator.sample(relation.items, len(relation.items))
        plan |= {
            (relation.label, item.index): FREQUENCIES[place % len(FREQUENCIES)] for place, item in enumerate(items)
        }
    return plan


def corpus_of(benchmark: Benchmark, plan: dict[tuple[str, int], int]) -> list[str]:
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


def train(width: int, seed: int, corpus: Sequence[str], tokenizer: PreTrainedTokenizerFast) -> GPT2LMHeadModel:
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
