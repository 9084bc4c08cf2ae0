"""The command `compare`: paired differences between results."""

import argparse
from collections.abc import Iterable, Mapping
from itertools import chain
from pathlib import Path

import pandas as pd

import probing
from probing.analysis import specificity_metrics
from probing.analysis.bias import BIAS, BIAS_KINDS, GENERIC, biases_beside
from probing.analysis.option_scores import all_exact
from probing.analysis.paired_tests import RESULT_NAMES, SIDE_BOUNDS, ResultRows, compare
from probing.analysis.perplexity_metrics import rank_summary, sentence_ranks
from probing.benchmark import ROW_KEY
from probing.command_line.printing import print_by_dimension, print_lines, print_table, write_csv
from probing.errors import BadInput
from probing.probes import probe_named
from probing.probes.perplexity import Perplexity
from probing.results.compared import refuse_other_benchmarks, run_name
from probing.results.result import Result
from probing.results.rows import refuse_without_rows

MOST_DISPUTED = 10  # sentences that are printed
BIAS_TITLES = {BIAS: "Probabilities of the answers", GENERIC: "Probabilities with generic subjects"}


def add_compare(parser: argparse.ArgumentParser) -> None:
    most = len(RESULT_NAMES)
    parser.add_argument(
        "folders", metavar="DIR", nargs="+", help=f"folders of results: two to {most}, or any number with --unified"
    )
    parser.add_argument(
        "--unified", action="store_true", help="compare specificity on the words that all models have as single tokens"
    )
    parser.add_argument(
        "--bias",
        metavar="RELATION",
        help="multiple choice: print which answers of this relation each model favours, with generic subjects as well",
    )
    parser.add_argument("--csv", type=Path, metavar="FILE", help="write the differences to a CSV file as well")
    parser.set_defaults(command=compare_results)


def compare_results(arguments: argparse.Namespace) -> None:
    folders = {Path(folder).resolve(): str(Path(folder)) for folder in arguments.folders}.values()
    _check_number(len(folders), arguments.unified)
    results = {folder: Result.load(folder) for folder in folders}
    for result in results.values():
        refuse_without_rows(result.record, "A comparison")
    refuse_other_benchmarks({folder: result.record for folder, result in results.items()})
    if arguments.unified:
        _compare_unified(results, arguments.csv)
        return
    if arguments.bias:
        _compare_biases(results, arguments.bias, arguments.csv)
        return
    first, *others = results.values()
    table = first.compare(*others)
    _print_runs(results)
    print_lines("Remarks", table.remarks)
    hidden = SIDE_BOUNDS if len(others) > 1 else ["result", *SIDE_BOUNDS]
    print_by_dimension(table.drop(columns=hidden))
    probe = probe_named(first.record["probe"])
    rows = dict(zip(RESULT_NAMES, (result.items for result in results.values()), strict=False))
    if probe is Perplexity:
        _print_ranks(rows)
    _write_csv(table, folders, arguments.csv)


def _compare_biases(results: Mapping[str, Result], relation: str, csv: Path | None) -> None:
    """Print the biases in a relation, a column for each result (LM-PUB-QUIZ, Figures 4 and 6)."""
    rows = {
        name: all_scored(result.items, relation) for name, result in zip(RESULT_NAMES, results.values(), strict=False)
    }
    _print_runs(results)
    first = next(iter(results.values()))
    tables = {kind: first.with_labels(table) for kind in BIAS_KINDS if len(table := biases_beside(rows, kind))}
    if not tables:
        raise BadInput(f"The questions of {relation} have options of their own.", "Choose a relation that shares them.")
    for kind, table in tables.items():
        print(f"\n{BIAS_TITLES[kind]} of {relation}, as the mean over templates")
        print_table(table[["label", *rows, "gold"]])
    write_csv(pd.concat([table.assign(kind=kind) for kind, table in tables.items()]), csv)


