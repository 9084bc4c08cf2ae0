"""Questions in words: names of relations and groups, and how each probe puts an item to a reader."""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from leaderboard.figures.benchmarks import read
from leaderboard.figures.comparisons import ModelAnswer
from leaderboard.figures.item_rows import Row
from leaderboard.models import Benchmark, Run
from leaderboard.probes.culture.sides import pair_title
from leaderboard.ui import labels
from probing.analysis.breakdowns import CROSSED, split_group
from probing.benchmark import Item, Relation, TagValue
from probing.errors import ProbingError
from probing.probes.choices import OTHER_BLANK
from probing.statements.geography_sentences import FACT_TYPES
from probing.template import ANSWER_SLOT, BLANK_TEXT, SUBJECT_SLOT, Prompt, prompt

MOST_OPTIONS = 5  # that an example shows
MOST_ANSWERS = 3  # right ones that a row shows
ENGLISH = ("", "en")
Names = Mapping[str, str]  # of relations in words, by their labels


def read_relations(benchmark: Benchmark) -> list[Relation]:
    """Return the relations of a benchmark; none where its files are not here or cannot be read."""
    try:
        return list(read(benchmark).relations) if benchmark.path else []
    except ProbingError:
        return []


def relation_name(relation: Relation) -> str:
    """Return a name for people: the stated one, that of the Wikidata predicate, or the id without underscores."""
    return labels.sentence(relation.name) if _is_a_name(relation.name) else labels.relation(relation.label)


def _is_a_name(text: str) -> bool:
    """Tell whether this names a relation; some benchmarks give a sentence with blanks instead."""
    return bool(text) and not set(text) & set("[]{}")


def relation_names(run: Run) -> Names:
    """Return the names of a benchmark's relations; none where its files are not here."""
    return {relation.label: relation_name(relation) for relation in read_relations(run.benchmark)}


def group_title(dimension: str, group: str, names: Names) -> str:
    """Return what pages call a group of items; addresses, tooltips and CSV have the name that is stored.

    `names`: those of the benchmark's relations; a relation without one there has that of its Wikidata predicate.
    """
    if dimension == "template":
        return wording(group)
    if dimension == "relation":
        return names.get(group) or labels.relation(group)
    if dimension in CROSSED:
        return _crossed_title(dimension, group, names)
    return tag_text(dimension, group)


def _crossed_title(dimension: str, group: str, names: Names) -> str:
    """Return the values of a group of several tags in words, with a relation before all others."""
    values = dict(zip(CROSSED[dimension], split_group(dimension, group), strict=True))
    relation = values.pop("relation", "")
    others = ", ".join(group_title(name, value, names) for name, value in values.items())
    return f"{group_title('relation', relation, names)} ({others})" if relation else others


def wording(number: str | int) -> str:
    """Return what pages call a template; addresses and CSV have its number, which counts from 0."""
    return f"Wording {int(number) + 1}" if str(number).isdecimal() else str(number)


def in_words(template: str) -> str:
    """Return a template as a sentence in which X stands for the subject and a line for the blank."""
    return template.replace(SUBJECT_SLOT, "X").replace(ANSWER_SLOT, BLANK_TEXT)


def wording_names(relations: Sequence[Relation]) -> Names:
    """Map the numbers of templates, as texts, to their sentences.

    Where relations have different sentences, the name is the number with that of the first relation as an example.
    """
    by_number: dict[str, list[str]] = {}
    for relation in sorted(relations, key=lambda relation: language_of(relation) not in ENGLISH):
        for number, template in enumerate(relation.templates):
            by_number.setdefault(str(number), []).append(in_words(template))
    return {
        number: f"“{texts[0]}”" if len(set(texts)) == 1 else f"{wording(number)}, for example “{texts[0]}”"
        for number, texts in by_number.items()
    }


def tag_text(name: str, value: TagValue) -> str:
    values = [value] if isinstance(value, str) else list(value)
    if name == "culture_pair":
        return ", ".join(map(pair_title, values))
    if name == "language":
        return ", ".join(map(labels.language, values))
    if name == "fact_type":
        return ", ".join(map(_fact_type, values))
    if name == "wording":
        return ", ".join(map(_fact_template, values))
    return ", ".join(map(labels.group, values))


