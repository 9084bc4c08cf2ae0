"""The tables of the documents, written from `speed/results/`: `python -m speed.report`.

The command writes each table between the comments that name it, or nothing where its results are not there. What
`python -m speed` prints is written here as well. It prints which results are older than the scoring core.
"""

import re
from collections import defaultdict
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from speed.stored_results import CHECKOUT, older_than_the_core, stored
from speed.tables import (
    commands_table,
    culture_table,
    early_decision_table,
    few_shot_runs_table,
    few_shot_table,
    generation_table,
    gguf_table,
    in_bold,
    markdown,
    masked_inputs_table,
    memory_table,
    pages_table,
    percent,
    products_table,
    progress_table,
    site_memory_table,
    sweep_table,
    time_left_table,
    web_memory_table,
)

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
        results = stored(self.results)
        return self.write(results) if results else ""


def main() -> None:
    for table in TABLES:
        file = CHECKOUT / table.document
        text = with_table(file.read_text(encoding="utf-8"), table.name, table.text())
        file.write_text(text, encoding="utf-8")
    if older := older_than_the_core():
        print(f"Not measured with the scoring core as it stands: {', '.join(older)}.")


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
        *([limits_table(results), growth_table(results)] if results["limits"] else []),
    ]
    for comparison in results["comparisons"].values():
        lines += [f"Not measured: {name}. {reason}" for name, reason in comparison["not_measured"].items()]
    return "\n\n".join(lines)


def limits_table(results: Mapping[str, Any]) -> str:
    """Return how near this project is to the fewest positions and to the machine's rate, and its memory."""
    rows: dict[str, list[str]] = {}
    for limits in results["limits"].values():
        for name, cell in _limits(limits).items():
            rows.setdefault(name, []).append(cell)
    return markdown(("", *(WORK[name] for name in results["limits"])), [(name, *cells) for name, cells in rows.items()])


def _limits(limits: Mapping[str, Any]) -> dict[str, str]:
    bounds, budget, memory = limits["positions_at_least"], limits["budget"], limits["memory"]
    rates, mib = limits["of_shapes_rate"], {name: memory[name] / 2**20 for name in ("full", "decide")}
    return {
        "positions of all statements, without padding": f"{bounds['real']:,}",
        "fewest positions that give all scores": f"{bounds['distinct']:,}",
        "padding in what is computed": percent(limits["padding"], ".1f"),
        "of the rate of the same matrix products": percent(rates["full"]),
        "of that rate with `--decide`": percent(rates["decide"]),
        "positions in a batch, and at most": f"{budget['chosen']:,} of {budget['ceiling']:,}",
        "MiB beside the model, at the largest batch": f"{mib['full']:,.0f} ({memory['statements']:,} statements)",
        "the same with `--decide`": f"{mib['decide']:,.0f}",
        "accuracy": f"{limits['accuracy']:.2f}",
        "error of the time estimated after a tenth": f"{100 * limits['estimate_error']:+.0f} %".replace("-", "−"),
    }


def growth_table(results: Mapping[str, Any]) -> str:
    """Return what one question takes by the number of its options."""
    columns = ("options", "positions in the statements", "distinct prefixes", "computed", "ms for each prefix")
    return markdown(
        columns,
        [
            (
                f"{row['options']:,}",
                f"{row['real_positions']:,}",
                f"{row['distinct_prefixes']:,}",
                f"{row['positions']:,}",
                f"{row['ms_per_prefix']:.2f}",
            )
            for row in results["growth"]
        ],
    )


def summary_table(results: Mapping[str, Any]) -> str:
    """Return how many times faster than each peer this project is, for each kind of network that was measured."""
    rows = [
        (f"{peer}, {kind}", f"{ratios['full']:.1f}", f"{ratios['decide']:.1f}")
        for kind in results["work"]
        for peer, ratios in _medians(results["comparisons"][kind]).items()
    ]
    works = " and ".join(
        f"{work['statements']:,} with {work['model']['name']} ({kind})" for kind, work in results["work"].items()
    )
    introduction = (
        f"On statements of BEAR in float32, {works}, on a CPU with {results['machine']['torch_threads']} threads, it "
        "needs this many times less processor time than:\n\n"
    )
    return introduction + markdown(("", "every option scored", "the best option alone (`--decide`)"), rows)


def _medians(comparison: Mapping[str, Any]) -> dict[str, dict[str, float]]:
    """Return the median ratios of this project's ways to work to each peer, named with its version."""
    names = {row["system"]: _with_version(row) for row in comparison["systems"]}
    medians: defaultdict[str, dict[str, float]] = defaultdict(dict)
    for row in comparison["ratios"]:
        medians[names[row["peer"]]][row["own"]] = row["median"]["processor"]
    return medians


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
            in_bold(row["times"]["processor"], ".1f"),
            in_bold(row["times"]["clock"], ".1f"),
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
    return f"{_with_version(row)}{batches}"


def _with_version(row: Mapping[str, Any]) -> str:
    """Return the name of a system with its version, which is that of the package where the package has another name."""
    name, package, version = row["system"], row["package"], row["version"]
    return f"{name} {version}" if name == package else f"{name} ({package} {version})"


PERFORMANCE = "docs/performance.md"
TABLES = (
    Table("README.md", "peers", "peers", summary_table),
    Table(PERFORMANCE, "positions", "peers", positions_table),
    Table(PERFORMANCE, "ratios", "peers", ratios_table),
    Table(PERFORMANCE, "limits", "peers", limits_table),
    Table(PERFORMANCE, "growth", "peers", growth_table),
    Table(PERFORMANCE, "masked inputs", "masked_bounds", masked_inputs_table),
    Table(PERFORMANCE, "early decision", "masked_bounds", early_decision_table),
    Table(PERFORMANCE, "products", "products", products_table),
    Table(PERFORMANCE, "sweep", "sweep", sweep_table),
    Table(PERFORMANCE, "few-shot runs", "few_shot", few_shot_runs_table),
    Table(PERFORMANCE, "generation", "generation", generation_table),
    Table(PERFORMANCE, "pages", "pages", pages_table),
    Table(PERFORMANCE, "web memory", "pages", web_memory_table),
    Table(PERFORMANCE, "progress", "before_scoring", progress_table),
    Table(PERFORMANCE, "few-shot", "few_shot_counts", few_shot_table),
    Table(PERFORMANCE, "memory", "memory", memory_table),
    Table(PERFORMANCE, "site memory", "site_memory", site_memory_table),
    Table(PERFORMANCE, "commands", "before_scoring", commands_table),
    Table(PERFORMANCE, "gguf", "before_scoring", gguf_table),
    Table(PERFORMANCE, "culture", "culture_counts", culture_table),
    Table(PERFORMANCE, "time left", "time_left", time_left_table),
)

if __name__ == "__main__":
    main()
