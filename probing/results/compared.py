"""Results that are compared item by item, as a data frame that notebooks show with what was compared.

What differs between two runs is read from their records: model, benchmark, settings and software.
"""

import hashlib
import json
from collections.abc import Iterable, Mapping
from html import escape
from typing import Any

import pandas as pd

from probing.analysis.paired_tests import (
    SIDE_BOUNDS,
    shared_in_words,
    smallest_difference,
    smallest_difference_in_words,
)
from probing.errors import BadInput
from probing.probes import probe_named
from probing.settings import Settings

Record = Mapping[str, Any]
# Where a record has only some of these, only they are compared.
MODEL, BENCHMARK, SETTINGS, SOFTWARE = "model", "benchmark", "settings", "packages"
ASPECTS = (MODEL, BENCHMARK, SETTINGS, SOFTWARE)


class PairedDifferences(pd.DataFrame):
    """Paired differences: one row for each further result and group.

    docs/methods/comparing.md explains the columns.

    `runs`: the name of each run, such as "first: gpt2 (multiple_choice)". `remarks`: in what the runs differ, and which
    difference the items can tell apart. Tables that are made from this one are plain data frames.
    """

    _metadata = ["runs", "remarks"]  # pandas' name for attributes that are no columns
    runs: list[str]
    remarks: list[str]

    @classmethod
    def of(cls, rows: Mapping[str, pd.DataFrame], records: Mapping[str, Mapping[str, Any]]) -> "PairedDifferences":
        """Compare further results with the first one; `rows` and `records` are by the same names."""
        (first, record), *others = records.items()
        probe = probe_named(record["probe"])
        table = cls(probe.compare(rows))
        table.runs = [f"{name}: {run_name(record)}" for name, record in records.items()]
        table.remarks = [what_differs(first, record, name, other) for name, other in others]
        table.remarks += filter(None, [shared_in_words(rows)])
        if probe.correctness.column and (smallest := smallest_difference(rows, probe.correctness)):
            table.remarks.append(smallest_difference_in_words(smallest))
        return table

    def _repr_html_(self) -> str:
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


def run_name(record: Mapping[str, Any]) -> str:
    """Return the model, and how it was asked."""
    options = [f"{name}={value}" for name, value in record["settings"]["options"].items()]
    return f"{record['model']['id']} ({', '.join([record['probe'], *options])})"


def what_differs(first: str, record: Mapping[str, Any], name: str, other: Mapping[str, Any]) -> str:
    words = "; ".join(differences(record, other)) or "nothing that is recorded"
    return f"What differs between the {first} and the {name} run: {words}."


def differences(first: Record, second: Record, aspects: Iterable[str] = ASPECTS) -> list[str]:
    """Return in words what differs in those of the aspects that both records have, in their order."""
    shared = [aspect for aspect in aspects if aspect in first and aspect in second]
    changed = [different_values(_FACTS[aspect](first), _FACTS[aspect](second)) for aspect in shared]
    return [
        f"{name.replace('_', ' ')}: {_in_words(one)} and {_in_words(other)}"
        for values in changed
        for name, (one, other) in values.items()
    ]


def different_values(first: Mapping[str, Any], second: Mapping[str, Any]) -> dict[str, tuple[Any, Any]]:
    """Map each name whose values differ to both, None for one that is not stated; a list is as good as a tuple.

    The names of the first come in its order.
    """
    pairs = {name: (first.get(name), second.get(name)) for name in {**first, **second}}
    return {name: pair for name, pair in pairs.items() if _comparable(pair[0]) != _comparable(pair[1])}


def _comparable(value: Any) -> Any:
    return tuple(value) if isinstance(value, list) else value


def with_options(settings: Mapping[str, Any]) -> dict[str, Any]:
    """Return settings with the options of the probe, which records keep apart, beside the others."""
    return {**{name: value for name, value in settings.items() if name != "options"}, **settings.get("options", {})}


def _model(record: Record) -> dict[str, Any]:
    card = record["model"]
    files = json.dumps(card.get("files", {}), sort_keys=True)
    return {
        "model": card.get("id"),
        "commit": card.get("commit"),
        "SHA-256 of weights and tokenizer": hashlib.sha256(files.encode()).hexdigest()[:12]
        if card.get("files")
        else "",
    }


def _benchmark(record: Record) -> dict[str, Any]:
    benchmark = record["benchmark"]
    return {"benchmark": benchmark.get("slug"), "version of the benchmark": benchmark.get("version")}


def _settings(record: Record) -> dict[str, Any]:
    """Return all settings, with the default of those that the record of an older version lacks."""
    return with_options(Settings.from_json(record["settings"]).to_json())


def _software(record: Record) -> dict[str, Any]:
    return {**record["packages"], "device": record.get("device")}


_FACTS = {MODEL: _model, BENCHMARK: _benchmark, SETTINGS: _settings, SOFTWARE: _software}


def _in_words(value: Any) -> str:
    if value in (None, "", ()):
        return "not set"
    return ", ".join(map(str, value)) if isinstance(value, tuple) else str(value)
