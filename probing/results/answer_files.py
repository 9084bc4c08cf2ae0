"""Answers that other programs wrote, read as rows: samples of lm-evaluation-harness, and tables of right and wrong.

`samples_<task>_<time>.jsonl` is what the harness writes with --log_samples: one line for each question and filter. A
table is CSV or JSON lines with `id` and `correct` (0 or 1), and optionally `cluster`, which names what several items
have in common, and `score`, a number. Rows have the columns that results have, so that they are compared by the same
rule: the task is the relation, and items of one cluster count as one fact, as its wordings and languages do.
"""

import csv
import json
import re
from collections.abc import Iterator, Mapping
from math import isfinite
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.json as arrow_json

from probing.analysis.paired_tests import shared_rows
from probing.arrays import Ints
from probing.benchmark import ROW_KEY
from probing.errors import BadInput

SAMPLES = "samples_*.jsonl"
SAMPLES_NAME = re.compile(r"samples_(?P<task>.+?)(_\d{4}-\d\d-\d\dT[\d.:-]+)?\.jsonl")
USUAL_METRICS = ("acc", "exact_match")
OPTION_METRIC = "acc"  # the metric by which the best of the options is the answer
TRUTHS = {"0": False, "1": True, "false": False, "true": True, "0.0": False, "1.0": True}
FORMATS = "Give a result folder, samples_*.jsonl of lm-evaluation-harness, or CSV or JSON lines with id and correct."
BLOCK_BYTES = 2**22  # of a file of samples that are parsed at once; no line may be longer than this
# The columns of rows that no result has: where a row was read, and what tells that a question is the same.
FILE, LINE, DIGEST, SCORE, LOG_LIKELIHOODS = "file", "line", "digest", "score", "scores"
CLUSTER = "subject_id"  # by which items that ask for one fact are known
SAME_ITEMS = "Give answers to the same items."


def read_answers(path: Path, metric: str = "", filter_name: str = "") -> pd.DataFrame:
    """Return the rows of a file, or of a folder with samples of the harness: of one model, one file for each task.

    `metric`, `filter_name`: which of several metrics and filters of the harness count.
    """
    if path.is_dir():
        frames = {_task(file): _read_samples(file, metric, filter_name) for file in _samples_in(path)}
        if len(frames) == 1:
            return next(iter(frames.values()))
        return pd.concat([rows.assign(relation=task) for task, rows in frames.items()], ignore_index=True)
    if not path.is_file():
        raise BadInput(f"There is no file or folder {path}.", FORMATS)
    is_of_harness = path.suffix != ".csv" and "doc_id" in next(_json_lines(path), (0, {}))[1]
    return _read_samples(path, metric, filter_name) if is_of_harness else _read_table(path)


def _samples_in(folder: Path) -> list[Path]:
    """Return the samples in a folder, or in the only one of its folders that has any, as the harness makes it."""
    files = sorted(folder.glob(SAMPLES)) or sorted(folder.glob(f"*/{SAMPLES}"))
    if not files:
        raise BadInput(f"{folder} has neither a result nor samples_*.jsonl of lm-evaluation-harness.", FORMATS)
    if len(folders := {file.parent for file in files}) > 1:
        names = ", ".join(sorted(parent.name for parent in folders))
        raise BadInput(f"{folder} has samples of several models: {names}.", "Give the folder of one of them.")
    by_task: dict[str, Path] = {}
    for file in files:
        if other := by_task.get(_task(file)):
            step = "Name one of them, or move the other away."
            raise BadInput(f"{other} and {file.name} have samples of one task.", step)
        by_task[_task(file)] = file
    return files


def _task(file: Path) -> str:
    name = SAMPLES_NAME.fullmatch(file.name)
    return name["task"] if name else file.stem


# Samples of the harness.


def _read_samples(path: Path, metric: str, filter_name: str) -> pd.DataFrame:
    _, first = next(_json_lines(path), (0, {}))
    column = _metric_of(path, first, metric)
    table = _filtered(path, _arrow_table(path, first, column), filter_name)
    lines = table[LINE].to_numpy()
    values = table[column].to_numpy().astype(float)
    if len(wrong := np.flatnonzero(~np.isin(values, (0, 1)))):
        line, value = lines[wrong[0]], values[wrong[0]]
        step = "Choose a metric that says of each question whether it is right: --metric NAME."
        raise BadInput(f"{path}, line {line}: {column} is {value:g}, and neither 0 nor 1.", step)
    names = table["doc_id"].to_pandas()
    _refuse_twice(path, names, lines)
    rows = {"relation": "", "template": 0, "index": names, "correct": values == 1, FILE: str(path), LINE: lines}
    digest = table["doc_hash"].to_pandas() if "doc_hash" in table.column_names else ""
    return pd.DataFrame({**rows, DIGEST: digest, **_responses(table["filtered_resps"], column)})


