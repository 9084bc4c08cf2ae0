"""The contents of a benchmark: it has relations, a relation has templates, an answer space and items."""

import hashlib
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING, Any

from probing.errors import BadBenchmark, BadInput, suggestion
from probing.question_rows import BEHIND, Row, RowFault, questions, refuse_columns
from probing.template import SUBJECT_SLOT

if TYPE_CHECKING:  # reading a benchmark should not wait for pandas
    import pandas as pd

# The columns that identify a row of a result: its relation's label, its template's number, its item's index.
ROW_KEY = ["relation", "template", "index"]

TRUTH = "truth"  # the tag that says whether a statement is true
TRUTH_VALUES = {True: "true", False: "false"}  # of this tag, in the order of tables
LEVEL = "level"  # the tag with the difficulty of a false statement, where a sample has several; else whether it is true
# Tags that are part of the question: whether a statement is true, and which repetitions drew it (methods 3.1).
ASKED_TAGS = frozenset({TRUTH, "repetitions"})
# A tag's value; several values share an item equally (weight 1/d each, methods 1.3).
TagValue = str | tuple[str, ...]
Tags = Mapping[str, TagValue]
NO_TAGS: Tags = {}  # shared by all items without tags of their own, of which there may be many


@dataclass(frozen=True, slots=True)
class Item:
    """One question of a relation.

    `subject`: fills [X]. `answers`: the right options, as indices into the item's options; these are the relation's
    answer space unless the item has `options` of its own.
    `wording`: the sentence, with [Y] at the blank, if no template of the relation produces it. `id`: a stable name.
    `names`: whom or what the sentence is about, the subject first, where subject and answer do not tell.
    `object_ids`: the ids of all right objects, where several of them can have one label, and so be one option.

    Examples:
        >>> import probing
        >>> item = probing.Item(index=0, subject="Norway", answers=(1,), tags={"continent": "Europe"})
        >>> item.answers, item.is_true
        ((1,), None)
    """

    index: int
    subject: str
    answers: tuple[int, ...]
    subject_id: str = ""
    tags: Tags = field(default_factory=lambda: NO_TAGS)
    options: tuple[str, ...] = ()
    wording: str = ""
    id: str = ""
    names: tuple[str, ...] = ()
    object_ids: tuple[str, ...] = ()

    @property
    def is_true(self) -> bool | None:
        """Whether the item is a true statement; None for a question with a blank, which is neither true nor false."""
        return next((is_true for is_true, value in TRUTH_VALUES.items() if self.tags.get(TRUTH) == value), None)


