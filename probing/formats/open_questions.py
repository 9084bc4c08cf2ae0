"""Open questions with their answers and aliases: the published files of PopQA, SimpleQA and EntityQuestions.

PopQA (Mallen et al. 2023) is one table with tabs, whose questions come from a pattern for each property. SimpleQA (Wei
et al. 2024) is one table with commas, by topic; its answers have no aliases. EntityQuestions (Sciavolino et al. 2021)
has a list for each relation of Wikidata; its subjects are what the questions of a list do not have in common.
SimpleQA Verified (Haas et al. 2025) is a table like SimpleQA's with columns for the topic and the type of answer.

The probe `answering` asks the questions. For other probes a statement is the question with the answer behind it, and
the options of a relation are all of its answers and their aliases.
"""

import ast
import csv
import json
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from itertools import takewhile
from pathlib import Path
from typing import NamedTuple

from probing.benchmark import NO_TAGS, PAGE_VIEWS, Benchmark, Item, Relation, Tags
from probing.errors import BadBenchmark
from probing.formats.reading import JsonObject as Place
from probing.formats.reading import digest, relation_id, text_lines
from probing.template import ANSWER_SLOT, SUBJECT_SLOT

POPQA = frozenset({"subj", "prop", "obj", "question", "possible_answers"})
SIMPLEQA = frozenset({"problem", "answer"})
TABLES = {"*.tsv": (POPQA, "\t"), "*.csv": (SIMPLEQA, ",")}  # by pattern: the columns that are needed, the separator
LISTS = "P*.test.json"  # of EntityQuestions, in its folder `test`
# What SimpleQA Verified writes behind a number: "120k (acceptable range: anything between 118k and 122k)".
RANGE = re.compile(r"\s*\(acceptable range:[^()]*\)\s*$")
SYSTEM = "Answer with a name, a date or a number and nothing else."
NO_TOPIC = "questions"
PLAIN_NUMBER = re.compile("[0-9]{1,18}")
JUDGED = (
    "The authors of SimpleQA have a model judge whether a response is right. Here it is right if it contains the "
    "answer, so that these figures are lower and are not compared with published ones."
)
WITH_ALIASES = (
    "A response is right if it contains an answer or one of its aliases, also within a word, as the script of PopQA's "
    "authors has it. What is known and said, and the figure that ignores case, count whole words only."
)


class OpenQuestion(NamedTuple):
    """A question of a relation, with its subject where that is known, and its right answers, the usual name first."""

    relation: str
    text: str
    answers: list[str]
    subject: str = ""
    subject_id: str = ""
    tags: Tags = NO_TAGS


def fits(path: Path) -> bool:
    """Return whether there is a table of PopQA or SimpleQA, or a list of EntityQuestions; `path` may be the file."""
    return bool(_table(path) or _lists(path))


def read(path: Path) -> Benchmark:
    """Read a folder or a file; each property, topic or list is a relation."""
    table, lists = _table(path), _lists(path)
    if table:
        files, is_popqa = [table], table.suffix == ".tsv"
        questions = list(_popqa(table) if is_popqa else _simpleqa(table))
    elif lists:
        files, is_popqa, questions = lists, False, [question for file in lists for question in _entity_questions(file)]
    else:
        raise BadBenchmark(
            f"{path} has no table or list of open questions.", "Add test.tsv, a CSV file or P17.test.json."
        )
    by_relation: dict[str, list[OpenQuestion]] = {}
    for question in questions:
        by_relation.setdefault(question.relation, []).append(question)
    relations = tuple(_relation(name, group) for name, group in by_relation.items())
    sha, name = digest(files), path.resolve().name.lower().split(".")[0]
    notes = (JUDGED,) if table and not is_popqa else (WITH_ALIASES,)
    further = ("multiple_choice",) if is_popqa or not table else ()
    return Benchmark(
        name, sha[:12], sha, relations, probe="answering", files=tuple(files), notes=notes, further_probes=further
    )


def _table(path: Path) -> Path | None:
    """Return the first table with the columns of PopQA or SimpleQA; other tables of a folder are left alone."""
    for pattern, (columns, separator) in TABLES.items():
        for file in _files(path, pattern):
            with file.open(encoding="utf-8-sig", errors="replace") as opened:
                if columns <= set(next(csv.reader([opened.readline(10_000)], delimiter=separator), ())):
                    return file
    return None


def _lists(path: Path) -> list[Path]:
    return _files(path, LISTS) or _files(path / "test", LISTS)


def _files(path: Path, pattern: str) -> list[Path]:
    """Return the files of a folder whose names have this pattern, or the path itself where it is such a file."""
    found = sorted(path.glob(pattern)) if path.is_dir() else [path] * path.match(pattern)
    return [file for file in found if file.is_file()]


def _rows(path: Path) -> Iterator[tuple[Place, Mapping[str, str]]]:
    """Yield the rows of a table with their place, by which messages name them."""
    separator = "\t" if path.suffix == ".tsv" else ","
    reader = csv.DictReader((f"{line}\n" for line in text_lines(path)), delimiter=separator)
    try:
        for row in reader:
            yield Place(dict(row), f"{path.name}, line {reader.line_num}"), row
    except csv.Error as error:
        raise BadBenchmark(f"{path.name}, line {reader.line_num}: no table ({error}).", "Download it again.") from error