def _metric_of(path: Path, first: Mapping[str, Any], metric: str) -> str:
    known = {"doc_id", "doc", "target", "arguments", "resps", "filtered_resps", "filter", "metrics"}
    there = [name for name in first if name not in known and not name.endswith("_hash")]
    if missing := {"doc_id", "filtered_resps"} - first.keys():
        raise BadInput(f"{path}, line 1 has no {min(missing)}.", FORMATS)
    for name in [metric] if metric else USUAL_METRICS:
        if isinstance(first.get(name), bool | int | float):
            return name
    named = f"no metric {metric!r}" if metric else f"neither {USUAL_METRICS[0]} nor {USUAL_METRICS[1]}"
    raise BadInput(f"{path} has {named}; its metrics are: {', '.join(there)}.", "Name one: --metric NAME.")


def _arrow_table(path: Path, first: Mapping[str, Any], metric: str) -> pa.Table:
    """Return the columns that are needed, with the number of each line.

    Arrow parses a file in a fraction of the time that `json` takes, which therefore only says what is wrong with it.
    """
    responses = first["filtered_resps"]
    has_options = bool(responses) and isinstance(responses[0], list)
    types = {
        "doc_id": pa.int64() if isinstance(first["doc_id"], int) else pa.string(),
        metric: pa.bool_() if isinstance(first[metric], bool) else pa.float64(),
        "filtered_resps": pa.list_(pa.list_(pa.string()) if has_options else pa.string()),
        **{name: pa.string() for name in ("filter", "doc_hash") if name in first},
    }
    options = arrow_json.ParseOptions(explicit_schema=pa.schema(types), unexpected_field_behavior="ignore")
    try:
        table = arrow_json.read_json(path, arrow_json.ReadOptions(block_size=BLOCK_BYTES), options)
        if not any(table[name].null_count for name in types):
            return table.append_column(LINE, pa.array(np.arange(1, len(table) + 1)))
    except pa.ArrowInvalid:
        pass
    return _table_by_line(path, types)


def _table_by_line(path: Path, types: Mapping[str, pa.DataType]) -> pa.Table:
    """Return the same from each line by itself; raise `BadInput` where one lacks something or has another form."""
    columns: dict[str, list[Any]] = {name: [] for name in [*types, LINE]}
    for number, record in _json_lines(path):
        for name in types:
            if record.get(name) is None:
                raise BadInput(f"{path}, line {number} has no {name}.", "Write the samples again with --log_samples.")
            columns[name].append(record[name])
        columns[LINE].append(number)
    responses = columns["filtered_resps"]
    columns["filtered_resps"] = [_as_texts(response) for response in responses]
    try:
        return pa.table({name: pa.array(values, types.get(name)) for name, values in columns.items()})
    except (pa.ArrowInvalid, pa.ArrowTypeError) as error:
        raise BadInput(f"{path} has lines of different forms ({error}).", "Give the samples of one task.") from error


def _as_texts(responses: Any) -> Any:
    """Return responses as the harness writes them since version 0.4.9: all numbers are texts."""
    return [_as_texts(response) for response in responses] if isinstance(responses, list) else str(responses)


def _filtered(path: Path, table: pa.Table, filter_name: str) -> pa.Table:
    """Return the lines of one filter; raise `BadInput` where there are several and none is named."""
    names = pc.unique(table["filter"]).to_pylist() if "filter" in table.column_names else []
    if len(names) < 2:
        return table
    if filter_name not in names:
        named = f"no filter {filter_name!r}, but" if filter_name else "several filters:"
        raise BadInput(f"{path} has {named} {', '.join(names)}.", "Name one: --filter NAME.")
    return table.filter(pc.equal(table["filter"], filter_name))


