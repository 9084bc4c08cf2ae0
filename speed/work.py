"""The workload of the speed test: template 0 of three relations, BEAR's where its files are at hand."""

import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from probing.benchmark import Benchmark, Item, Relation
from probing.catalog import open_benchmark
from probing.language_model import Request
from probing.template import prompt
from speed.peers.protocol import Item as PeerItem

BEAR_RELATIONS = ("P30", "P36", "P19")
EXAMPLES = 3
STARTER_RELATIONS = ("country_continent", "country_capital", "novel_author")


@dataclass(frozen=True)
class ChoiceItem:
    """One item in the form that both libraries take. `right` is the index of the right option."""

    template: str
    subject: str
    options: tuple[str, ...]
    right: int

    @property
    def request(self) -> Request:
        return prompt(self.template, self.subject), self.options

    @property
    def true_statement(self) -> Request:
        """The item with its right answer as the only option."""
        return prompt(self.template, self.subject), self.options[self.right : self.right + 1]


@dataclass(frozen=True)
class Workload:
    """The items of some relations of a benchmark."""

    benchmark: str
    relations: tuple[str, ...]
    items: tuple[ChoiceItem, ...]

    def __iter__(self) -> Iterator[ChoiceItem]:
        return iter(self.items)

    @property
    def statements(self) -> int:
        return sum(len(item.options) for item in self)


def bear() -> Benchmark | None:
    """Open BEAR in the folder that CLOZEBOARD_TEST_DATA names; None where the variable is not set."""
    folder = os.environ.get("CLOZEBOARD_TEST_DATA")
    return open_benchmark(Path(folder) / "bear") if folder else None


def workload(items: int | None = None) -> Workload:
    """Take the first items (all by default) of three relations of BEAR, or of the starter benchmark without BEAR."""
    if benchmark := bear():
        return select(benchmark, BEAR_RELATIONS, items)
    return select(open_benchmark("starter"), STARTER_RELATIONS, items)


def select(benchmark: Benchmark, relations: Sequence[str], items: int | None = None) -> Workload:
    selection = benchmark.select(relations, items)
    choice_items = tuple(choice_item(relation, item) for relation in selection.relations for item in relation.items)
    return Workload(benchmark.slug, tuple(relation.id for relation in selection.relations), choice_items)


def choice_item(relation: Relation, item: Item) -> ChoiceItem:
    return ChoiceItem(relation.templates[0], item.subject, relation.answer_space, item.answers[0])


def statements(work: Workload) -> list[PeerItem]:
    """Return the items with whole statements to be scored, without a context."""
    prompts = ((item, *item.request) for item in work)
    return [_item(item, "", [blank.fill(option).text for option in options]) for item, blank, options in prompts]


def completions(work: Workload) -> list[PeerItem]:
    """Return the items with sentences to be completed from their blank on, after examples that all of them share.

    Items whose sentence begins with the blank are left out.
    """
    true = [blank.fill(options[0]).text for blank, options in (item.true_statement for item in work)]
    examples = "".join(f"{text}\n" for text in true[:: max(len(true) // EXAMPLES, 1)][:EXAMPLES])
    return [completed for item in work if (completed := _completed(item, examples))]


def _completed(item: ChoiceItem, examples: str) -> PeerItem | None:
    blank, options = item.request
    filled = [blank.fill(option) for option in options]
    before = filled[0].text[: filled[0].start].rstrip()
    return _item(item, examples + before, [statement.text[len(before) :] for statement in filled]) if before else None


def _item(item: ChoiceItem, context: str, texts: list[str]) -> PeerItem:
    return PeerItem(item.template, item.subject, list(item.options), context, texts)
