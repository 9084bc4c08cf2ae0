"""Rescoring: a benchmark's present tags joined to stored rows, from which all scores are computed again.

Tags (domains, cultures, cardinality) may change after a run; what was asked may not. Two digests tell them apart: a
record has `questions`, of everything that the run's rows depend on, and `tags`, of everything else.
"""

import hashlib
import json
from collections.abc import Collection, Iterable, Mapping
from dataclasses import fields
from datetime import UTC, datetime
from typing import Any

import pandas as pd

from probing.analysis.added_tags import ADDED_TAGS, KEY, added_columns, tag_names, with_added_tags
from probing.analysis.breakdowns import OVERALL
from probing.analysis.paired_tests import score_changes
from probing.baselines import with_baselines
from probing.benchmark import ASKED_TAGS, Benchmark, Item, Relation
from probing.errors import BadInput, Incomplete, OtherQuestions
from probing.plan import Plan, plan_of
from probing.probes.probe import Probe
from probing.results.completeness import check_complete
from probing.results.result import Result
from probing.results.rows import option_ranges, refuse_without_rows
from probing.settings import Settings

# The fields of a relation or an item that say how it is shown or grouped, and not what is asked.
UNASKED = frozenset({"pool", "name", "tags", "answer_tags", "object_ids"})


def rescored(result: Result, benchmark: Benchmark, added: pd.DataFrame | None = None) -> Result:
    """Return the result that today's tags and metrics make of stored rows; no model is needed.

    `added`: further tags of the items (`analysis.added_tags.read_tags`); the rows keep those that were added before.
    The same object is returned if nothing has changed. Raises `OtherQuestions` unless the rows answer what the
    benchmark asks now, and `BadInput` where there are none, or where an added tag has the name of another column.
    """
    plan = plan_of(benchmark, Settings.from_json(result.record["settings"]))
    refuse_other_questions(result, plan)
    kept = added_columns(result.record) - _tag_names(plan.benchmark)
    rows = with_tags(result.items, plan.benchmark, plan.probe, kept)
    measured_on = {**result.record["benchmark"]}
    version = {"version": benchmark.version, "digest": benchmark.digest}
    record = {**result.record, "benchmark": {**measured_on, **version}, **digests(plan)}
    if added is not None:
        _refuse_taken_names(added, {OVERALL, *rows.columns, *plan.probe.columns} - kept)
        rows = with_added_tags(rows, added)
        names = {name: _digest(_cells(added, name)) for name in tag_names(added)}
        record[ADDED_TAGS] = {**result.record.get(ADDED_TAGS, {}), **names}
    scores = with_baselines(plan.probe.scores(rows), rows, plan)
    if record == result.record and not score_changes(result.scores, scores):
        return result
    first = result.record.get("rescored", {}).get("measured_on", measured_on)
    record["rescored"] = {"time": datetime.now(UTC).isoformat(timespec="seconds"), "measured_on": first}
    return Result(rows, scores, record, option_ranges(plan))


def _tag_names(benchmark: Benchmark) -> set[str]:
    return {tag for relation, item in benchmark.items_by_key().values() for tag in relation.tags_of(item)}


def _refuse_taken_names(added: pd.DataFrame, taken: set[str]) -> None:
    if names := [name for name in tag_names(added) if name in taken]:
        raise BadInput(f"The rows have a column {names[0]} already.", "Give the tag another name.")


def _cells(added: pd.DataFrame, name: str) -> list[Any]:
    """Return the key and the tag of each item; the tag is None where it is empty."""
    table = added[[*KEY, name]].astype(object)
    rows: list[Any] = table.where(table.notna(), None).to_numpy().tolist()
    return rows