def all_scored(rows: pd.DataFrame, relation: str) -> pd.DataFrame:
    """Return the rows of a relation, which must have the scores of all options."""
    if "exact" not in rows:
        raise BadInput("These results have no scores of options.", "Give results of multiple choice.")
    kept = rows[rows["relation"] == relation]
    if kept.empty:
        raise BadInput(f"There are no rows of {relation}.", f"Choose from: {', '.join(rows['relation'].unique())}.")
    if not all_exact(kept):
        raise BadInput("A run with --decide has upper bounds in place of some scores.", "Run again without it.")
    return kept


def _print_runs(results: Mapping[str, Result]) -> None:
    for name, (folder, result) in zip(RESULT_NAMES, results.items(), strict=False):
        print(f"{name}: {run_name(result.record)}, in {folder}")


def _check_number(number: int, unified: bool) -> None:
    if number < 2:
        raise BadInput("A result alone cannot be compared.", "Give two different ones or more.")
    if number > len(RESULT_NAMES) and not unified:
        raise BadInput(f"{number} results cannot be compared at once.", f"Give {len(RESULT_NAMES)} at most.")


def _write_csv(table: pd.DataFrame, folders: Iterable[str], path: Path | None) -> None:
    if path is None:
        return
    by_name = dict(zip(RESULT_NAMES, folders, strict=False))
    table = table.assign(folder=table["result"].map(lambda name: by_name.get(name, name)))
    write_csv(table, path)
    print(f"\nAll figures, with the interval of either result: {path}")


def _print_ranks(rows: ResultRows) -> None:
    """Print how alike the results order the sentences, and the sentences whose ranks differ most."""
    ranks = sentence_ranks(rows)
    print("\nmean ranks of true and of false sentences, from 0 to 1, and correlations of ranks with those of the first")
    print_table(rank_summary(ranks, list(rows)))
    print("\nsentences whose ranks differ most")
    print_table(ranks.head(MOST_DISPUTED).drop(columns=ROW_KEY))


def _compare_unified(results: dict[str, Result], csv: Path | None) -> None:
    """Print the specificity of a fixed set of models: on the pairs and among the words that all of them have."""
    if any(result.record["probe"] != "specificity" for result in results.values()):
        raise BadInput("Only results of the probe specificity have a unified vocabulary.", "Leave --unified out.")
    models = {name: result.record["model"] for name, result in results.items()}
    items = {name: result.items for name, result in results.items()}
    answers = {answer for rows in items.values() for answer in chain(rows["answer_label"], rows["coarse_label"])}
    words = probing.unified({model["id"]: model["commit"] for model in models.values()}, answers)
    spelled = {name: words[model["id"]] for name, model in models.items()}
    rows = specificity_metrics.common_pairs(items, next(iter(words.values())))
    table = specificity_metrics.unified_scores(rows, spelled)
    for name, result in results.items():
        options = result.record["settings"]["options"]
        print(f"{name}: {result.record['model']['id']}, {options.get('prompting', 'vanilla')} prompting")
    alone = ", ".join(f"{result.items['specific'].notna().sum():,}" for result in results.values())
    # An uncased model does not tell all words apart.
    distinct = max(len(set(tokens.values())) for tokens in spelled.values())
    print(f"\n{distinct:,} words and {len(next(iter(rows.values()))):,} pairs in common (pairs of each: {alone})")
    for metric, part in table.groupby("metric", sort=False):
        print(f"\n{metric}")
        print_table(part.drop(columns=["metric", "dimension"]))
    print("\ndifference to the first")
    differences = compare(rows, [], probe_named("specificity").correctness)
    print_table(differences.drop(columns=SIDE_BOUNDS))
    _write_csv(differences, results, csv)
    matrix = specificity_metrics.correlation(table)
    print(f"\ncorrelation over relations, on average {specificity_metrics.mean_correlation(matrix):.3f}")
    print(matrix.to_string(float_format=lambda value: f"{value:.3f}"))
