"""The command `compare`: which facts did a quantised, tuned or later model lose?

Two results, or files of right and wrong answers that other programs wrote, are compared item by item.
"""

import argparse
import json
from collections.abc import Iterable, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from probing.analysis.answer_changes import (
    GAINED,
    LOST,
    AnswerChanges,
    changed_facts,
    difference_in_words,
    mean_change_in_words,
    most_certain_first,
)
from probing.analysis.breakdowns import OVERALL
from probing.analysis.paired_tests import (
    CORRECT,
    Correctness,
    ResultRows,
    common_rows,
    compare,
    shared_in_words,
    smallest_difference,
)
from probing.command_line.printing import print_lines, print_table, write_csv
from probing.dot_charts import write_dots
from probing.errors import BadInput
from probing.files.folders import missing_path, new_file
from probing.probes import probe_named
from probing.probes.probe import Probe
from probing.results.answer_files import SCORE, read_answers, refuse_other_items, with_texts
from probing.results.compared import refuse_other_benchmarks, run_name, what_differs
from probing.results.result import RECORD, Result
from probing.results.rows import refuse_without_rows

A, B = "A", "B"
STDOUT = "-"
MOST_LINES = 10
FACTS = ["id", "subject", "answer", A, B, "change"]
SHOWN = ["dimension", "group", "n", A, B, "difference", "low", "high", LOST, GAINED, "p", "p_holm"]


