"""Results that are compared item by item, as a data frame that notebooks show with what was compared."""

from collections.abc import Mapping
from html import escape
from typing import Any

import pandas as pd

from probing.analysis.comparison import SIDE_BOUNDS, shared_in_words
from probing.analysis.power import sentence, smallest_difference
from probing.errors import BadInput
from probing.probes import probe_named
from probing.results.differences import differences


class Comparison(pd.DataFrame):
    """Paired differences: one row for each further result and group, with the columns that docs/methods.md explains.

    `runs`: the name of each run, such as "first: gpt2 (multiple_choice)". `remarks`: in what the runs differ, and which
    difference the items can tell apart. Tables that are made from this one are plain data frames.
    """

    _metadata = ["runs", "remarks"]  # pandas' name for attributes that are no columns
    runs: list[str]
    remarks: list[str]

    @classmethod
    def of(cls, rows: Mapping[str, pd.DataFrame], records: Mapping[str, Mapping[str, Any]]) -> "Comparison":
        """Compare further results with the first one; `rows` and `records` are by the same names."""
        (first, record), *others = records.items()
        probe = probe_named(record["probe"])
        table = cls(probe.compare(rows))
        table.runs = [f"{name}: {_run_name(record)}" for name, record in records.items()]
        table.remarks = [_difference(first, record, name, other) for name, other in others]
        table.remarks += filter(None, [shared_in_words(rows)])
        if probe.correctness.column and (smallest := smallest_difference(rows, probe.correctness)):
            table.remarks.append(sentence(smallest))
        return table

    def _repr_html_(self) -> str:
        """Return what notebooks show."""
        heading = "".join(f"<p><strong>{escape(run)}</strong></p>" for run in self.runs)
        remarks = "".join(f"<p>{escape(remark)}</p>" for remark in self.remarks)
        table = self.drop(columns=[name for name in SIDE_BOUNDS if name in self])
        shown = table.to_html(index=False, float_format="{:.4g}".format, na_rep="", border=0, max_rows=60)
        return f"<div>{heading}{shown}{remarks}</div>"


def refuse_other_benchmarks(records: Mapping[str, Mapping[str, Any]]) -> None:
    """Raise `BadInput` unless all results are on one version of a benchmark; `records`: by what to call a result."""
    benchmarks = {name: record["benchmark"] for name, record in records.items()}
    first_name, first = next(iter(benchmarks.items()))
    for name, other in benchmarks.items():
        if other.get("digest") != first.get("digest"):
            raise BadInput(
                f"The results differ in their benchmark: {_version(first)} in {first_name}, "
                f"{_version(other)} in {name}.",
                "Compare results on the same version of a benchmark.",
            )


def _version(benchmark: Mapping[str, str]) -> str:
    return f"{benchmark.get('slug')} {benchmark.get('version')}"


def _run_name(record: Mapping[str, Any]) -> str:
    """Return the model, and how it was asked."""
    options = [f"{name}={value}" for name, value in record["settings"]["options"].items()]
    return f"{record['model']['id']} ({', '.join([record['probe'], *options])})"


def _difference(first: str, record: Mapping[str, Any], name: str, other: Mapping[str, Any]) -> str:
    words = "; ".join(map(str, differences(record, other))) or "nothing that is recorded"
    return f"What differs between the {first} and the {name} run: {words}."
