"""Rescoring: a benchmark's present tags joined to stored rows, from which all scores are computed again.

Tags (domains, cultures, cardinality) may change after a run; what was asked may not. Two digests tell them apart: a
record has `questions`, of everything that the run's rows depend on, and `tags`, of everything else.
"""

import hashlib
import json
from collections.abc import Iterable, Mapping
from dataclasses import fields
from datetime import UTC, datetime
from typing import Any

import pandas as pd

from probing.analysis.exposure import (
    COUNT,
    COUNTED_COLUMNS,
    TAG_FILES,
    VIEWS_OF,
    YEARLY_VIEWS,
    exposure_scores,
    views_source,
    with_counts,
)
from probing.analysis.paired_tests import score_changes
from probing.baselines import with_baselines
from probing.benchmark import ASKED_TAGS, PAGE_VIEWS, Benchmark, Item, Relation
from probing.errors import BadInput, Incomplete, OtherQuestions
from probing.plan import Plan, plan_of
from probing.probes.probe import Probe
from probing.results.completeness import check_complete
from probing.results.result import Result
from probing.results.rows import option_ranges, refuse_without_rows
from probing.settings import Settings

# The fields of a relation or an item that say how it is shown or grouped, and not what is asked.
UNASKED = frozenset({"pool", "name", "tags", "answer_tags", "object_ids"})


def rescored(result: Result, benchmark: Benchmark, counts: pd.DataFrame | None = None) -> Result:
    """Return the result that today's tags and metrics make of stored rows; no model is needed.

    `counts`: how often a corpus states each fact, or how well known its subject is (`analysis.exposure.read_counts`);
    without it, the rows keep what they have. The same object is returned if nothing has changed. Raises
    `OtherQuestions` unless the rows answer what the benchmark asks now, and `BadInput` where there are none, or where
    both the counts and the benchmark state page views.
    """
    plan = plan_of(benchmark, Settings.from_json(result.record["settings"]))
    refuse_other_questions(result, plan)
    rows, counted = with_tags(result.items, plan.benchmark, plan.probe), dict[str, str]()
    if counts is not None:
        _refuse_second_page_views(counts, benchmark)
        rows = with_counts(rows, counts)
        counted = {tag: _digest(_numbers(counts, name)) for name, tag in TAG_FILES.items() if name in counts}
        if YEARLY_VIEWS in counts:
            counted[VIEWS_OF] = views_source(counts)
    scores = with_baselines(plan.probe.scores(rows), rows, plan)
    if COUNT in rows and (column := plan.probe.correctness.column):
        scores = pd.concat([scores, exposure_scores(rows, column)], ignore_index=True)
    measured_on = {**result.record["benchmark"]}
    version = {"version": benchmark.version, "digest": benchmark.digest}
    record = {**result.record, "benchmark": {**measured_on, **version}, **digests(plan), **counted}
    if record == result.record and not score_changes(result.scores, scores):
        return result
    first = result.record.get("rescored", {}).get("measured_on", measured_on)
    record["rescored"] = {"time": datetime.now(UTC).isoformat(timespec="seconds"), "measured_on": first}
    return Result(rows, scores, record, option_ranges(plan))


def _refuse_second_page_views(counts: pd.DataFrame, benchmark: Benchmark) -> None:
    """Raise `BadInput` where a benchmark that states page views, such as PopQA, would get others under that name."""
    if YEARLY_VIEWS in counts and any(PAGE_VIEWS in item.tags for _, item in benchmark.items_by_key().values()):
        step = f"Leave out the column {YEARLY_VIEWS}, which only other benchmarks take."
        raise BadInput(f"{benchmark.slug} states page views of its own.", step)


def _numbers(counts: pd.DataFrame, name: str) -> list[Any]:
    """Return the key and the number of each fact; the number is None where it is not known."""
    table = counts[["relation", "index", name]].astype(object)
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


def with_tags(rows: pd.DataFrame, benchmark: Benchmark, probe: Probe) -> pd.DataFrame:
    """Return rows with the benchmark's tags in place of those that they hold.

    Every row must be about an item of the benchmark. The columns of tags stay where they were; new ones come last.
    What was counted for the items (`analysis.exposure`) is kept.
    """
    items = benchmark.items_by_key()
    names = [str(name) for name in rows.columns]
    # One row at a time: all of them as mappings would take more memory than the rows themselves.
    as_mappings = (dict(zip(names, row, strict=True)) for row in rows.itertuples(index=False, name=None))
    cells = [probe.tag_cells(*items[row["relation"], row["index"]], row) for row in as_mappings]
    tags = pd.DataFrame(cells, index=rows.index)
    kept = {*probe.columns, *COUNTED_COLUMNS} - {*tags.columns}
    former = [name for name in rows.columns if name not in kept]
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
