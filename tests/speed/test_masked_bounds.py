"""Counts of masked inputs, on a benchmark small enough to count by hand."""

from probing.benchmark import Benchmark, Item, Relation
from speed.masked_bounds import counts
from tests.tiny_models import word_piece

TEXTS = ["Oslo is in Norway", "Lima is in Norway", "Oslo is in Peru", "Lima is in Peru"]


def test_inputs_that_items_share_count_once_where_they_are_seen_together() -> None:
    """Each statement has four words. Options share the input without the option, items the one without the subject."""
    items = tuple(Item(index, subject, (index,)) for index, subject in enumerate(("Oslo", "Lima")))
    relations = tuple(Relation(name, ("[X] is in [Y]",), ("Norway", "Peru"), items) for name in ("one", "same"))
    benchmark = Benchmark("small", "1", "1", relations)
    tokenizer = word_piece(TEXTS, first=9)
    assert all(len(tokenizer.tokenize(text)) == 4 for text in TEXTS), "every word is one token"
    count = counts(benchmark, tokenizer)
    inputs = {name: number.inputs for name, number in count.items()}
    assert inputs["all"] == 2 * 4 * 4
    assert inputs["of_items"] == 2 * 2 * (2 * 4 - 1)
    assert inputs["of_windows"] == inputs["distinct"] == 4 * 4 - 2 - 2
    assert inputs["first_tokens"] == 2
    assert count["distinct"].positions == (4 + 2) * inputs["distinct"], "with the special tokens"