def add_compare(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    kinds = "a result folder, samples_*.jsonl of lm-evaluation-harness or a folder of them, or CSV or JSON lines"
    add("first", metavar="A", type=Path, help=f"{kinds} with id, correct and optionally cluster and score")
    add("second", metavar="B", type=Path, help="the same of another model")
    add("--metric", default="", metavar="NAME", help="of samples: what is right; default: acc, else exact_match")
    add("--filter", default="", metavar="NAME", help="of samples: which of several filters counts")
    add("--all", action="store_true", help=f"print every group, and not only {MOST_LINES} lines")
    add("--items", type=Path, metavar="FILE", help="write the facts lost and gained to a CSV file")
    add("--plot", type=Path, metavar="FILE", help="draw the differences that are printed: .html, .png, .svg or .pdf")
    add("--json", metavar="FILE", help=f"write everything as JSON; {STDOUT} prints it in place of the text")
    parser.set_defaults(command=compare_two)


def compare_two(arguments: argparse.Namespace) -> None:
    paths = {A: arguments.first, B: arguments.second}
    _refuse_absent(paths.values())
    if arguments.first.resolve() == arguments.second.resolve():
        raise BadInput(f"A and B are both {arguments.first}.", "Name two different ones.")
    are_results = [(path / RECORD).is_file() for path in paths.values()]
    if any(are_results) and not all(are_results):
        other = next(path for path, is_result in zip(paths.values(), are_results, strict=True) if not is_result)
        raise BadInput(f"{other} is no result, and is compared with one.", "Compare two results, or two files.")
    compared = _of_results(paths) if all(are_results) else _of_files(paths, arguments.metric, arguments.filter)
    if arguments.items:
        write_csv(compared.facts, arguments.items)
    if arguments.plot:
        compared.plot(arguments.plot, with_all=arguments.all)
    if arguments.json == STDOUT:
        print(compared.as_json())
        return
    compared.print(with_all=arguments.all)
    if arguments.json:
        with new_file(Path(arguments.json)) as new:
            new.write_text(f"{compared.as_json()}\n", encoding="utf-8")


def _refuse_absent(paths: Iterable[Path]) -> None:
    for path in paths:
        if not path.exists():
            raise BadInput(*missing_path(path, "file or folder"))


@dataclass(frozen=True)
class SideBySide:
    """Two results side by side.

    `rows`: by `A` and `B`. `names`: what each of them is, in words. `remarks`: in what they differ, and how many items
    they share. `has_options`: whether option scores of both mean the same.
    """

    rows: ResultRows
    differences: pd.DataFrame
    names: Mapping[str, str]
    remarks: list[str]
    ahead: str = Probe.ahead
    correctness: Correctness = CORRECT
    has_options: bool = True

    @property
    def overall(self) -> dict[str, Any]:
        """The difference on all items."""
        return {str(name): value for name, value in self.differences.iloc[0].items()}

    @cached_property
    def counted(self) -> ResultRows:
        """The rows that count in both; all of them where answers are not right or wrong."""
        return common_rows(self.rows, self.correctness.column) if self.correctness.column else self.rows

    @cached_property
    def sentence(self) -> str:
        smallest = smallest_difference(self.counted, self.correctness) if self.correctness.column else None
        overall = {"first": self.overall[A], "second": self.overall[B], **self.overall}
        return difference_in_words(B, overall, self.ahead, smallest)

    @cached_property
    def changes(self) -> AnswerChanges:
        return AnswerChanges.of(self.counted, self.has_options)

    @cached_property
    def facts(self) -> pd.DataFrame:
        """The facts lost and gained, with what both models answer."""
        if not self.correctness.column:
            return pd.DataFrame(columns=FACTS)
        facts = with_texts(changed_facts(self.counted, self.correctness.column), self.counted)
        is_named = facts["relation"] != ""
        return facts.assign(id=facts["fact"].where(~is_named, facts["relation"] + "/" + facts["fact"]))[FACTS]

    @property
    def lines(self) -> list[str]:
        """What changed, in sentences."""
        lines = self.changes.in_words(A, B, self.overall)
        scored = [rows for rows in self.counted.values() if SCORE in rows]
        return [*lines, *([mean_change_in_words(*scored)] if len(scored) == 2 else [])]

    def print(self, *, with_all: bool) -> None:
        """Print the sentence, the groups whose differences matter most, and what changed."""
        print(f"{self.sentence}.\n")
        table = self.shown(with_all=with_all)
        print_table(table[SHOWN])
        if rest := len(self.differences) - len(table):
            print(f"{rest} more groups, in which less is certain: --all")
        print_lines("What changed", self.lines)
        print_lines("What is compared", [*(f"{side}: {name}" for side, name in self.names.items()), *self.remarks])

    def shown(self, *, with_all: bool) -> pd.DataFrame:
        """The difference on all items, and below it the groups in which most is certain."""
        groups = most_certain_first(self.differences)
        return pd.concat(
            [self.differences.head(1), groups if with_all else groups[groups["p"] < 1].head(MOST_LINES - 1)]
        )

    def plot(self, file: Path, *, with_all: bool) -> None:
        """Draw the differences that are printed, with their intervals."""
        table = self.shown(with_all=with_all)
        groups = table["dimension"].where(table["dimension"] == OVERALL, table["dimension"] + ": " + table["group"])
        dots = table.set_index(groups)[["difference", "low", "high"]].rename(columns={"difference": "value"})
        names = "\n".join(f"{side}: {name}" for side, name in self.names.items())
        write_dots(dots, f"{B} minus {A}\n{names}", f"{self.sentence}.", file)

    def as_json(self) -> str:
        """Return all of it as JSON; a number that is not known is null."""
        whole = {
            "sentence": f"{self.sentence}.",
            **self.names,
            "remarks": self.remarks,
            "changes": self.lines,
            **self.changes._asdict(),
            "differences": self.differences.to_dict("records"),
            "facts": self.facts.to_dict("records"),
        }
        return json.dumps(_plain(whole), ensure_ascii=False, indent=1)


def _plain(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: _plain(content) for name, content in value.items()}
    if isinstance(value, list):
        return [_plain(element) for element in value]
    if isinstance(value, np.generic):
        return _plain(value.item())
    return None if isinstance(value, float) and np.isnan(value) else value


def _of_results(paths: Mapping[str, Path]) -> SideBySide:
    results = {side: Result.load(path) for side, path in paths.items()}
    for result in results.values():
        refuse_without_rows(result.record, "A comparison")
    refuse_other_benchmarks({str(paths[side]): result.record for side, result in results.items()})
    records = {side: result.record for side, result in results.items()}
    rows = {side: result.items for side, result in results.items()}
    probe, other = (probe_named(record["probe"]) for record in records.values())
    names = {side: f"{run_name(record)}, in {paths[side]}" for side, record in records.items()}
    remarks = [what_differs(A, records[A], B, records[B]), *filter(None, [shared_in_words(rows)])]
    same_scores = probe is other and probe.has_log_probs
    differences = _renamed(probe.compare(rows))
    return SideBySide(rows, differences, names, remarks, probe.ahead, probe.correctness, same_scores)


def _of_files(paths: Mapping[str, Path], metric: str, filter_name: str) -> SideBySide:
    with ThreadPoolExecutor() as threads:  # most of the time is spent in Arrow, which lets other threads work
        read = threads.map(lambda path: read_answers(path, metric, filter_name), paths.values())
        rows = dict(zip(paths, read, strict=True))
    refuse_other_items(*rows.values())
    differences = compare(rows, [])
    tasks = (differences["dimension"] == OVERALL) | (differences["group"] != "")
    named = differences[tasks].replace({"dimension": {"relation": "task"}})
    return SideBySide(rows, _renamed(named), {side: str(path) for side, path in paths.items()}, [])


def _renamed(differences: pd.DataFrame) -> pd.DataFrame:
    sides = {"first": A, "second": B}
    ends = {f"{name}_{end}": f"{side}_{end}" for name, side in sides.items() for end in ("low", "high")}
    return differences.drop(columns="result").rename(columns={**sides, **ends})
