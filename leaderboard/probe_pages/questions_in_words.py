"""Relations and their questions in words: a name that people can read, and a sentence with its answer."""

from collections.abc import Sequence
from dataclasses import dataclass

from leaderboard.display import labels
from leaderboard.display.cells import Cell
from leaderboard.models import Benchmark
from leaderboard.probe_pages.culture.sides import pair_title
from leaderboard.stored.benchmarks import read
from probing.benchmark import Item, Relation, TagValue
from probing.errors import ProbingError
from probing.template import Prompt, prompt

MOST_OPTIONS = 5  # that an example shows
ENGLISH = ("", "en")


@dataclass(frozen=True)
class Example:
    """A question: the sentence before and after its blank, options with whether each is right, and how many more."""

    before: str
    after: str
    options: Sequence[tuple[str, bool]]
    more: int
    lang: str


def read_relations(benchmark: Benchmark) -> list[Relation]:
    """Return the relations of a benchmark; none where its files are not here or cannot be read."""
    try:
        return list(read(benchmark).relations) if benchmark.path else []
    except ProbingError:
        return []


def relation_name(relation: Relation) -> str:
    """Return a name for people: the stated one, that of the Wikidata predicate, or the id without underscores."""
    if relation.name and "{" not in relation.name:
        return labels.sentence(relation.name)
    return labels.sentence(labels.relation(relation.label).replace("_", " "))


def tag_text(name: str, value: TagValue) -> str:
    """Return a tag's value in words."""
    values = [value] if isinstance(value, str) else list(value)
    if name == "culture_pair":
        return ", ".join(map(pair_title, values))
    if name == "language":
        return ", ".join(map(labels.language, values))
    return ", ".join(labels.GROUPS.get(text, text) for text in values)


def language_of(relation: Relation) -> str:
    return str(relation.tags.get("language", ""))


def example_question(relations: Sequence[Relation], offers_options: bool = True) -> Example | None:
    """Return the first question in English, or else in any language."""
    with_items = [relation for relation in relations if relation.items]
    english = [relation for relation in with_items if language_of(relation) in ENGLISH]
    for relation in [*english, *with_items]:
        return _example(relation, offers_options)
    return None


def _example(relation: Relation, offers_options: bool) -> Example:
    item = relation.items[0]
    if _is_statement(relation, item):
        return Example("", "", _statements(relation), 0, language_of(relation))
    before, after = _around_blank(_prompt(relation, item))
    options = relation.options_of(item)
    right = set(item.answers)
    others = [place for place in range(len(options)) if place not in right and offers_options]
    shown = sorted([*item.answers[:1], *others[: MOST_OPTIONS - 1]])
    more = len(options) - len(shown) if offers_options else 0
    return Example(before, after, [(options[place], place in right) for place in shown], more, language_of(relation))


def _is_statement(relation: Relation, item: Item) -> bool:
    """Tell whether an item is a whole statement, which is true or false, and not a question with a blank."""
    return "truth" in relation.tags_of(item)


def _statements(relation: Relation) -> list[tuple[str, bool]]:
    """Return one true and one false statement, as far as there are any."""
    by_truth = {relation.tags_of(item).get("truth") == "true": item.options[0] for item in reversed(relation.items)}
    return [(by_truth[truth], truth) for truth in (True, False) if truth in by_truth]


def _prompt(relation: Relation, item: Item) -> Prompt:
    return prompt(relation.template_of(item, 0), item.subject, verbatim=relation.verbatim)


def _around_blank(question: Prompt) -> tuple[str, str]:
    marked = question.fill("\0")
    return marked.text[: marked.start], marked.text[marked.end :]


def example_cell(relation: Relation) -> Cell:
    """Return the first question of a relation with its answer highlighted; of statements, a true one."""
    if not relation.items:
        return Cell(None, "–")
    item = relation.items[0]
    if _is_statement(relation, item):
        statement = _statements(relation)[0][0]
        return Cell(statement, statement)
    filled = _prompt(relation, item).fill(relation.options_of(item)[item.answers[0]])
    pieces = (filled.text[: filled.start], filled.text[filled.start : filled.end], filled.text[filled.end :])
    return Cell(filled.text, filled.text, pieces=pieces, lang=language_of(relation))
