"""Tables of the documents, each from the results of one command; `speed/report.py` has those of the peers."""

from collections.abc import Mapping, Sequence
from typing import Any

MIB = 2**20


def markdown(columns: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    lines = [columns, ["---"] * len(columns), *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def percent(share: float, form: str = ".0f") -> str:
    """Return a share as a percentage, with a space before the sign."""
    return f"{100 * share:{form}} %"


def memory_table(results: Mapping[str, Any]) -> str:
    """Return the memory of whole runs by their work and size, and what each further item takes."""
    rows = []
    for work, runs in results["runs"].items():
        for before, run in zip([None, *runs], runs, strict=False):
            more = (run["bytes"] - before["bytes"]) / (run["items"] - before["items"]) if before else None
            cells = f"{run['items']:,}", f"{run['scores']:,}", f"{run['bytes'] / MIB:,.0f}"
            rows.append((work, *cells, f"{more / 1000:.1f} kB" if more else ""))
    return markdown(("work", "items", "scores of options", "MiB beside the model", "for each further item"), rows)


def commands_table(results: Mapping[str, Any]) -> str:
    """Return what short commands take beside a Python that does nothing."""
    python = results["commands"]["python -c pass"]
    return markdown(
        ("command", "processor time", "times that of Python alone"),
        [(f"`{name}`", f"{took:.3f} s", f"{took / python:.1f}") for name, took in results["commands"].items()],
    )


def gguf_table(results: Mapping[str, Any]) -> str:
    """Return the processor time of the phases of loading a GGUF file, when it is first loaded and afterwards."""
    phases = ("files", "tokenizer", "weights", "together")
    return markdown(
        ("load", *phases),
        [(name, *(f"{took[phase]:.2f} s" for phase in phases)) for name, took in results["gguf"]["loads"].items()],
    )


def few_shot_table(results: Mapping[str, Any]) -> str:
    """Return the counted positions of few-shot prompting over all pairs."""
    columns = {
        "tokens of all prompts": "in_prompts",
        "computed to fill blanks": "filling",
        "and to score whole answers": "whole_answers",
        "estimated for blanks": "estimated_filling",
    }
    return markdown(
        ("prompting", *columns),
        [
            (f"`{name}`", *(f"{counts[column]:,}" for column in columns.values()))
            for name, counts in results["counts"].items()
        ],
    )


def culture_table(results: Mapping[str, Any]) -> str:
    """Return the counted positions of ranking the candidates of the culture set."""
    lines = {
        "computed": "in_rows",
        "distinct prefixes of all parts, the lower bound": "distinct",
        "distinct prefixes with the first rule alone": "distinct_first_rule",
        "estimated with pieces of six letters, where there is no tokenizer": "estimated_by_pieces",
        "estimated with the model's own tokens": "estimated",
    }
    rows = [(line, f"{results[name]:,}", percent(results[name] / results["distinct"])) for line, name in lines.items()]
    return markdown(("", "positions", "of the bound"), rows)


def masked_inputs_table(results: Mapping[str, Any]) -> str:
    """Return the masked inputs of whole BEAR: how many there are, and how many are distinct."""
    lines = {
        "each token of each statement": "all",
        "distinct within each item": "of_items",
        "distinct within each window, which is what full scoring computes": "of_windows",
        "distinct over the whole of BEAR, the lower bound": "distinct",
        "of the first tokens of all options, with which `--decide` begins": "first_tokens",
    }
    counts = results["counts"]
    return markdown(
        ("masked inputs", "inputs", "token positions", "share"),
        [
            (
                line,
                f"{counts[name]['inputs']:,}",
                f"{counts[name]['positions']:,}",
                percent(counts[name]["positions"] / counts["all"]["positions"], ".1f"),
            )
            for line, name in lines.items()
        ],
    )


def early_decision_table(results: Mapping[str, Any]) -> str:
    """Return the positions that prove the best options: in the order of `--decide`, and with all values known."""
    rows = []
    for relation, row in results["early_decision"]["relations"].items():
        positions = [row[name] for name in ("all", "computed", "first_tokens", "fewest", "at_least")]
        rows.append((relation, *(f"{number:,}" for number in positions), f"{row['computed'] / row['at_least']:.2f}"))
    columns = ("full scoring", "`--decide`", "of it first tokens", "fewest found", "lower bound", "times the bound")
    return markdown(("token positions", *columns), rows)


def time_left_table(results: Mapping[str, Any]) -> str:
    """Return the errors of all runs as a table."""
    machines = list(next(iter(results["runs"].values()))["errors"])
    columns = ("run", "positions", "seconds", *machines, "a change is followed after")
    rows = [
        (
            name,
            f"{run['positions']:,}",
            f"{run['seconds']:.0f}",
            *(shown_extent(extent) for extent in run["errors"].values()),
            f"{run['seconds_until_followed']} s",
        )
        for name, run in results["runs"].items()
    ]
    return markdown(columns, rows)


def shown_extent(errors: Sequence[float]) -> str:
    percents = [round(100 * error) for error in errors]
    lowest, highest = (f"{percent:+d}".replace("-", "−") if percent else "0" for percent in percents)
    return f"{lowest} to {highest} %"
