"""The tables of the documents, written from `speed/results/`: `python -m speed.report`.

The command writes each table between the comments that name it, or nothing where its results are not there. What
`python -m speed` prints is written here as well.
"""

import json
import re
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from speed.tables import (
    commands_table,
    culture_table,
    early_decision_table,
    few_shot_table,
    gguf_table,
    markdown,
    masked_inputs_table,
    memory_table,
    percent,
    time_left_table,
)

CHECKOUT = Path(__file__).parents[1]
RESULTS = CHECKOUT / "speed" / "results"
OWN_NAMES = {"full": "every option", "decide": "`--decide`", "harness model": "model `clozeboard` of the harness"}
WORK = {
    "causal": "statements of a causal model",
    "completions": "completions after examples, causal",
    "masked": "statements of a masked model",
}


class Table(NamedTuple):
    """A table of a document: its name there, the file of its results, and what writes it."""

    document: str
    name: str
    results: str
    write: Callable[[Mapping[str, Any]], str]

    def text(self) -> str:
        """Return the table, empty where there are no results."""
        file = RESULTS / f"{self.results}.json"
        return self.write(json.loads(file.read_text(encoding="utf-8"))) if file.exists() else ""


def main() -> None:
    for table in TABLES:
        file = CHECKOUT / table.document
        text = with_table(file.read_text(encoding="utf-8"), table.name, table.text())
        file.write_text(text, encoding="utf-8")


def with_table(text: str, name: str, table: str) -> str:
    """Return the text with the table between the comments that name it."""
    begin, end = f"<!-- table {name} -->", f"<!-- end of table {name} -->"
    if not (begin in text and end in text):
        raise ValueError(f"The document has no place for the table {name!r}. Put this into it: {begin}\n{end}")
    lines = f"{begin}\n{table}\n{end}" if table else f"{begin}\n{end}"
    return re.sub(f"{begin}.*?{end}", lambda match: lines, text, flags=re.DOTALL)


def report(results: Mapping[str, Any]) -> str:
    """Write everything for the terminal."""
    machine = results["machine"]
    lines = [
        f"{machine['cores']} cores, {machine['torch_threads']} threads, {machine['processor']}, best matrix product "
        f"{machine['square_gflops']} GFLOP/s (of torch by itself {machine['square_gflops_of_torch']})",
        positions_table(results),
        ratios_table(results),
        *(_limits(WORK[name], limits) for name, limits in results["limits"].items()),
        *(_growth(row) for row in results.get("growth", ())),
    ]
    for comparison in results["comparisons"].values():
        lines += [f"Not measured: {name}. {reason}" for name, reason in comparison["not_measured"].items()]
    return "\n\n".join(lines)


def _limits(work: str, limits: Mapping[str, Any]) -> str:
    """Write how near to the machine's limits this project works, which the tables leave out."""
    budget, memory, rates = limits["budget"], limits["memory"], limits["of_shapes_rate"]
    return (
        f"{work}: accuracy {limits['accuracy']:.2f}; {rates['full']:.0%} of the rate of its matrix products "
        f"(`--decide` {rates['decide']:.0%}); batches of {budget['chosen']:,} positions were chosen, of at most "
        f"{budget['ceiling']:,}; at the largest ones, {memory['statements']:,} statements take "
        f"{memory['full'] / 2**20:,.0f} MiB beside the model (`--decide` {memory['decide'] / 2**20:,.0f}); the time "
        f"estimated after a tenth of the statements was wrong by {limits['estimate_error']:+.0%}."
    )


def _growth(row: Mapping[str, Any]) -> str:
    return (
        f"{row['options']:,} options: {row['distinct_prefixes']:,} distinct prefixes, {row['positions']:,} positions "
        f"computed, {row['ms_per_prefix']:.2f} ms a prefix."
    )


def summary_table(results: Mapping[str, Any]) -> str:
    """Return how many times faster than each peer this project is on the statements of a causal model."""
    rows = results["comparisons"]["causal"]["ratios"]
    medians = {(row["peer"], row["own"]): row["median"]["processor"] for row in rows}
    versions = {row["system"]: row["version"] for row in results["comparisons"]["causal"]["systems"]}
    peers = dict.fromkeys(row["peer"] for row in rows)
    work = results["work"]["causal"]
    introduction = (
        f"On {work['statements']:,} statements of BEAR with {work['model']['name']} in float32, on a CPU with "
        f"{results['machine']['torch_threads']} threads, it needs this many times less processor time than:\n\n"
    )
    return introduction + markdown(
        ("", "every option scored", "the best option alone (`--decide`)"),
        [
            (f"{peer} {versions[peer]}", f"{medians[peer, 'full']:.1f}", f"{medians[peer, 'decide']:.1f}")
            for peer in peers
        ],
    )


def positions_table(results: Mapping[str, Any]) -> str:
    """Return what each system computes, and how its scores differ from this project's."""
    rows = []
    for name, comparison in results["comparisons"].items():
        bounds = results["limits"].get(name, {}).get("positions_at_least")
        for row in comparison["systems"]:
            rows.append(
                (
                    WORK[name],
                    _system(row),
                    f"{row['positions']:,}",
                    percent(row["positions"] / bounds["distinct"]) if bounds else "",
                    f"{row['peak_bytes'] / 2**20:,.0f}",
                    f"{row['largest_difference']:.1e}",
                    percent(row["same_predictions"]),
                )
            )
    columns = ("work", "system", "positions", "of distinct ones", "MiB", "score difference", "same predictions")
    return markdown(columns, rows)


def ratios_table(results: Mapping[str, Any]) -> str:
    """Return the ratios of every round, with their medians in bold, by processor time and by the clock."""
    rows = [
        (
            WORK[name],
            OWN_NAMES[row["own"]],
            row["peer"],
            _rounds(row, "processor"),
            _rounds(row, "clock"),
            f"≥ {row['required']:g}" if row["required"] else "",
        )
        for name, comparison in results["comparisons"].items()
        for row in comparison["ratios"]
    ]
    return markdown(("work", "this project", "against", "by processor time", "by the clock", "must be"), rows)


def _system(row: Mapping[str, Any]) -> str:
    if row["own"]:
        return OWN_NAMES[row["system"]]
    batches = f", {row['batch_size']} at a time" if row["batch_size"] else ""
    return f"{row['system']} {row['version']}{batches}"


def _rounds(row: Mapping[str, Any], kind: str) -> str:
    middle = row["median"][kind]
    return ", ".join(f"**{times:.1f}**" if times == middle else f"{times:.1f}" for times in sorted(row["times"][kind]))


PERFORMANCE = "docs/performance.md"
TABLES = (
    Table("README.md", "peers", "peers", summary_table),
    Table(PERFORMANCE, "positions", "peers", positions_table),
    Table(PERFORMANCE, "ratios", "peers", ratios_table),
    Table(PERFORMANCE, "masked inputs", "masked_bounds", masked_inputs_table),
    Table(PERFORMANCE, "early decision", "masked_bounds", early_decision_table),
    Table(PERFORMANCE, "few-shot", "few_shot_counts", few_shot_table),
    Table(PERFORMANCE, "memory", "memory", memory_table),
    Table(PERFORMANCE, "commands", "before_scoring", commands_table),
    Table(PERFORMANCE, "gguf", "before_scoring", gguf_table),
    Table(PERFORMANCE, "culture", "culture_counts", culture_table),
    Table(PERFORMANCE, "time left", "time_left", time_left_table),
)

if __name__ == "__main__":
    main()