@dataclass(frozen=True)
class Relation:
    """Items that share templates and an answer space. `index` of an item is its line in the relation's file.

    `answer_tags`: the tags of each option, if there are any. `questions`: wordings for chat models (`[X]` is the
    subject), which follow the system message `system`.
    `verbatim`: prompts keep the case of their first letter, which otherwise becomes upper case.
    `cascades`: for each template a version with a which-clause, whose first blank is scored (methods 2.4), if any.
    `pool`: all items of the relation where only some are asked, so that examples of few-shot prompts do not depend on
    which they are.

    Examples:
        >>> import probing
        >>> items = (probing.Item(0, "Norway", answers=(1,)), probing.Item(1, "Peru", answers=(0,)))
        >>> relation = probing.Relation("capital", ("The capital of [X] is [Y].",), ("Lima", "Oslo"), items)
        >>> benchmark = probing.Benchmark("capitals", "1", "", (relation,))
        >>> benchmark
        <Benchmark capitals 1: 2 items in 1 relations, probe multiple_choice>
    """

    id: str
    templates: tuple[str, ...]
    answer_space: tuple[str, ...]
    items: tuple[Item, ...]
    answer_ids: tuple[str, ...] = ()
    name: str = ""
    tags: Tags = field(default_factory=dict)
    cascades: tuple[str, ...] = ()
    answer_tags: tuple[Tags, ...] = ()
    questions: tuple[str, ...] = ()
    system: str = ""
    verbatim: bool = False
    pool: tuple[Item, ...] = ()

    def __repr__(self) -> str:
        """Return what a relation holds in numbers, because all of its items would fill screens."""
        sizes = f"{len(self.items):,} items, {len(self.answer_space):,} options, {len(self.templates)} templates"
        return f"<Relation {self.id}: {sizes}>"

    @property
    def label(self) -> str:
        """The relation's name in rows and scores: its predicate, which several relations may share (methods 4).

        The items of relations with the same label have different indices.
        """
        return str(self.tags.get("predicate", self.id))

    @property
    def all_items(self) -> tuple[Item, ...]:
        """The items of the relation, those that are not asked among them."""
        return self.pool or self.items

    def asking(self, items: Sequence[Item]) -> "Relation":
        """Return the relation with only these of its items, while the pool holds all of them."""
        return replace(self, items=tuple(items), pool=self.all_items if len(items) < len(self.all_items) else ())

    def options_of(self, item: Item) -> tuple[str, ...]:
        return item.options or self.answer_space

    def right_ids(self, item: Item) -> tuple[str, ...]:
        """Return the ids of an item's right objects; none where they are not known."""
        own = self.answer_ids if not item.options else ()
        return item.object_ids or tuple(own[answer] for answer in item.answers if own)

    def template_of(self, item: Item, number: int) -> str:
        return item.wording or self.templates[number]

    def tags_of(self, item: Item) -> dict[str, TagValue]:
        """Return the tags of the relation and of the item, which takes precedence."""
        return {**self.tags, **item.tags}