def _responses(responses: pa.ChunkedArray, metric: str) -> dict[str, Any]:
    """Return the options' log-likelihoods and the best option where there are several, else the text of the response.

    Where another metric counts, another option may be the answer, so that none is named.
    """
    lists = responses.combine_chunks()
    if not pa.types.is_list(lists.type.value_type):
        texts = pc.list_element(lists, 0).to_pandas() if len(lists) else []
        return {LOG_LIKELIHOODS: [np.zeros(0)] * len(lists), "prediction_label": texts}
    numbers = pc.cast(pc.list_element(lists.flatten(), 0), pa.float64(), safe=False).to_numpy(zero_copy_only=False)
    sizes = lists.value_lengths().to_numpy(zero_copy_only=False)
    scores = pa.ListArray.from_arrays(np.concatenate([[0], np.cumsum(sizes)]).astype(np.int32), numbers)
    return {
        LOG_LIKELIHOODS: scores.to_pandas(),
        "prediction_label": _best(numbers, sizes) if metric == OPTION_METRIC else None,
    }


def _best(scores: np.ndarray, sizes: Ints) -> list[str | None]:
    """Return the number of the best option of each question, the first of equals; None where there is one option."""
    starts = np.cumsum(sizes) - sizes
    is_best = scores == np.repeat(np.maximum.reduceat(scores, starts), sizes)
    places = np.where(is_best, np.arange(len(scores)) - np.repeat(starts, sizes), len(scores))
    best = np.minimum.reduceat(places, starts)
    return [str(option) if size > 1 else None for option, size in zip(best.tolist(), sizes.tolist(), strict=True)]


def with_texts(facts: pd.DataFrame, results: Mapping[str, pd.DataFrame]) -> pd.DataFrame:
    """Return facts of samples with their prompts, right answers and options, which are read now; others as they are."""
    rows = next(iter(results.values()))
    if LINE not in rows or LOG_LIKELIHOODS not in rows:
        return facts
    places = rows[["relation", "index", FILE, LINE]].astype({"index": str}).rename(columns={"index": "fact"})
    placed = facts.merge(places, on=["relation", "fact"])
    texts: dict[tuple[str, int], tuple[str, list[str], str]] = {}
    for file, part in placed.groupby(FILE):
        texts |= {(str(file), line): text for line, text in _texts(Path(str(file)), set(part[LINE]))}
    of_facts = [texts[place] for place in zip(placed[FILE], placed[LINE], strict=True)]
    prompts, options, targets = zip(*of_facts, strict=True) if of_facts else ((), (), ())
    answers = {side: list(map(_option_text, facts[side], options)) for side in results}
    return facts.assign(subject=prompts, answer=targets, **answers)


def _option_text(answer: str, options: list[str]) -> str:
    """Return the text of an answer, which is the number of an option where there are several."""
    return options[int(answer)] if len(options) > 1 and answer else answer


def _texts(path: Path, lines: set[int]) -> Iterator[tuple[int, tuple[str, list[str], str]]]:
    """Yield the numbers of lines of samples, each with the prompt, the options and the right answer in it."""
    for number, record in _json_lines(path, lines):
        requests = [*record.get("arguments", {}).values()]
        options = [str(request.get("arg_1", "")).strip() for request in requests]
        target = str(record.get("target", ""))
        right = options[int(target)] if target.isdecimal() and int(target) < len(options) > 1 else target
        yield number, (str(requests[0].get("arg_0", "")) if requests else "", options, right)


# Tables of right and wrong.


def _read_table(path: Path) -> pd.DataFrame:
    """Return the rows of a CSV file or of JSON lines; raise `BadInput` that names the line of a mistake."""
    records = list(_csv_lines(path) if path.suffix == ".csv" else _json_lines(path))
    if not records:
        raise BadInput(f"{path} has no rows.", FORMATS)
    for line, record in records:
        if missing := [name for name in ("id", "correct") if record.get(name) in (None, "")]:
            raise BadInput(f"{path}, line {line} has no {missing[0]}.", "Each row needs id and correct.")
    lines, names = np.array([line for line, _ in records]), pd.Series([str(record["id"]) for _, record in records])
    _refuse_twice(path, names, lines)
    correct = [_truth(path, *numbered) for numbered in records]
    rows = {"relation": "", "template": 0, "index": names, "correct": correct, FILE: str(path), LINE: lines}
    clusters = {CLUSTER: [str(record.get("cluster") or "") for _, record in records], "language": ""}
    has = {name: any(record.get(name) not in (None, "") for _, record in records) for name in ("cluster", SCORE)}
    scores = {SCORE: [_number(path, *numbered) for numbered in records]} if has[SCORE] else {}
    return pd.DataFrame({**rows, DIGEST: "", **(clusters if has["cluster"] else {}), **scores})


