"""The report on the terminal: one table of all systems, and notes below it."""

from collections.abc import Sequence
from typing import Any

REPORT_COLUMNS = (
    "model",
    "system",
    "statements/s",
    "times peer",
    "must be",
    "positions",
    "/ real",
    "/ distinct",
    "padding",
    "of shapes' rate",
    "of best rate",
    "peak MiB",
    "score diff.",
    "same predictions",
)


def report_table(comparisons: Sequence[dict[str, Any]]) -> str:
    """Write the table as Markdown, which can be read in a terminal and pasted into a document."""
    cells = [
        REPORT_COLUMNS,
        *(_cells(comparison["model"]["name"], row) for comparison in comparisons for row in comparison["rows"]),
    ]
    widths = [max(len(row[column]) for row in cells) for column in range(len(REPORT_COLUMNS))]
    lines = [
        "| " + " | ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)) + " |" for row in cells
    ]
    rule = "|" + "|".join("-" * (width + 2) for width in widths) + "|"
    return "\n".join([lines[0], rule, *lines[1:]])


def _cells(model: str, row: dict[str, Any]) -> tuple[str, ...]:
    return (
        model,
        row["system"],
        f"{row['statements_per_second']:,.1f}",
        f"{row['ratio']:.2f}",
        f"≥ {row['must_be']:g}" if row["must_be"] else "",
        f"{row['positions']:,}",
        f"{row['of_real']:.2f}",
        f"{row['of_distinct']:.2f}",
        f"{row['padding']:.1%}",
        f"{row['of_shapes_rate']:.0%}",
        f"{row['of_square_rate']:.0%}",
        f"{row['peak_bytes'] / 2**20:,.0f}",
        f"{row['largest_difference']:.1e}",
        f"{row['same_predictions']:.0%}",
    )


def notes(comparison: dict[str, Any]) -> str:
    """Describe the workload, the calibration and the training of one comparison, which the table leaves out."""
    work, budget, training = comparison["work"], comparison["budget"], comparison["model"]["training"]
    lines = [
        f"{comparison['model']['name']}: {work['statements']:,} statements, template 0 of "
        f"{', '.join(work['relations'])} ({work['benchmark']}, {work['items_per_relation']} items each); "
        f"accuracy {comparison['accuracy']:.2f}; the peer takes {comparison['peer_batch']} sequences at a time.",
        f"  Calibration chose {budget['chosen']:,} positions a batch, of at most {budget['ceiling']:,}.",
        f"  The time estimated after a tenth of the statements was wrong by {comparison['estimate_error']:+.0%}.",
    ]
    if training:
        lines.append(
            f"  Trained for {training['steps']:,} steps on the {training['statements']:,} true statements of these "
            f"relations, to a loss of {training['loss']:.2f}."
        )
    return "\n".join(lines)


def growth_table(rows: Sequence[dict[str, Any]]) -> str:
    lines = [
        f"  {row['options']:>5,} options: {row['statements']:>5,} statements of {row['real_positions']:>6,} positions, "
        f"{row['distinct_prefixes']:>6,} distinct prefixes, {row['positions']:>6,} computed: {row['seconds']:.2f} s, "
        f"{row['ms_per_statement']:.2f} ms a statement, {row['ms_per_prefix']:.2f} ms a prefix"
        for row in rows
    ]
    return "\n".join(["Larger answer spaces, full scoring:", *lines])


def missed(comparisons: Sequence[dict[str, Any]]) -> list[str]:
    """Return a sentence for every ratio that is lower than required."""
    return [
        f"{comparison['model']['name']}, {row['system']}: "
        f"{row['ratio']:.2f} times the peer, must be {row['must_be']:g}."
        for comparison in comparisons
        for row in comparison["rows"]
        if row["must_be"] and row["ratio"] < row["must_be"]
    ]
