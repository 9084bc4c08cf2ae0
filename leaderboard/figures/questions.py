"""The questions of a benchmark, which all models share: addresses, neighbours, and the answers of all runs."""

import re
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlencode

from django.urls import reverse

from leaderboard.figures import benchmarks
from leaderboard.figures.outcomes import NOT_COUNTED, RIGHT, Counts, answers_of, counts_of, measured_on, outcomes_of
from leaderboard.models import Benchmark, Run
from probing.benchmark import Benchmark as Content
from probing.benchmark import Item, Relation
from probing.errors import BadInput, ProbingError

ID = re.compile(r"(?P<relation>.+)-(?P<index>[0-9]{1,18})", re.DOTALL)
PAIR_TAGS = ("culture_pair", "language")  # by which relations of one name differ
HARDEST, EASIEST, IN_ORDER = "hardest", "easiest", "file"
ORDERS = {HARDEST: "Hardest first", EASIEST: "Easiest first", IN_ORDER: "In the benchmark's order"}


def values_of_tag(relations: Sequence[Relation], tag: str) -> list[str]:
    """Return the values that relations have of a tag, in their order; an empty text stands for those without it."""
    return list(dict.fromkeys(str(relation.tags.get(tag, "")) for relation in relations))


class NoQuestions(BadInput):
    """The benchmark's files are not on this site, so its questions are unknown."""


@dataclass(frozen=True)
class BenchmarkQuestion:
    """An item of a benchmark. `number` counts from 1 within the relation; `before` and `after` are its neighbours."""

    relation: Relation
    item: Item
    number: int
    before: Item | None
    after: Item | None

    @property
    def answers(self) -> list[str]:
        options = self.relation.options_of(self.item)
        return [options[answer] for answer in self.item.answers]


def question_id(relation: Relation, item: Item) -> str:
    """Return the name of a question in addresses, which all languages and versions of the benchmark's files keep."""
    return f"{relation.label}-{item.index}"


def question_url(benchmark: Benchmark, relation: Relation, item: Item) -> str:
    return reverse("question", args=[benchmark.name, question_id(relation, item)])


def questions_url(benchmark: Benchmark, relation: Relation) -> str:
    chosen = {tag: relation.tags[tag] for tag in PAIR_TAGS if tag in relation.tags}
    return f"{reverse('questions', args=[benchmark.name])}?{urlencode({'relation': relation.label, **chosen})}"


def question_named(benchmark: Benchmark, name: str) -> BenchmarkQuestion:
    """Return the question with this id; raise `BadInput` if there is none."""
    match = ID.fullmatch(name)
    if not match:
        raise BadInput(
            f"{name!r:.80} is no {benchmark.noun} of {benchmark.title}.",
            f"A {benchmark.noun} is named by its relation and its number.",
        )
    index = int(match["index"])
    relation = read_questions(benchmark).relation_of(match["relation"], index)
    position = next(position for position, item in enumerate(relation.items) if item.index == index)
    before = relation.items[position - 1] if position else None
    after = next(iter(relation.items[position + 1 : position + 2]), None)
    return BenchmarkQuestion(relation, relation.items[position], position + 1, before, after)


def read_questions(benchmark: Benchmark) -> Content:
    """Return the relations and items of a benchmark; raise `NoQuestions` where its files are not here."""
    if not benchmark.path:
        raise NoQuestions(
            f"The {benchmark.nouns} of {benchmark.title} are not on this site; only published figures are.",
            "Choose a benchmark that is measured here.",
        )
    return benchmarks.read(benchmark)


def difficulties(benchmark: Benchmark, choice: Mapping[str, str]) -> list[dict[str, Any]]:
    """Return the questions that a reader chose; those without an answer come last. One query.

    `choice`: a text to `search` for, the `relation`, the `PAIR_TAGS` and the `order`, any of them empty or missing.
    Each has its `item`, the relation, and how many answers over all runs and templates there are and are right.
    """
    tallies = {label: _tally(counts) for label, counts in counts_of(benchmark).items()}
    word = choice.get("search", "").casefold()
    rows = [
        _rated(relation, item, *tallies.get(relation.label, {}).get(item.index, (0, 0)))
        for relation in read_questions(benchmark).relations
        if _is_chosen(relation, choice)
        for item in relation.items
        if not word or _has(relation, item, word)
    ]
    return _ordered(rows, choice.get("order") or HARDEST)


def _is_chosen(relation: Relation, choice: Mapping[str, str]) -> bool:
    tags = {"relation": relation.label, **{tag: relation.tags.get(tag) for tag in PAIR_TAGS}}
    return all(choice.get(name, "") in ("", value) for name, value in tags.items())