def _truth(path: Path, line: int, record: Mapping[str, Any]) -> bool:
    truth = TRUTHS.get(str(record["correct"]).strip().lower())
    if truth is None:
        raise BadInput(
            f"{path}, line {line}: correct is {record['correct']!r:.40}, and neither 0 nor 1.", "Correct it."
        )
    return truth


def _number(path: Path, line: int, record: Mapping[str, Any]) -> float:
    try:
        number = float(record.get(SCORE))  # type: ignore[arg-type]
    except (TypeError, ValueError):
        number = float("nan")
    if not isfinite(number):
        problem = f"{path}, line {line}: score is {record.get(SCORE)!r:.40}, and no number."
        raise BadInput(problem, "Give every row one, or none.")
    return number


def _csv_lines(path: Path) -> Iterator[tuple[int, Mapping[str, Any]]]:
    with path.open(newline="", encoding="utf-8-sig") as file:
        try:
            reader = csv.DictReader(file)
            for name in ("id", "correct"):
                if name not in (reader.fieldnames or ()):
                    raise BadInput(f"{path}, line 1 has no column {name}.", FORMATS)
            for record in reader:
                yield reader.line_num, record
        except (csv.Error, UnicodeDecodeError) as error:
            raise BadInput(f"{path} cannot be read as CSV ({error}).", FORMATS) from error


def _json_lines(path: Path, chosen: set[int] | None = None) -> Iterator[tuple[int, Mapping[str, Any]]]:
    """Yield the lines that are not empty, or of these the chosen ones, with their numbers from 1."""
    with path.open("rb") as file:
        for number, line in enumerate(file, 1):
            if not line.strip() or (chosen is not None and number not in chosen):
                continue
            try:
                record = json.loads(line)
            except ValueError as error:
                raise BadInput(f"{path}, line {number} is not JSON ({error}).", FORMATS) from error
            if not isinstance(record, dict):
                raise BadInput(f"{path}, line {number} is no JSON object.", FORMATS)
            yield number, record


def _refuse_twice(path: Path, names: pd.Series, lines: Ints) -> None:
    twice = np.flatnonzero(names.duplicated())
    if len(twice):
        first = int(np.flatnonzero(names == names[twice[0]])[0])
        problem = f"{path}, line {lines[twice[0]]}: the id {names[twice[0]]} is in line {lines[first]} already."
        raise BadInput(problem, "Give each id once.")


# Two sides.


def refuse_other_items(first: pd.DataFrame, second: pd.DataFrame) -> None:
    """Raise `BadInput` unless both have the same questions, in the same clusters."""
    for name, what in {LOG_LIKELIHOODS: "are samples of the harness", CLUSTER: "has a column cluster"}.items():
        if (name in first) != (name in second):
            has, lacks = (first, second) if name in first else (second, first)
            problem = f"{has[FILE][0]} {what}, unlike {lacks[FILE][0]}."
            raise BadInput(problem, "Give two files of one kind, with the same columns.")
    if not first[ROW_KEY].equals(second[ROW_KEY]):
        _refuse_alone(first, second)
    one, other = shared_rows({"first": first, "second": second}).values()
    for name, what in {DIGEST: "another question", CLUSTER: "in another cluster"}.items():
        if name in one and len(places := np.flatnonzero(one[name].to_numpy() != other[name].to_numpy())):
            row, its = one.iloc[places[0]], other.iloc[places[0]]
            place = f"{its[FILE]}, line {its[LINE]},"
            raise BadInput(f"{_named(row)} is {what} in {place} than in {row[FILE]}.", SAME_ITEMS)


def _refuse_alone(first: pd.DataFrame, second: pd.DataFrame) -> None:
    """Raise `BadInput` where an item is in one of them only."""
    keys, others = (rows[[*ROW_KEY, FILE, LINE]].astype({"index": str}) for rows in (first, second))
    both = keys.merge(others, "outer", ROW_KEY, suffixes=("", "_second"), indicator="side")
    alone = both[both["side"] != "both"]
    if len(alone) == len(both):
        raise BadInput(f"{first[FILE][0]} and {second[FILE][0]} have no id in common.", SAME_ITEMS)
    if len(alone):
        row, end = alone.iloc[0], "" if alone.iloc[0]["side"] == "left_only" else "_second"
        place = f"{row[FILE + end]}, line {row[LINE + end]:.0f}"
        problem = f"There are {len(first):,} and {len(second):,} items: {_named(row)} is only in {place}."
        raise BadInput(problem, SAME_ITEMS)


def _named(row: pd.Series) -> str:
    return f"id {row['index']} of {row['relation']}" if row["relation"] else f"id {row['index']}"
