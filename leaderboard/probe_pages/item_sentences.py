"""The questions that rows of a run's items belong to, as the sentences with a blank that a reader is shown."""

from collections.abc import Iterable, Mapping

from leaderboard.models import Benchmark, Run
from leaderboard.probe_pages.question_forms import QuestionForm
from leaderboard.probe_pages.questions_in_words import read_relations
from leaderboard.stored.item_rows import Row
from probing.benchmark import Item, Relation

RowKey = tuple[str, int, int]  # relation, template and index
Sentences = Mapping[RowKey, str]


def row_key(row: Row) -> RowKey:
    return row["relation"], row["template"], row["index"]


def usual_sentence(benchmark: Benchmark, form: QuestionForm, relation: Relation, item: Item) -> str:
    """Return an item's question in the first of the benchmark's usual wordings."""
    usual: int = next(iter(benchmark.settings.get("templates") or [0]))
    template = 0 if item.wording or usual >= len(relation.templates) else usual
    return str(form.sentence(relation, item, template))


def sentences(run: Run, rows: Iterable[Row], form: QuestionForm) -> Sentences:
    """Map the key of each row to its question; rows without a question in the benchmark's files are left out."""
    templates: dict[str, dict[int, set[int]]] = {}  # templates by relation and index
    for label, template, index in map(row_key, rows):
        templates.setdefault(label, {}).setdefault(index, set()).add(template)
    return {
        (relation.label, template, item.index): str(form.sentence(relation, item, template))
        for relation in read_relations(run.benchmark)
        if relation.label in templates
        for item in relation.items
        for template in templates[relation.label].get(item.index, ())
    }
