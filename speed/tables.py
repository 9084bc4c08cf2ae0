"""Tables of the documents, each from the results of one command; `speed/report.py` has those of the peers."""

from collections.abc import Mapping, Sequence
from statistics import median
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


def site_memory_table(results: Mapping[str, Any]) -> str:
    """Return the memory that a site takes to finish and to import runs of several sizes."""
    rows = [
        (f"{run['items']:,}", f"{run['statements']:,}", *(f"{run[task] / MIB:,.0f}" for task in ("finish", "import")))
        for run in results["runs"]
    ]
    return markdown(("items", "scores of options", "MiB to finish a run", "MiB to import it"), rows)


def commands_table(results: Mapping[str, Any]) -> str:
    """Return what short commands take beside a Python that does nothing."""
    python = results["commands"]["python -c pass"]
    return markdown(
        ("command", "processor time", "times that of Python alone"),
        [(f"`{name}`", f"{took:.3f} s", f"{took / python:.1f}") for name, took in results["commands"].items()],
    )


def progress_table(results: Mapping[str, Any]) -> str:
    """Return how long runs over all of BEAR take until their first progress."""
    rows = [(name, f"{took:.1f} s") for name, took in results["first_progress"].items()]
    return markdown(("run over all of BEAR", "processor time from the loaded model to the first progress"), rows)


def gguf_table(results: Mapping[str, Any]) -> str:
    """Return the processor time of the phases of loading a GGUF file, when it is first loaded and afterwards."""
    phases = ("files", "tokenizer", "weights", "together")
    return markdown(
        ("load", *phases),
        [(name, *(f"{took[phase]:.2f} s" for phase in phases)) for name, took in results["gguf"]["loads"].items()],
    )


def products_table(results: Mapping[str, Any]) -> str:
    """Return how much faster each way to compute products is than the other, and how their scores differ."""
    rows = [
        (
            name,
            *(in_bold(compared["ratios"][work]["rounds"], ".2f") for work in ("full", "decide")),
            f"{compared['largest_difference']:.2g}",
            f"{compared['margin']:.2g}",
            percent(compared["undecided"]),
        )
        for name, compared in results["compared"].items()
    ]
    differences = "largest difference of a score", "of two options of an item", "items undecided within that"
    return markdown(("products", "every option", "`--decide`", *differences), rows)


def few_shot_runs_table(results: Mapping[str, Any]) -> str:
    """Return what few-shot prompting takes with examples of each pair's own and with shared ones."""
    rows = [
        (f"`{name}`", *(f"{run[column]:,}" for column in ("pairs", "positions", "cpu_seconds")))
        for name, run in results["runs"].items()
    ]
    times = results["ratios"]
    return markdown(
        ("prompting", "pairs", "positions", "seconds of the processor"),
        [*rows, ("times less", "", f"{times['positions']:.2f}", f"{times['cpu_seconds']:.2f}")],
    )


def generation_table(results: Mapping[str, Any]) -> str:
    """Return what continuations take in both kinds of batches."""
    first, *_ = results["rounds"]
    rows = [
        (name, *(f"{batches[column]:,}" for column in ("positions", "padding")), _times(name, results["ratios"]))
        for name, batches in first.items()
    ]
    return markdown(("batches", "positions", "of it padding", "times less processor time"), rows)


def _times(batches: str, ratios: Sequence[float]) -> str:
    return in_bold(ratios, ".2f") if batches == "similar lengths" else ""


def sweep_table(results: Mapping[str, Any]) -> str:
    """Return the cost of a sweep as a share of that of single runs, in each round."""
    places = {"time by the clock": 0, "processor time": 1}
    rounds = [(costs["sweep"], costs["single"]) for costs in results["rounds"]]
    shares = {name: [sweep[n] / single[n] for sweep, single in rounds] for name, n in places.items()}
    rows = [(name, in_bold(share, ".2f")) for name, share in shares.items()]
    return markdown((f"{results['checkpoints']} checkpoints", "times that of single runs"), rows)


def pages_table(results: Mapping[str, Any]) -> str:
    """Return the times of the pages beside that of a bare view of their size, and what they take."""
    rows = [
        (
            f"`{page['page']}`",
            *(f"{page[name] / page['bare']:.1f}" for name in ("anew", "first", "at_once", "unchanged")),
            str(page["queries"]),
            *(f"{page[name] / 1000:,.0f}" for name in ("raw", "zipped")),
        )
        for page in results["pages"]
    ]
    return markdown(("page", "anew", "first", "at once", "unchanged", "queries", "KB", "KB compressed"), rows)


def web_memory_table(results: Mapping[str, Any]) -> str:
    """Return the memory of the web process, and what the largest download adds to it."""
    memory, download = results["memory"], results["download"]
    figures = {
        "before the first page": memory["before"],
        "at most": memory["peak"],
        f"added by the CSV of {download['rows']:,} items": download["memory"],
    }
    return markdown(("web process", "MB"), [(name, f"{size / 1e6:,.0f}") for name, size in figures.items()])


def in_bold(values: Sequence[float], form: str) -> str:
    """Return the values of all rounds in their order of size, with their median in bold."""
    middle = median(values)
    return ", ".join(f"**{value:{form}}**" if value == middle else f"{value:{form}}" for value in sorted(values))


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
        "estimated with pieces of words, where there is no tokenizer": "estimated_by_pieces",
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
    rows = [
        (name, f"{run['positions']:,}", f"{run['seconds']:.0f}", shown_extent(run["errors"]))
        for name, run in results["runs"].items()
    ]
    return markdown(("run", "positions", "seconds", "estimates of the whole time are off by"), rows)


def shown_extent(errors: Sequence[float]) -> str:
    percents = [round(100 * error) for error in errors]
    lowest, highest = (f"{percent:+d}".replace("-", "−") if percent else "0" for percent in percents)
    return f"{lowest} to {highest} %"