def _popqa(path: Path) -> Iterator[OpenQuestion]:
    for place, row in _rows(path):
        try:
            aliases = json.loads(place.text("possible_answers"))
        except ValueError:
            aliases = None
        if not isinstance(aliases, list) or not all(isinstance(alias, str) for alias in aliases):
            raise place.fault("'possible_answers' is no JSON list of texts", 'Write it like ["politician"].')
        entity = (row.get("s_uri") or "").rpartition("/")[2]
        answers, views = [place.text("obj"), *aliases], row.get("s_pop") or ""
        if views and not PLAIN_NUMBER.fullmatch(views):
            raise place.fault("'s_pop' is no number of page views", "Write a whole number, or leave it empty.")
        tags = {PAGE_VIEWS: _page_views_group(int(views))} if views else NO_TAGS
        relation, question, subject = _id(place.text("prop"), place), place.text("question"), place.text("subj")
        yield OpenQuestion(relation, question, answers, subject, entity, tags)


def _page_views_group(views: int) -> str:
    """Return the value of the tag `PAGE_VIEWS`: the numbers with as many digits, such as 100–999."""
    least: int = 10 ** (len(str(views)) - 1)
    return f"{least:,}–{10 * least - 1:,}" if views else "0"


def _simpleqa(path: Path) -> Iterator[OpenQuestion]:
    for place, row in _rows(path):
        metadata: object = {}
        if row.get("metadata"):
            try:
                metadata = ast.literal_eval(place.text("metadata"))
            except (ValueError, SyntaxError, MemoryError, RecursionError):
                metadata = None
        if not isinstance(metadata, dict):
            raise place.fault("'metadata' is no Python dictionary", "Leave the column out, or write it as published.")
        topic, kind = (str(metadata.get(name) or row.get(name) or "") for name in ("topic", "answer_type"))
        tags = {"answer_type": kind} if kind else NO_TAGS
        answer = RANGE.sub("", place.text("answer"))
        yield OpenQuestion(_id(topic or NO_TOPIC, place), place.text("problem"), [answer], tags=tags)


def _entity_questions(path: Path) -> Iterator[OpenQuestion]:
    """Yield the questions of a list; the subject is what stands between their common beginning and end."""
    location = Place({}, path.name)
    try:
        lines = json.loads("\n".join(text_lines(path)))
        places = [Place(dict(line), f"{path.name}, question {number}") for number, line in enumerate(lines, 1)]
    except (ValueError, TypeError, RecursionError) as error:
        raise location.fault("no JSON list of questions", "Download it again.") from error
    texts = [place.text("question") for place in places]
    before, after = _common_ends(texts) if len(set(texts)) > 1 else ("", "")
    relation = _id(path.name.partition(".")[0], location)
    for place, text in zip(places, texts, strict=True):
        if not (answers := list(place.texts("answers"))):
            raise place.fault("there are no answers", "Add at least one.")
        yield OpenQuestion(relation, text, answers, text.removeprefix(before).removesuffix(after) if before else "")


def _common_ends(texts: list[str]) -> tuple[str, str]:
    """Return the words with which all texts begin and end."""
    before, after = _common_start(texts), _common_start([text[::-1] for text in texts])[::-1]
    before = before[: before.rfind(" ") + 1]
    while after[:1].isalnum():
        after = after[1:]
    shortest = min(map(len, texts))
    return (before, after) if len(before) + len(after) < shortest else ("", "")


def _common_start(texts: list[str]) -> str:
    return "".join(
        letters[0] for letters in takewhile(lambda letters: len(set(letters)) == 1, zip(*texts, strict=False))
    )


def _id(name: str, place: Place) -> str:
    """Return the id of a relation: its name with underscores for what is neither letter nor digit."""
    plain = "".join(letter if letter.isascii() and letter.isalnum() else "_" for letter in name.lower())
    return relation_id(name if name[:1] == "P" and name[1:].isdigit() else plain, place)


def _relation(name: str, questions: list[OpenQuestion]) -> Relation:
    """Return a relation; its question is the most frequent pattern, and items of another one have their own wording."""
    patterns = [q.text.replace(q.subject, SUBJECT_SLOT, 1) if q.subject else SUBJECT_SLOT for q in questions]
    usual = Counter(pattern for pattern in patterns if SUBJECT_SLOT in pattern).most_common(1)
    pattern = usual[0][0] if usual else SUBJECT_SLOT
    places: dict[str, int] = {}
    items = [
        Item(
            index,
            question.subject or question.text,
            _places(question.answers, places),
            question.subject_id,
            question.tags,
            wording="" if own == pattern else f"{question.text} {ANSWER_SLOT}",
        )
        for index, (question, own) in enumerate(zip(questions, patterns, strict=True))
    ]
    return Relation(
        name,
        (f"{pattern} {ANSWER_SLOT}",),
        tuple(places),
        tuple(items),
        name="" if name[1:].isdigit() else name.replace("_", " "),
        questions=(pattern,),
        system=SYSTEM,
    )


def _places(answers: Iterable[str], places: dict[str, int]) -> tuple[int, ...]:
    """Return the places of answers among the options of the relation, to which new ones are added."""
    return tuple(dict.fromkeys(places.setdefault(answer, len(places)) for answer in answers if answer.strip()))
