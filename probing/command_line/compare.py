"""The command `compare`: paired differences between results."""

import argparse
from itertools import chain
from pathlib import Path

import probing
from probing.analysis import unified
from probing.analysis.comparison import SIDE_BOUNDS, compare
from probing.analysis.power import sentence, smallest_difference
from probing.command_line.program import print_by_dimension, print_table
from probing.errors import BadInput
from probing.probes import probe_named
from probing.probes.probe import tag_columns
from probing.results.result import Result


def add_compare(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "folders", metavar="DIR", nargs="+", help="folders of results: two, or any number with --unified"
    )
    parser.add_argument(
        "--unified", action="store_true", help="compare specificity on the words that all models have as single tokens"
    )
    parser.set_defaults(command=compare_results)


def compare_results(arguments: argparse.Namespace) -> None:
    folders = dict.fromkeys(str(Path(folder)) for folder in arguments.folders)
    if len(folders) < 2 or (len(folders) > 2 and not arguments.unified):
        raise BadInput(
            f"{len(folders)} results cannot be compared.", "Give two different ones, or more with --unified."
        )
    results = {folder: Result.load(folder) for folder in folders}
    first, second, *_ = results.values()
    if any(result.record["benchmark"] != first.record["benchmark"] for result in results.values()):
        raise BadInput("The results differ in their benchmark.", "Compare results on the same benchmark.")
    if arguments.unified:
        _compare_unified(results)
        return
    probe = probe_named(first.record["probe"])
    dimensions = [name for name in tag_columns(probe, first.items.columns) if name in second.items]
    table = compare({"first": first.items, "second": second.items}, dimensions, probe.correctness)
    print(f"first: {_name(first)}   second: {_name(second)}")
    print_by_dimension(table.drop(columns=["result", *SIDE_BOUNDS]))
    if smallest := smallest_difference({"first": first.items, "second": second.items}, probe.correctness):
        print(f"\n{sentence(smallest)}")


def _name(result: Result) -> str:
    """Return the model, and how it was asked."""
    options = [f"{name}={value}" for name, value in result.record["settings"]["options"].items()]
    return f"{result.record['model']['id']} ({', '.join([result.record['probe'], *options])})"


def _compare_unified(results: dict[str, Result]) -> None:
    """Print the specificity of a fixed set of models: on the pairs and among the words that all of them have."""
    if any(result.record["probe"] != "specificity" for result in results.values()):
        raise BadInput("Only results of the probe specificity have a unified vocabulary.", "Leave --unified out.")
    models = {name: result.record["model"] for name, result in results.items()}
    items = {name: result.items for name, result in results.items()}
    answers = {answer for rows in items.values() for answer in chain(rows["answer_label"], rows["coarse_label"])}
    words = probing.unified({model["id"]: model["commit"] for model in models.values()}, answers)
    spelled = {name: words[model["id"]] for name, model in models.items()}
    rows = unified.common_pairs(items, next(iter(words.values())))
    table = unified.unified_scores(rows, spelled)
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
    print_table(compare(rows, [], probe_named("specificity").correctness).drop(columns=SIDE_BOUNDS))
    matrix = unified.correlation(table)
    print(f"\ncorrelation over relations, on average {unified.mean_correlation(matrix):.3f}")
    print(matrix.to_string(float_format=lambda value: f"{value:.3f}"))
