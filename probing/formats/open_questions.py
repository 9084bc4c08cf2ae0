"""Open questions: the published tables of SimpleQA and SimpleQA Verified, with a relation for each topic.

In SimpleQA (Wei et al. 2024) the column `metadata` has the topic and the type of answer; SimpleQA Verified (Haas et al.
2025) has a column for each of the two.

The probe `answering` asks the questions. For other probes a statement is the question with the answer behind it, and
the options of a relation are all of its answers.
"""

import ast
import csv
import re
from collections.abc import Iterator
from pathlib import Path

from probing.benchmark import NO_TAGS, Benchmark, Item, Relation
from probing.errors import BadBenchmark
from probing.formats.reading import JsonObject as Place
from probing.formats.reading import digest, relation_id, text_lines
from probing.template import ANSWER_SLOT, SUBJECT_SLOT

COLUMNS = frozenset({"problem", "answer"})
# What SimpleQA Verified writes behind a number: "120k (acceptable range: anything between 118k and 122k)".
RANGE = re.compile(r"\s*\(acceptable range:[^()]*\)\s*$")
SYSTEM = "Answer with a name, a date or a number and nothing else."
NO_TOPIC = "questions"
JUDGED = (
    "The authors of SimpleQA have a model judge whether a response is right. Here it is right if it contains the "
    "answer, so that these figures are lower and are not compared with published ones."
)


def fits(path: Path) -> bool:
    """Return whether there is a table of SimpleQA; `path` may be the file."""
    return _table(path) is not None


def read(path: Path) -> Benchmark:
    """Read a folder or a file."""
    table = _table(path)
    if table is None:
        raise BadBenchmark(f"{path} has no table of open questions.", "Add a CSV file with problem and answer.")
    by_topic: dict[str, list[Place]] = {}
    for row in _rows(table):
        by_topic.setdefault(_topic_id(row), []).append(row)
    relations = tuple(_relation(topic, rows) for topic, rows in by_topic.items())
    sha, name = digest([table]), path.resolve().name.lower().split(".")[0]
    return Benchmark(name, sha[:12], sha, relations, probe="answering", files=(table,), notes=(JUDGED,))


def _table(path: Path) -> Path | None:
    """Return the first table with the columns of SimpleQA; other tables of a folder are left alone."""
    files = sorted(path.glob("*.csv")) if path.is_dir() else [path] * path.match("*.csv")
    for file in (file for file in files if file.is_file()):
        with file.open(encoding="utf-8-sig", errors="replace") as opened:
            if set(next(csv.reader([opened.readline(10_000)]), ())) >= COLUMNS:
                return file
    return None


def _rows(path: Path) -> Iterator[Place]:
    """Yield the rows of a table, with the topic and the type of answer as columns wherever they stand."""
    reader = csv.DictReader(f"{line}\n" for line in text_lines(path))
    try:
        for row in reader:
            place = Place(dict(row), f"{path.name}, line {reader.line_num}")
            place.values.update(_metadata(place))
            yield place
    except csv.Error as error:
        raise BadBenchmark(f"{path.name}, line {reader.line_num}: no table ({error}).", "Download it again.") from error


def _metadata(row: Place) -> dict[str, str]:
    if not row.values.get("metadata"):
        return {}
    try:
        metadata = ast.literal_eval(row.text("metadata"))
    except (ValueError, SyntaxError, MemoryError, RecursionError):
        metadata = None
    if not isinstance(metadata, dict):
        raise row.fault("'metadata' is no Python dictionary", "Leave the column out, or write it as published.")
    return {name: str(metadata[name]) for name in ("topic", "answer_type") if metadata.get(name)}


def _topic_id(row: Place) -> str:
    """Return the id of a row's relation: its topic with underscores for what is neither letter nor digit."""
    topic = (row.values.get("topic") or NO_TOPIC).lower()
    return relation_id("".join(letter if letter.isascii() and letter.isalnum() else "_" for letter in topic), row)


def _relation(topic: str, rows: list[Place]) -> Relation:
    answers = [RANGE.sub("", row.text("answer")) for row in rows]
    options = list(dict.fromkeys(answers))
    kinds = [row.values.get("answer_type") for row in rows]
    items = tuple(
        Item(index, row.text("problem"), (options.index(answer),), tags={"answer_type": kind} if kind else NO_TAGS)
        for index, (row, answer, kind) in enumerate(zip(rows, answers, kinds, strict=True))
    )
    return Relation(
        topic,
        (f"{SUBJECT_SLOT} {ANSWER_SLOT}",),
        tuple(options),
        items,
        name=topic.replace("_", " "),
        questions=(SUBJECT_SLOT,),
        system=SYSTEM,
    )
