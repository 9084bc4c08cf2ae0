"""The tables of `speed/results/`: `python -m speed.report`.

The command writes them into the document, between the comments that name them, or a sentence where their results are
not there. What `python -m speed` prints is written here, too.
"""

import re
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from statistics import median
from typing import Any

from speed.stored_results import CHECKOUT, stored

DOCUMENT = CHECKOUT / "docs" / "performance.md"
NO_RESULTS = "Results are not stored yet."
OWN_NAMES = {"full": "every option", "decide": "`--decide`", "harness model": "model `clozeboard` of the harness"}
WORK = {
    "causal": "statements of a causal model",
    "completions": "completions after examples, causal",
    "masked": "statements of a masked model",
}


def main() -> None:
    DOCUMENT.write_text(with_tables(DOCUMENT.read_text(encoding="utf-8")), encoding="utf-8")


def with_tables(text: str) -> str:
    """Return the text with all tables as they are now, or a sentence where there are no results."""
    for name, (file, write) in TABLES.items():
        results = stored(file)
        text = with_table(text, name, write(results) if results else NO_RESULTS)
    return text


def with_table(text: str, name: str, table: str) -> str:
    """Return the text with the table between the comments that name it."""
    begin, end = f"<!-- table {name} -->", f"<!-- end of table {name} -->"
    if not (begin in text and end in text):
        raise ValueError(f"The document has no place for the table {name!r}. Put this into it: {begin}\n{end}")
    return re.sub(f"{begin}.*?{end}", lambda match: f"{begin}\n{table}\n{end}", text, flags=re.DOTALL)


def report(results: Mapping[str, Any]) -> str:
    """Write everything for the terminal."""
    machine = results["machine"]
    lines = [
        f"{machine['cores']} cores, {machine['torch_threads']} threads, {machine['processor']}",
        positions_table(results),
        ratios_table(results),
    ]
    for comparison in results["comparisons"].values():
        lines += [f"Not measured: {name}. {reason}" for name, reason in comparison["not_measured"].items()]
    return "\n\n".join(lines)


def positions_table(results: Mapping[str, Any]) -> str:
    """Return what each system computes, and how its scores differ from this project's."""
    rows = []
    for name, comparison in results["comparisons"].items():
        fewest = results["fewest_positions"].get(name)
        for row in comparison["systems"]:
            rows.append(
                (
                    WORK[name],
                    _system(row),
                    f"{row['positions']:,}",
                    percent(row["positions"] / fewest["distinct"]) if fewest else "",
                    f"{row['peak_bytes'] / 2**20:,.0f}",
                    f"{row['largest_difference']:.1e}",
                    percent(row["same_predictions"]),
                )
            )
    columns = ("work", "system", "positions", "of distinct ones", "MiB", "score difference", "same predictions")
    return markdown(columns, rows)


def ratios_table(results: Mapping[str, Any]) -> str:
    """Return the ratios of every round by processor time, with the medians in bold and what these must be."""
    rows = []
    for name, comparison in results["comparisons"].items():
        cells: defaultdict[str, dict[str, str]] = defaultdict(dict)
        for row in comparison["ratios"]:
            required = f" (≥ {row['required']:g})" if row["required"] else ""
            cells[row["peer"]][row["own"]] = in_bold(row["times"]["processor"], ".1f") + required
        rows += [(WORK[name], peer, *(by_own.get(own, "") for own in OWN_NAMES)) for peer, by_own in cells.items()]
    return markdown(("work", "against", *OWN_NAMES.values()), rows)


def _system(row: Mapping[str, Any]) -> str:
    if row["own"]:
        return OWN_NAMES[row["system"]]
    batches = f", {row['batch_size']} at a time" if row["batch_size"] else ""
    return f"{_with_version(row)}{batches}"


def _with_version(row: Mapping[str, Any]) -> str:
    """Return the name of a system with its version, which is that of the package where the package has another name."""
    name, package, version = row["system"], row["package"], row["version"]
    return f"{name} {version}" if name == package else f"{name} ({package} {version})"


def markdown(columns: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    lines = [columns, ["---"] * len(columns), *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def percent(share: float) -> str:
    """Return a share as a percentage, with a space before the sign."""
    return f"{100 * share:.0f} %"


def in_bold(values: Sequence[float], form: str) -> str:
    """Return the values of all rounds in their order of size, with their median in bold."""
    middle = median(values)
    return ", ".join(f"**{value:{form}}**" if value == middle else f"{value:{form}}" for value in sorted(values))


# The file of its results, and what writes it.
TABLES: dict[str, tuple[str, Callable[[Mapping[str, Any]], str]]] = {
    "ratios": ("peers", ratios_table),
}

if __name__ == "__main__":
    main()