def _fact_template(name: str) -> str:
    """Return the name of a fact type with the number of its wording, which counts from 1, or with its kind.

    Other benchmarks have a wording without a fact type.
    """
    fact_type, _, template = name.rpartition(" ")
    if not fact_type:
        return labels.group(name)
    return f"{_fact_type(fact_type)}, wording {int(template) + 1 if template.isdecimal() else f'“{template}”'}"


def _fact_type(key: str) -> str:
    return labels.sentence(FACT_TYPES[key].name) if key in FACT_TYPES else labels.group(key)


def language_of(relation: Relation) -> str:
    return str(relation.tags.get("language", ""))


def example_questions(
    relations: Sequence[Relation], offers_options: bool = True, *, in_writing: bool = False, most: int = 1
) -> list[dict[str, Any]]:
    """Return the first questions of relations that are spread evenly over those in English, or else over all.

    Each has its sentence `before` and `after` the blank, `options` with whether they are right, how many `more` there
    are, and its `lang`. `in_writing`: as they are put to chat models.
    """
    with_items = [relation for relation in relations if relation.items and (relation.questions or not in_writing)]
    chosen = [relation for relation in with_items if language_of(relation) in ENGLISH] or with_items
    step = max(1, len(chosen) // most)
    return [_example(relation, offers_options, in_writing) for relation in chosen[::step][:most]]


def _example(relation: Relation, offers_options: bool, in_writing: bool) -> dict[str, Any]:
    item = relation.items[0]
    if item.is_true is not None:
        return {"options": _statements(relation), "lang": language_of(relation)}
    before, after = _around_blank(_prompt(relation, item))
    if in_writing:
        before, after = f"{relation.questions[0].replace(SUBJECT_SLOT, item.subject)} ", ""
    options = relation.options_of(item)
    right = set(item.answers)
    others = [number for number in range(len(options)) if number not in right and offers_options]
    shown = sorted([*item.answers[:1], *others[: MOST_OPTIONS - 1]])
    more = len(options) - len(shown) if offers_options else 0
    named = [(options[number], number in right) for number in shown]
    return {"before": before, "after": after, "options": named, "more": more, "lang": language_of(relation)}


def _statements(relation: Relation) -> list[tuple[str, bool]]:
    """Return one true and one false statement, as far as there are any."""
    by_truth = {item.is_true: item.options[0] for item in reversed(relation.items)}
    return [(by_truth[is_true], is_true) for is_true in (True, False) if is_true in by_truth]


def _prompt(relation: Relation, item: Item) -> Prompt:
    return prompt(relation.template_of(item, 0), item.subject, verbatim=relation.verbatim)


def _around_blank(question: Prompt) -> tuple[str, str]:
    marked = question.fill("\0")
    return marked.text[: marked.start], marked.text[marked.end :]


def template_pieces(template: str) -> list[tuple[str, str]]:
    """Return the texts of a template in their order, each with what it is: "text", "subject" or "blank"."""
    kinds = {SUBJECT_SLOT: "subject", ANSWER_SLOT: "blank"}
    pieces = re.split(f"({'|'.join(map(re.escape, kinds))})", template)
    return [(piece, kinds.get(piece, "text")) for piece in pieces if piece]


def example_pieces(relation: Relation) -> tuple[str, str, str]:
    """Return the first question of a relation before, in and after its answer; of statements, a true one."""
    if not relation.items:
        return "", "", ""
    item = relation.items[0]
    if item.is_true is not None:
        return _statements(relation)[0][0], "", ""
    filled = _prompt(relation, item).fill(relation.options_of(item)[item.answers[0]])
    return filled.text[: filled.start], filled.text[filled.start : filled.end], filled.text[filled.end :]


class ShownSentence(NamedTuple):
    """A sentence with a blank between `before` and `after`; without a blank `before` is the whole text."""

    before: str
    after: str = ""
    blank: bool = True

    def __str__(self) -> str:
        return f"{self.before}____{self.after}" if self.blank else self.before


class QuestionForm(NamedTuple):
    """How an item is put to a reader.

    `sentence` makes the text of an item by the number of a template. `answer` reads a model's answer from a row where
    that of the probe (`ProbePages.model_answer`) does not suit a page about one item. `one_counts` tells that only the
    first of several right answers counts.
    """

    sentence: Callable[[Relation, Item, int], ShownSentence]
    answer: ModelAnswer | None = None
    one_counts: bool = False


class AnswerWords(NamedTuple):
    """What pages call the answers that count and those that do not, which may be true as well.

    `answer`: the heading of the answers that count. `one_prefers`, `several_prefer` and `other`: what a sentence says
    of models that gave such an answer, and of one that did not. `both_true`: answers have no marks of right and wrong,
    as either is true. `sure` is the title of the list of surprising answers on the page of a run, with a note.
    """

    right: str = "right"
    wrong: str = "wrong"
    answer: str = "Right answer"
    one_prefers: str = "is right"
    several_prefer: str = "are right"
    other: str = "is wrong"
    both_true: bool = False
    sure: str = "Wrong, and sure of it"
    sure_note: str = (
        "Answers that do not count, and that the model preferred most clearly to the one that does. The margin is the "
        "log-probability of the right answer minus that of the best other one. Questions are ordered by it, as a "
        "multiple of the usual margin of their wording."
    )

    def of(self, right: bool | None) -> str:
        """Return what an answer is called; None is one that does not count."""
        return "not counted" if right is None else self.right if right else self.wrong


OUTCOMES = {True: ("✓", "yes"), False: ("✗", "no"), None: ("–", "missing")}  # the mark and the CSS class of each
RIGHT_OR_WRONG = AnswerWords()


def with_blank(relation: Relation, item: Item, template: int) -> ShownSentence:
    """Return the item's sentence with an empty blank in place of the answer."""
    filled = prompt(relation.template_of(item, template), item.subject, relation.verbatim).fill("", OTHER_BLANK)
    return ShownSentence(filled.text[: filled.start], filled.text[filled.end :])


def statement(relation: Relation, item: Item, template: int) -> ShownSentence:
    """Return the statement, whose phrasings are the item's options."""
    return ShownSentence(relation.options_of(item)[template], blank=False)


def question(relation: Relation, item: Item, template: int) -> ShownSentence:
    """Return the question that a chat model is asked, or the item's sentence where there is none."""
    if not relation.questions:
        return with_blank(relation, item, template)
    return ShownSentence(relation.questions[0].replace(SUBJECT_SLOT, item.subject), blank=False)


def subject(relation: Relation, item: Item, template: int) -> ShownSentence:
    return ShownSentence(item.subject, blank=False)


def _perplexity(row: Row) -> str:
    return f"perplexity {row['perplexity']:,.1f}"


ONE_COUNTS = "One answer counts for each sentence, even where others are true as well."
CHOICE = QuestionForm(with_blank)
ONE_ANSWER = QuestionForm(with_blank, one_counts=True)
STATEMENT = QuestionForm(statement, ModelAnswer(("perplexity",), _perplexity))
FREE_TEXT = QuestionForm(question)
CLOSENESS = QuestionForm(subject)

RowKey = tuple[str, int, int]  # relation, template and index
Sentences = Mapping[RowKey, str]
Answers = Mapping[tuple[str, int], str]  # by relation and index


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


def several_answers(run: Run, rows: Iterable[Row], form: QuestionForm) -> Answers:
    """Map the items of rows of which several answers count to the first of them; none where only one counts."""
    indices: dict[str, set[int]] = {}
    for row in () if form.one_counts else rows:
        indices.setdefault(row["relation"], set()).add(row["index"])
    return {
        (relation.label, item.index): _first_answers([relation.options_of(item)[number] for number in item.answers])
        for relation in (read_relations(run.benchmark) if indices else ())
        if relation.label in indices
        for item in relation.items
        if len(item.answers) > 1 and item.index in indices[relation.label]
    }


def _first_answers(answers: Sequence[str]) -> str:
    """Return the first answers with the number of the others; open questions have all names of theirs."""
    more = f" and {len(answers) - MOST_ANSWERS:,} more" if len(answers) > MOST_ANSWERS else ""
    return "; ".join(answers[:MOST_ANSWERS]) + more