def _rated(relation: Relation, item: Item, answered: int, right: int) -> dict[str, Any]:
    share = right / answered if answered else None
    return {
        "of_relation": relation,
        "item": item,
        "answered": answered,
        "right": right if answered else None,
        "share": share,
    }


def questions_with(benchmark: Benchmark, text: str) -> list[tuple[Relation, Item]]:
    """Return the questions whose subject, sentence or answer contains a text, each once for all languages and pairs.

    There are none where the benchmark's files are not here or cannot be read.
    """
    word, by_id = text.casefold(), dict[str, tuple[Relation, Item]]()
    with suppress(ProbingError):
        for relation in read_questions(benchmark).relations:
            for item in relation.items:
                if _has(relation, item, word):
                    by_id.setdefault(question_id(relation, item), (relation, item))
    return list(by_id.values())


def _tally(counts: Counts) -> dict[int, tuple[int, int]]:
    """Map the index of each item to the numbers of all and of right answers."""
    numbers = zip(counts.answered.sum(axis=0).tolist(), counts.right.sum(axis=0).tolist(), strict=True)
    return dict(zip(counts.items.tolist(), numbers, strict=True))


def _has(relation: Relation, item: Item, word: str) -> bool:
    """Tell whether a text of the question contains a word, whose case is folded."""
    options = relation.options_of(item)
    return any(word in text.casefold() for text in (item.subject, item.wording, *(options[a] for a in item.answers)))


def _ordered(rows: list[dict[str, Any]], order: str) -> list[dict[str, Any]]:
    if order == IN_ORDER:
        return rows
    sign = -1 if order == EASIEST else 1
    return sorted(rows, key=lambda row: (not row["answered"], sign * (row["share"] or 0)))


@dataclass(frozen=True)
class QuestionOutcomes:
    """The runs that were measured here, and their outcomes in one question by template.

    `models` maps the number of each run to its model's id, `outcomes` to the outcomes, which runs without any lack, and
    `sizes` to the number of parameters, where that is known.
    """

    models: Mapping[int, str]
    outcomes: Mapping[int, Sequence[int]]
    sizes: Mapping[int, int] = field(default_factory=dict)

    def of(self, run: int) -> Sequence[int]:
        return self.outcomes.get(run, ())

    def counted(self, template: int) -> list[int]:
        reached = (of_run[template] for of_run in self.outcomes.values() if template < len(of_run))
        return [outcome for outcome in reached if outcome != NOT_COUNTED]

    def share(self, run: int) -> float | None:
        """Return the share of wordings in which a run is right, None where none counts."""
        counted = [outcome == RIGHT for outcome in self.of(run) if outcome != NOT_COUNTED]
        return sum(counted) / len(counted) if counted else None

    def asked(self, benchmark: Benchmark, question: BenchmarkQuestion) -> list[int]:
        """Return the templates that some run was asked, or the benchmark's usual ones where none was."""
        if question.item.wording:
            return [0]
        every = range(len(question.relation.templates))
        usual = [number for number in benchmark.settings.get("templates") or every if number in every]
        return [number for number in every if self.counted(number)] or usual or [0]

    def by_share(self) -> list[int]:
        """Return the numbers of all runs, those that are right in most wordings first."""
        shares = {run: self.share(run) for run in self.models}
        return sorted(shares, key=lambda run: (shares[run] is None, -(shares[run] or 0)))


def question_outcomes(benchmark: Benchmark, question: BenchmarkQuestion) -> QuestionOutcomes:
    """Return what all runs made of a question. Two queries."""
    runs = measured_on(benchmark).exclude(artefact="").order_by("model__hub_id", "pk")
    label, index = question.relation.label, question.item.index
    outcomes = {run: of_run.of(index) for run, of_run in answers_of(benchmark, [label])[label].items()}
    rows = list(runs.values_list("pk", "model__hub_id", "model__parameters"))
    models, sizes = {run: hub_id for run, hub_id, _ in rows}, {run: size for run, _, size in rows if size}
    return QuestionOutcomes(models, outcomes, sizes)


def run_outcomes(run: Run, question: BenchmarkQuestion) -> QuestionOutcomes:
    """Return what one run made of a question, wherever it was measured and at whichever step. One query."""
    of_relation = outcomes_of(run).get(question.relation.label)
    outcomes = {run.pk: of_relation.of(question.item.index)} if of_relation else {}
    return QuestionOutcomes({run.pk: run.model.hub_id}, outcomes)


def read_runs(numbers: Sequence[int]) -> list[Run]:
    """Return runs in the order of their numbers. One query."""
    runs = Run.objects.select_related("model", "benchmark").in_bulk(numbers)
    return [runs[number] for number in numbers]