def refuse_other_questions(result: Result, plan: Plan) -> None:
    """Raise `OtherQuestions` unless there are rows for these settings and the benchmark still asks the same.

    A result that does not record the digest of its questions must be of these very files.
    """
    refuse_without_rows(result.record, "Computing scores again")
    measured, benchmark = result.record["benchmark"], plan.benchmark

    def other(difference: str) -> OtherQuestions:
        step = f"Use the files on which it was measured, version {measured['version']}."
        return OtherQuestions(f"The rows do not belong to {benchmark.slug} {benchmark.version}: {difference}.", step)

    try:
        check_complete(result.items, plan, result.record)
    except Incomplete as error:
        raise other(error.message.removesuffix(".")) from error
    items = benchmark.items_by_key()
    for row in result.items.to_dict("records"):
        relation, item = items[row["relation"], row["index"]]
        if column := _other_column({str(name): cell for name, cell in row.items()}, relation, item):
            raise other(f"relation {relation.label}, item {item.index} has another {column.replace('_', ' ')}")
    recorded = result.record.get("questions")
    if recorded is None and measured["digest"] != benchmark.digest:
        raise other("its files are other ones, and the result does not record what was asked")
    if recorded not in (None, digests(plan)["questions"]):
        raise other("its templates or options are other ones")


def _other_column(row: Mapping[str, Any], relation: Relation, item: Item) -> str:
    """Return the first column of a row that does not fit its item, or an empty text."""
    options = relation.options_of(item)
    expected: dict[str, Any] = {"subject": item.subject, "subject_id": item.subject_id, "answers": list(item.answers)}
    if "answer_label" in row:
        expected["answer_label"] = options[item.answers[0]]
    if "prediction" in row:
        expected["prediction_label"] = options[row["prediction"]]
    for name, value in expected.items():
        cell = row.get(name, value)
        if (cell if isinstance(cell, str) else list(cell)) != value:
            return name
    return ""


def with_tags(rows: pd.DataFrame, benchmark: Benchmark, probe: Probe, kept: Collection[str] = ()) -> pd.DataFrame:
    """Return rows with the benchmark's tags in place of those that they hold, but for the columns in `kept`.

    Every row must be about an item of the benchmark. The columns of tags stay where they were; new ones come last.
    """
    items = benchmark.items_by_key()
    names = [str(name) for name in rows.columns]
    # One row at a time: all of them as mappings would take more memory than the rows themselves.
    as_mappings = (dict(zip(names, row, strict=True)) for row in rows.itertuples(index=False, name=None))
    cells = [probe.row_tags(*items[row["relation"], row["index"]], row) for row in as_mappings]
    tags = pd.DataFrame(cells, index=rows.index)
    unchanged = {*probe.columns, *kept} - {*tags.columns}
    former = [name for name in rows.columns if name not in unchanged]
    first = list(rows.columns).index(former[0]) if former else len(rows.columns)
    others = rows.drop(columns=former)
    return pd.concat([others.iloc[:, :first], tags, others.iloc[:, first:]], axis=1)


def digests(plan: Plan) -> dict[str, str]:
    """Return the SHA-256 of the `questions` that a run asks, and that of their `tags`."""
    relations = plan.benchmark.relations
    tags = (
        [relation.id, relation.tags, relation.answer_tags, *(item.tags for item in relation.items)]
        for relation in relations
    )
    return {"questions": _digest(map(_question_content, relations)), "tags": _digest(tags)}


def _question_content(relation: Relation) -> list[Any]:
    """Return everything about a relation that the rows of a run depend on."""
    items = [[_fields(item), {tag: item.tags[tag] for tag in ASKED_TAGS & item.tags.keys()}] for item in relation.items]
    return [relation.label, _fields(relation) | {"items": items}]


def _fields(content: Relation | Item) -> dict[str, Any]:
    """Return the fields that are asked and differ from their default, so that a new field changes no old digest."""
    values = {field.name: getattr(content, field.name) for field in fields(content) if field.name not in UNASKED}
    defaults = {field.name: field.default for field in fields(content)}
    return {name: value for name, value in values.items() if value != defaults[name]}


def _digest(contents: Iterable[Any]) -> str:
    """Return the SHA-256 of these contents as a JSON list, of which one is in memory at a time."""
    sha, before = hashlib.sha256(b"["), ""
    for content in contents:
        sha.update((before + json.dumps(content, sort_keys=True)).encode())
        before = ", "
    sha.update(b"]")
    return sha.hexdigest()
