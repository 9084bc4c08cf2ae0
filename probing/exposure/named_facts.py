"""The facts of a benchmark with all names of their subjects and answers, by which a corpus is searched for them."""

import json
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from probing.benchmark import Benchmark, Item, Relation
from probing.errors import BadInput
from probing.formats.reading import read_lines

ALIASES_STEP = 'Write it like {"Q142": {"aliases": ["French Republic"]}}, with ids or labels of the benchmark.'


@dataclass(frozen=True)
class Fact:
    """An item of a benchmark, as a row has it: `relation` is the label, `answer` the first right option.

    `subject_names` and `answer_names`: the labels and aliases of the subject, and of all right options.
    """

    relation: str
    index: int
    subject: str
    answer: str
    subject_names: tuple[str, ...]
    answer_names: tuple[str, ...]


class Aliases:
    """Further names of subjects and answers, by their id, or by their label where they have no id."""

    def __init__(self, names: Mapping[str, Iterable[str]]) -> None:
        self._names = {key: tuple(sorted(set(values))) for key, values in names.items()}

    @classmethod
    def of_benchmark(cls, benchmark: Benchmark, file: str | Path = "") -> "Aliases":
        """Read the aliases of subjects in the benchmark's own files (`sub_aliases`), and those of a further file.

        Raises `BadInput` where there are none, or where the file names nothing of the benchmark.
        """
        names: defaultdict[str, list[str]] = defaultdict(list)
        for path in benchmark.files:
            for line in read_lines(path) if path.suffix == ".jsonl" else ():
                key = line.optional_text("sub_id") or line.values.get("sub_label", "")
                names[key] += line.texts("sub_aliases")
        if file:
            added = _read_aliases(Path(file))
            if not added.keys() & {key for pair in _entities(benchmark) for key in pair}:
                raise BadInput(f"{file} names nothing of the benchmark {benchmark.slug}.", ALIASES_STEP)
            for key, values in added.items():
                names[key] += values
        elif not any(names.values()):
            raise BadInput(f"The files of {benchmark.slug} have no aliases.", "Name a file: --aliases FILE.")
        return cls(names)

    def of(self, label: str, entity: str) -> tuple[str, ...]:
        """Return the label and the aliases of an entity; `entity` is its id, or empty."""
        return tuple(dict.fromkeys([label, *self._names.get(entity or label, self._names.get(label, ()))]))


NO_ALIASES = Aliases({})


def _read_aliases(path: Path) -> dict[str, list[str]]:
    """Read a JSON object whose values are lists of names, or objects with such a list under `aliases`.

    The latter is the form of `all_entities.json` in the repository of BEAR.
    """
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
        lists = {
            key: value["aliases"] if isinstance(value, dict) else value for key, value in dict(content).items() if value
        }
    except (OSError, ValueError, TypeError, KeyError) as error:
        raise BadInput(f"{path} cannot be read as aliases ({error}).", ALIASES_STEP) from error
    for key, names in lists.items():
        if not isinstance(names, list) or not all(isinstance(name, str) for name in names):
            raise BadInput(f"{path} has no list of names for {key!r:.80}.", ALIASES_STEP)
    return lists


def facts_of(benchmark: Benchmark, aliases: Aliases = NO_ALIASES) -> tuple[Fact, ...]:
    """Return the benchmark's items that have a subject and an answer, in its order.

    Raises `BadInput` where there are none, as in a benchmark of true and false sentences.
    """
    facts = tuple(
        Fact(
            relation.label,
            item.index,
            item.subject,
            relation.options_of(item)[item.answers[0]],
            aliases.of(item.subject, item.subject_id),
            tuple(
                dict.fromkeys(name for label, entity in _answers(relation, item) for name in aliases.of(label, entity))
            ),
        )
        for relation in benchmark.relations
        for item in relation.items
        if item.subject and item.answers and item.is_true is None
    )
    if not facts:
        raise BadInput(f"The benchmark {benchmark.slug} has no facts with a subject and an answer.", "Choose another.")
    return facts


def _answers(relation: Relation, item: Item) -> Iterator[tuple[str, str]]:
    """Yield the label and the id of each right option; an option without a known id has an empty one."""
    ids = relation.answer_ids if not item.options else ()
    for answer in item.answers:
        yield relation.options_of(item)[answer], ids[answer] if ids else ""


def _entities(benchmark: Benchmark) -> Iterator[tuple[str, str]]:
    """Yield the label and the id of each subject and each right answer."""
    for relation in benchmark.relations:
        for item in relation.items:
            yield item.subject, item.subject_id
            yield from _answers(relation, item)