@dataclass(frozen=True)
class Benchmark:
    """Relations under a name, a version and a digest of the `files` that they were read from.

    Copies of these files in one folder are the same benchmark.
    `probe`: the name of the probe that is used by default; `further_probes`: those of others that its files are made
    for, whose figures are never mixed with it.
    `usual_tags`: tags of the relations that are asked unless a probe's options choose others.
    `notes`: remarks on how the files were read, for readers of results (what was left out, what was drawn).

    Examples:
        >>> import probing
        >>> benchmark = probing.open_benchmark("starter")
        >>> relation = benchmark["country_capital"]
        >>> item = relation.items[0]
        >>> relation.template_of(item, 0).replace("[X]", item.subject), relation.options_of(item)[item.answers[0]]
        ('The capital of Japan is [Y].', 'Tokyo')
        >>> benchmark.select(relations=["country_capital"], sample=5).size
        5
    """

    slug: str
    version: str
    digest: str
    relations: tuple[Relation, ...]
    title: str = ""
    probe: str = "multiple_choice"
    usual_tags: Tags = field(default_factory=dict)
    files: tuple[Path, ...] = field(default=(), compare=False, repr=False)
    notes: tuple[str, ...] = field(default=(), compare=False)
    further_probes: tuple[str, ...] = ()

    def __repr__(self) -> str:
        """Return what the benchmark holds in numbers, because all of its items would fill screens."""
        sizes = f"{self.size:,} items in {len(self.relations):,} relations"
        return f"<Benchmark {self.slug} {self.version}: {sizes}, probe {self.probe}>"

    @classmethod
    def from_frame(cls, frame: "pd.DataFrame", slug: str = "questions") -> "Benchmark":
        """Return the questions of a table, one in each row, with the columns that a file of questions has.

        The columns are `prompt`, or `template` and `subject`; `answer`; and, where they are wanted, `options`,
        `relation` and `id`. Further columns are tags. Raises `BadBenchmark` with all bad rows.

        Examples:
            >>> import pandas as pd
            >>> import probing
            >>> answers = {"Norway": "Oslo", "Peru": "Lima"}
            >>> rows = [{"prompt": f"The capital of {land} is", "answer": city} for land, city in answers.items()]
            >>> benchmark = probing.Benchmark.from_frame(pd.DataFrame(rows))
            >>> benchmark["questions"].answer_space
            ('Oslo', 'Lima')
        """
        if not hasattr(frame, "columns"):
            step = "Give pandas.DataFrame(rows); probing.open_benchmark reads a file."
            raise BadInput(f"A {type(frame).__name__} is no table.", step)
        refuse_columns(list(map(str, frame.columns)), slug)
        records = zip(frame.index, frame.to_dict("records"), strict=True)
        rows = ((f"row {label}", {str(name): cell for name, cell in row.items()}) for label, row in records)
        return benchmark_of(rows, slug, slug)

    def __getitem__(self, relation_id: str) -> Relation:
        for relation in self.relations:
            if relation.id == relation_id:
                return relation
        raise self._unknown(relation_id)

    def select(
        self,
        relations: Sequence[str] = (),
        limit: int | None = None,
        tags: Tags | None = None,
        sample: int | None = None,
        seed: int = 0,
    ) -> "Benchmark":
        """Return the benchmark with only the relations of these ids or labels (all if none is named).

        `limit`: only the first items of each relation. `sample`: this many items of each relation, spread evenly over
        its file, or drawn at random with a `seed` other than 0. If either leaves items out, a note says so. `tags`:
        only relations with these values, or without such a tag; an empty value stands for any.
        """
        _refuse_bad_numbers(limit, sample)
        kept = self._tagged(tags or {})
        chosen = [r for name in relations for r in self._named(name, kept)] if relations else kept
        items = {r.id: sampled(r, sample, seed) if sample else r.items[:limit] for r in chosen}
        once = {r.id: r.asking(items[r.id]) for r in chosen}
        all_items = all(len(items[r.id]) == len(r.items) for r in chosen)
        notes = () if all_items else (_selection_note(limit, sample, seed),)
        return replace(self, relations=tuple(once.values()), notes=(*self.notes, *notes))

    def relation_of(self, label: str, index: int) -> Relation:
        """Return the relation that has a row's item."""
        for relation in self._named(label, self.relations):
            if any(item.index == index for item in relation.items):
                return relation
        raise BadInput(f"Relation {label} has no item {index}.", "Choose one that is there.")

    def items_by_key(self) -> dict[tuple[str, int], tuple[Relation, Item]]:
        """Map the label of a relation and the index of an item, as rows have them, to both."""
        return {
            (relation.label, item.index): (relation, item) for relation in self.relations for item in relation.items
        }

    def _named(self, name: str, among: Sequence[Relation]) -> Sequence[Relation]:
        relations = [relation for relation in among if name in (relation.id, relation.label)]
        if not relations:
            raise self._unknown(name, among)
        return relations

    def _unknown(self, name: str, among: Sequence[Relation] = ()) -> BadInput:
        labels = dict.fromkeys(relation.label for relation in among or self.relations)
        return BadInput(f"Benchmark {self.slug} has no relation {name!r}.", suggestion(name, labels))

    def _tagged(self, tags: Tags) -> tuple[Relation, ...]:
        kept, among = self.relations, ""
        for tag, value in tags.items():
            condition = f"{tag.replace('_', ' ')} {value!r}"
            left = tuple(r for r in kept if not value or r.tags.get(tag, value) == value)
            if kept and not left:
                values = sorted({str(relation.tags[tag]) for relation in kept})
                raise BadInput(f"Benchmark {self.slug} has no {condition}{among}.", suggestion(str(value), values))
            if len(left) < len(kept):
                kept, among = left, f"{among} with {condition}"
        return kept

    @property
    def first_letters(self) -> str:
        """The rule for the first letter of every prompt, in words."""
        return "verbatim" if any(relation.verbatim for relation in self.relations) else "upper case"

    @property
    def size(self) -> int:
        """The number of items over all relations."""
        return sum(len(relation.items) for relation in self.relations)


