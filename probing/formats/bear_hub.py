"""BEAR as a data set of the Hugging Face Hub: Parquet files with a row for each item and template.

They have no Wikidata ids and no domains, which the files of BEAR's repository have.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from probing.benchmark import Benchmark, Item, Relation
from probing.errors import BadBenchmark
from probing.formats.reading import digest
from probing.question_rows import RELATION_ID
from probing.template import ANSWER_SLOT, SUBJECT_SLOT

# The columns that are read, and the types of their values.
COLUMNS = {
    "relation": str,
    "item": int,
    "template_index": int,
    "template": str,
    "subject": str,
    "answer_options": list,
    "correct": int,
}
ROWS_AT_ONCE = 1024  # a row repeats all options of its item
NEXT_STEP = "Give the files of the data set as they are."


def fits(folder: Path) -> bool:
    """Return whether the folder has Parquet files with BEAR's columns."""
    files = sorted(folder.glob("*.parquet")) if folder.is_dir() else []
    try:
        return bool(files) and set(COLUMNS) <= set(pq.read_schema(files[0]).names)
    except (pa.ArrowException, OSError):
        return False


def read(folder: Path) -> Benchmark:
    """Read all Parquet files of the folder, in the order of their names; raise `BadBenchmark` for a fault in a row."""
    files = tuple(sorted(folder.glob("*.parquet")))
    if not files:
        raise BadBenchmark(f"{folder} holds no Parquet files.", "Give the folder with the files of the data set.")
    collected: dict[str, _Rows] = {}
    for path in files:
        for number, row in enumerate(_rows(path)):
            location = f"{path.name}, row {number}"
            _refuse_bad(row, location)
            collected.setdefault(row["relation"], _Rows()).add(row, location)
    relations = tuple(rows.relation(name) for name, rows in collected.items())
    sha = digest(files)
    return Benchmark(folder.resolve().name.lower(), sha[:12], sha, relations, files=files)


@dataclass
class _Rows:
    """What the rows of a relation that have been read so far say: its options, templates and items."""

    options: list[str] = field(default_factory=list)
    templates: dict[int, str] = field(default_factory=dict)
    items: dict[int, Item] = field(default_factory=dict)
    questions: set[tuple[int, int]] = field(default_factory=set)

    def add(self, row: dict[str, Any], location: str) -> None:
        """Add a row; raise `BadBenchmark` where it contradicts an earlier one."""
        number, key = row["template_index"], row["item"]
        item = Item(key, row["subject"], (row["correct"],))
        self.options = self.options or row["answer_options"]
        if row["answer_options"] != self.options:
            raise BadBenchmark(f"{location}: item {key} has other options than those before.", NEXT_STEP)
        if self.templates.setdefault(number, row["template"]) != row["template"]:
            raise BadBenchmark(f"{location}: template {number} has two wordings.", NEXT_STEP)
        if self.items.setdefault(key, item) != item:
            raise BadBenchmark(f"{location}: item {key} differs from an earlier row.", NEXT_STEP)
        if (key, number) in self.questions:
            raise BadBenchmark(f"{location}: item {key} occurs twice with template {number}.", NEXT_STEP)
        self.questions.add((key, number))

    def relation(self, name: str) -> Relation:
        """Return the relation; raise `BadBenchmark` unless every item has all templates."""
        numbers, items = sorted(self.templates), tuple(self.items[key] for key in sorted(self.items))
        if numbers != list(range(len(numbers))) or len(self.questions) != len(numbers) * len(items):
            raise BadBenchmark(f"Relation {name}: a template is missing, for some items or for all.", NEXT_STEP)
        return Relation(name, tuple(self.templates[number] for number in numbers), tuple(self.options), items)


def _rows(path: Path) -> Iterator[dict[str, Any]]:
    try:
        for batch in pq.ParquetFile(path).iter_batches(ROWS_AT_ONCE, columns=list(COLUMNS)):
            if missing := COLUMNS.keys() - set(batch.schema.names):
                raise BadBenchmark(f"{path.name}: the column {min(missing)!r} is missing.", NEXT_STEP)
            yield from batch.to_pylist()
    except (pa.ArrowException, OSError) as error:
        raise BadBenchmark(f"{path.name} cannot be read ({error}).", "Download it again.") from error


def _refuse_bad(row: dict[str, Any], location: str) -> None:
    """Raise `BadBenchmark` for a value of another type, a bad template, and a right answer that is no option."""
    for name, kind in COLUMNS.items():
        if type(row[name]) is not kind:
            raise BadBenchmark(f"{location}: {name} is {row[name]!r:.80}.", NEXT_STEP)
    options = row["answer_options"]
    if not all(isinstance(option, str) and option for option in options) or len(set(options)) < len(options):
        raise BadBenchmark(f"{location}: the options are not distinct texts.", NEXT_STEP)
    if not 0 <= row["correct"] < len(options):
        raise BadBenchmark(f"{location}: the right answer {row['correct']} is no option.", NEXT_STEP)
    if row["template"].count(ANSWER_SLOT) != 1 or SUBJECT_SLOT not in row["template"]:
        raise BadBenchmark(f"{location}: the template lacks {SUBJECT_SLOT} or {ANSWER_SLOT}.", NEXT_STEP)
    if not RELATION_ID.fullmatch(row["relation"]) or not row["subject"]:
        raise BadBenchmark(f"{location}: the relation or the subject has no proper name.", NEXT_STEP)
