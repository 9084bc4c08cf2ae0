"""All true sentences of a benchmark as one table for fine-tuning, split so that no fact is in training and in test.

The split is made relation by relation (for geography: by fact type). Sentences with a fact in common stay together, in
whatever relation they stand: "Paris is a city located in France" and "Paris is the capital of France".
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from random import Random

import pandas as pd

from probing.benchmark import Benchmark, Item, Relation
from probing.errors import BadInput
from probing.statements.prompting import item_prompt
from probing.template import BLANK_TEXT

TRAIN, TEST = "train", "test"
COLUMNS = ("relation", "language", "index", "id", "template", "subject", "answer", "text", "masked", "prompt", "split")

ItemKey = tuple[str, int]  # a relation's label and an item's index


def sentence_table(benchmark: Benchmark, test: float = 0.2, seed: int = 0) -> pd.DataFrame:
    """Return the sentences with their split: one row for each template and right answer of each item.

    `test`: the share of the sentences of each relation that are for the test. `seed` decides which.
    `text` is the whole sentence, `masked` has ____ in place of the answer, and `prompt` is the text before it, empty
    where more than a period follows. Both are empty where the answer is the whole sentence. Statements of a graph that
    are false are left out.
    """
    if not 0 <= test < 1:
        raise BadInput(f"A share of {test:g} for the test is not possible.", "Give 0 or more, and less than 1.")
    relations = [
        (relation, [item for item in relation.items if item.is_true is not False]) for relation in benchmark.relations
    ]
    splits = _splits(relations, test, seed)
    if not splits:
        raise BadInput(f"{benchmark.slug} has no true sentences.", "Choose a benchmark with templates and answers.")
    rows = (
        (*row, splits[relation.label, item.index])
        for relation, items in relations
        for item in items
        for row in _sentences(relation, item)
    )
    return pd.DataFrame(rows, columns=list(COLUMNS))


def _sentences(relation: Relation, item: Item) -> Iterator[tuple[object, ...]]:
    """Yield the columns but the last for each template and right answer of an item."""
    options, language = relation.options_of(item), str(relation.tags.get("language", ""))
    for template in [0] if item.wording else range(len(relation.templates)):
        blank = item_prompt(relation, item, template)
        for answer in item.answers:
            statement = blank.fill(options[answer])
            ends = not blank.pieces[1].strip(" .")
            yield (
                *(relation.label, language, item.index, item.id, template, item.subject, options[answer]),
                *(statement.text, blank.fill(BLANK_TEXT).text if any(blank.pieces) else ""),
                statement.text[: statement.start].rstrip() if ends else "",
            )


def _splits(relations: Sequence[tuple[Relation, Sequence[Item]]], test: float, seed: int) -> dict[ItemKey, str]:
    """Return the split of every item.

    The items of each relation are grouped by the facts that they share, the groups mixed by the seed, and taken for
    the test as long as they fit into its share. A group belongs to the relation of its first item.
    """
    groups = _groups(
        (relation.label, item.index, _facts(relation, item)) for relation, items in relations for item in items
    )
    sizes = {relation.label: 0 for relation, _ in relations}
    by_relation: dict[str, list[list[ItemKey]]] = defaultdict(list)
    for group in groups:
        sizes[group[0][0]] += len(group)
        by_relation[group[0][0]].append(group)
    splits: dict[ItemKey, str] = {}
    for label, members in by_relation.items():
        free = int(test * sizes[label])
        for group in Random(f"{seed} {label}").sample(members, len(members)):
            is_test = len(group) <= free
            free -= len(group) * is_test
            splits.update(dict.fromkeys(group, TEST if is_test else TRAIN))
    return splits


def _facts(relation: Relation, item: Item) -> Iterator[frozenset[str]]:
    """Yield what the sentences of an item state: its subject in this relation, and its subject beside each answer.

    Subjects and answers count as equal by id or, whatever their case, by name; the order of a pair does not matter.
    """
    options = relation.options_of(item)
    subject, *others = item.names or (item.subject, *(options[answer] for answer in item.answers))
    yield frozenset((f"relation {relation.label}", subject.casefold()))
    yield from (frozenset((subject.casefold(), other.casefold())) for other in others)
    if item.subject_id:
        yield frozenset((f"relation {relation.label}", item.subject_id))
    if item.subject_id:
        yield from (frozenset((item.subject_id, id)) for id in relation.right_ids(item))


def _groups(items: Iterable[tuple[str, int, Iterable[frozenset[str]]]]) -> list[list[ItemKey]]:
    """Return the items in groups that have no fact in common, in the order of their first items."""
    parents: dict[object, object] = {}

    def root(member: object) -> object:
        parents.setdefault(member, member)
        while parents[member] != member:
            parents[member] = parents[parents[member]]
            member = parents[member]
        return member

    keys = []
    for label, index, facts in items:
        keys.append((label, index))
        for fact in facts:
            parents[root(fact)] = root((label, index))
    groups: Mapping[object, list[ItemKey]] = defaultdict(list)
    for key in keys:
        groups[root(key)].append(key)
    return list(groups.values())