def benchmark_of(
    rows: Iterable[tuple[str, Row | RowFault]], slug: str, name: str, files: tuple[Path, ...] = ()
) -> Benchmark:
    """Return the benchmark of rows that come with their places, which messages name behind `name`.

    Its digest is that of its questions, so that it does not depend on the kind of file. The index of an item is the
    number of its row, from 0.
    """
    all_questions = questions(rows, name)
    by_relation: dict[str, dict[int, dict[str, Any]]] = {}
    for index, question in enumerate(all_questions):
        by_relation.setdefault(question["relation"], {})[index] = question
    sha = hashlib.sha256(json.dumps(all_questions, sort_keys=True).encode()).hexdigest()
    relations = tuple(_relation_of(relation, group, name) for relation, group in by_relation.items())
    return Benchmark(slug, sha[:12], sha, relations, files=files)


def _relation_of(relation: str, own_questions: Mapping[int, Mapping[str, Any]], name: str) -> Relation:
    """Return a relation whose template is its first question's; questions with another one have their own wording."""
    pooled = [
        answer for question in own_questions.values() if not question["options"] for answer in question["answers"]
    ]
    if pooled and len(set(pooled)) == 1:
        message = f"{name}: all answers of the relation {relation} without options are {pooled[0]!r:.80}."
        raise BadBenchmark(message, "Add the column options, or questions with other answers.")
    listed = (option for question in own_questions.values() for option in question["options"])
    places = {option: place for place, option in enumerate(dict.fromkeys(pooled or listed))}
    usual = next((q["template"] for q in own_questions.values() if SUBJECT_SLOT in q["template"]), BEHIND)
    items = []
    for index, question in own_questions.items():
        own = {option: place for place, option in enumerate(question["options"])} or places
        template, subject = question["template"], question["subject"]
        items.append(
            Item(
                index,
                subject,
                tuple(own[answer] for answer in question["answers"]),
                tags=question["tags"] or NO_TAGS,
                options=question["options"],
                wording="" if template == usual else template.replace(SUBJECT_SLOT, subject),
                id=question["id"],
            )
        )
    return Relation(relation, (usual,), tuple(places), tuple(items), verbatim=True)


def sampled(relation: Relation, count: int, seed: int) -> tuple[Item, ...]:
    """Return `count` items of the relation, or all if there are no more, in their order.

    Without a seed they are the middles of `count` equal stretches of the relation's file. With a seed they are drawn
    at random, equally in versions of a relation that have the same label and as many items.
    """
    number = len(relation.items)
    if count >= number:
        return relation.items
    by_line = sorted(relation.items, key=lambda item: item.index)
    even = ((2 * step + 1) * number // (2 * count) for step in range(count))
    places = Random(f"{seed} {relation.label}").sample(range(number), count) if seed else even
    lines = {by_line[line].index for line in places}
    return tuple(item for item in relation.items if item.index in lines)


def _refuse_bad_numbers(limit: int | None, sample: int | None) -> None:
    if limit is not None and sample is not None:
        raise BadInput(
            "A limit and a sample exclude each other.", "Give one of them; a sample is fair, a limit is not."
        )
    for name, number in (("limit", limit), ("sample", sample)):
        if number is not None and number < 1:
            raise BadInput(f"A {name} of {number} leaves no items.", f"Give a {name} of 1 or more.")


def _selection_note(limit: int | None, sample: int | None, seed: int) -> str:
    """Say in a sentence which items are asked where not all of them are."""
    if sample is None:
        fault = "This is no fair sample, as files may be sorted by answer; the setting “sample” draws a fair one."
        return f"At most {limit:,} items of each relation were asked, the first in its file. {fault}"
    how = f"drawn at random with seed {seed}" if seed else "spread evenly over its file"
    return f"A sample of at most {sample:,} items of each relation was asked, {how}."
