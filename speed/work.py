"""The workload of the speed test: template 0 of three relations, BEAR's where its files are at hand."""

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from probing.benchmark import Benchmark, Item, Relation
from probing.catalog import open_benchmark
from probing.language_model import Request
from probing.template import prompt
from speed.peers.protocol import Item as PeerItem

BEAR_RELATIONS = ("P30", "P36", "P19")
EXAMPLES = 3
STARTER_RELATIONS = ("country_continent", "country_capital", "novel_author")


def bear() -> Benchmark | None:
    """Open BEAR in the folder that CLOZEBOARD_TEST_DATA names; None where the variable is not set."""
    folder = os.environ.get("CLOZEBOARD_TEST_DATA")
    return open_benchmark(Path(folder) / "bear") if folder else None


def workload(items: int | None = None) -> Benchmark:
    """Take the first items (all by default) of three relations of BEAR, or of the starter benchmark without BEAR."""
    if benchmark := bear():
        return benchmark.select(BEAR_RELATIONS, limit=items)
    return open_benchmark("starter").select(STARTER_RELATIONS, limit=items)


def requests(work: Benchmark) -> list[Request]:
    """Return every item with all its options."""
    return [_request(relation, item) for relation, item in _questions(work)]


def _request(relation: Relation, item: Item) -> Request:
    return prompt(relation.templates[0], item.subject), relation.answer_space


def true_statements(work: Benchmark) -> list[Request]:
    """Return every item with its right answer as the only option."""
    requests = ((_request(relation, item), item.answers[0]) for relation, item in _questions(work))
    return [(blank, options[right : right + 1]) for (blank, options), right in requests]


def _questions(work: Benchmark) -> Iterator[tuple[Relation, Item]]:
    return ((relation, item) for relation in work.relations for item in relation.items)


def facts(work: Benchmark) -> dict[str, Any]:
    """Return what is stored of a workload beside the results."""
    return {
        "benchmark": work.slug,
        "relations": [relation.id for relation in work.relations],
        "statements": sum(len(options) for _, options in requests(work)),
    }


def statements(work: Benchmark) -> list[PeerItem]:
    """Return the items with whole statements to be scored, without a context."""
    items = []
    for relation, item in _questions(work):
        blank, options = _request(relation, item)
        items.append(_item(relation, item, "", [blank.fill(option).text for option in options]))
    return items


def completions(work: Benchmark) -> list[PeerItem]:
    """Return the items with sentences to be completed from their blank on, after examples that all of them share.

    Items whose sentence begins with the blank are left out.
    """
    true = [blank.fill(option).text for blank, (option,) in true_statements(work)]
    examples = "".join(f"{text}\n" for text in true[:: max(len(true) // EXAMPLES, 1)][:EXAMPLES])
    return [completed for pair in _questions(work) if (completed := _completed(*pair, examples))]


def _completed(relation: Relation, item: Item, examples: str) -> PeerItem | None:
    blank, options = _request(relation, item)
    filled = [blank.fill(option) for option in options]
    before = filled[0].text[: filled[0].start].rstrip()
    texts = [statement.text[len(before) :] for statement in filled]
    return _item(relation, item, examples + before, texts) if before else None


def _item(relation: Relation, item: Item, context: str, texts: list[str]) -> PeerItem:
    return PeerItem(relation.templates[0], item.subject, list(relation.answer_space), context, texts)
