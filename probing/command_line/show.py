"""The commands about finished results: `show` and `rescore`."""

import argparse
from functools import cache
from pathlib import Path

import pandas as pd

from probing.analysis.accuracy import TIES, precision_at, ties_in_words
from probing.analysis.added_tags import read_tags
from probing.analysis.breakdowns import OVERALL
from probing.analysis.details import detail_tables, needs_full_run, without_details
from probing.analysis.option_scores import FULL_RUN_NEEDED
from probing.analysis.paired_tests import score_changes
from probing.catalog import open_benchmark
from probing.command_line.exit_codes import refuse_without
from probing.command_line.predictions import OF_PREDICTIONS, add_predictions, print_predictions
from probing.command_line.printing import print_lines, print_scores, print_table
from probing.errors import BadInput
from probing.harness.harness_command import harness_words
from probing.probes import probe_named
from probing.results.completeness import skipped_in_words
from probing.results.rescoring import rescored
from probing.results.result import Result
from probing.results.rows import refuse_without_rows
from probing.results.run_json import describe_tokens
from probing.results.token_scores import TOKENS_FILE, conditional_accuracy, read_tokens
from probing.template import ANSWER_SLOT


def add_show(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("folders", metavar="DIR", nargs="+", help="the folder of a result")
    parser.add_argument(
        "--details", action="store_true", help="also print the long tables: by template, by option, by confidence"
    )
    parser.add_argument(
        "--k", metavar="1,5,10", help="also print precision at each k: how often a right option is among the k best"
    )
    drawn = "draw the main figure with its interval instead: .html, .png, .svg or .pdf; with --predictions, shares"
    parser.add_argument("--plot", type=Path, metavar="FILE", help=drawn)
    parser.add_argument("--by", metavar="DIMENSION", help="with --plot: by these groups, such as domain or relation")
    parser.add_argument(
        "--prompts", type=int, metavar="N", help="print the first N prompts instead, as the model read them"
    )
    add_predictions(parser)
    parser.set_defaults(command=show)


def show(arguments: argparse.Namespace) -> None:
    refuse_without(arguments, "predictions", OF_PREDICTIONS)
    refuse_without(arguments, "plot", ["by"])
    if arguments.predictions:
        print_predictions(arguments)
        return
    if arguments.plot and len(arguments.folders) > 1:
        raise BadInput("--plot draws one result.", "Name one folder; compare --plot draws the difference of two.")
    for folder in arguments.folders:
        if arguments.prompts is not None:
            print_prompts(Result.load(folder), arguments.prompts)
        else:
            show_result(folder, arguments)


def print_prompts(result: Result, count: int) -> None:
    """Print what the model read in the first items; raise `BadInput` where the result does not have it."""
    if count < 1:
        raise BadInput(f"--prompts cannot be {count}.", "Give 1 or more.")
    refuse_without_rows(result.record, "Printing prompts")
    if "prompt" not in result.items:
        raise BadInput(
            "This result does not have the prompts.",
            "Measure it again with this version; the probe similarity has no prompts, as it compares single words.",
        )
    print(f"{ANSWER_SLOT} marks where the options stand.\n")
    for row in result.items.head(count).to_dict("records"):
        answer = f", answer {row['answer_label']}" if "answer_label" in row else ""
        print(f"{row['relation']}, template {row['template']}, item {row['index']}{answer}:")
        print(f"{row['prompt']}\n")


def show_result(folder: str, arguments: argparse.Namespace) -> None:
    result = Result.load(folder)
    if arguments.plot:
        result.plot(arguments.by or OVERALL, file=arguments.plot)
        print(*result.findings, f"The chart is in {arguments.plot}.", sep="\n")
        return
    precision = precision_table(result, arguments.k) if arguments.k is not None else None
    benchmark = result.record["benchmark"]
    print(*result.findings, f"{result.record['model']['id']} on {benchmark['slug']} {benchmark['version']}", sep="\n")
    for remark in [*probe_named(result.record["probe"]).remarks, *result.notes, *skipped_in_words(result.record)]:
        print(remark)
    ties = result.scores[(result.scores["metric"] == TIES) & (result.scores["value"] > 0)]
    for share, items in zip(ties["value"], ties["n"], strict=True):
        print(ties_in_words(share, items))
    print_lines("Tokens", describe_tokens(result.record))
    print_lines("The same with lm-evaluation-harness", harness_words(result.record))
    print_scores(without_details(result.scores))
    print(
        "\n95 % intervals: low and high on these relations, cluster_low and cluster_high on other relations like these"
    )
    if precision is not None:
        print("\nprecision at k")
        print_table(precision)
    print_details(result, arguments.details)
    print_token_scores(result, Path(folder) / TOKENS_FILE)


def precision_table(result: Result, text: str) -> pd.DataFrame:
    """Return precision at each k of a text such as "1,5,10"; raise `BadInput` where the result cannot tell it."""
    try:
        numbers = sorted({int(number) for number in text.split(",")})
    except ValueError:
        numbers = []
    if not numbers or numbers[0] < 1:
        raise BadInput(f"--k {text!r:.80} is no list of numbers from 1 on.", "Write it like --k 1,5,10.")
    refuse_without_rows(result.record, "Precision at k")
    if "rank" not in result.items:
        raise BadInput(f"The probe {result.record['probe']} ranks no options.", "Leave out --k.")
    if result.items["rank"].isna().any():
        raise BadInput("This run decided early, so that ranks are not known.", "Measure it again without --decide.")
    tables = [precision_at(result.items, k) for k in numbers]
    return pd.concat(tables)[["metric", "value", "n", "low", "high"]]


def print_details(result: Result, with_long: bool) -> None:
    """Print what the figures hide, with `with_long` the long tables as well."""
    for title, table, _ in detail_tables(result.items, result.scores, with_long=with_long):
        print(f"\n{title}")
        print_table(result.with_labels(table) if "option" in table else table)
    if needs_full_run(result.items):
        print(f"\n{FULL_RUN_NEEDED}")


def print_token_scores(result: Result, tokens: Path) -> None:
    """Print accuracy by the scores of single tokens, where these are stored."""
    if not tokens.is_file():
        return
    print("\nby the scores of single tokens")
    metric = probe_named(result.record["probe"]).main_metric
    print_table(conditional_accuracy(result.items, read_tokens(tokens), metric).drop(columns="dimension"))


def add_rescore(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("folders", metavar="DIR", nargs="+", help="folders of results, which are rewritten")
    parser.add_argument("--benchmark", metavar="NAME", default="", help="folder or name; default: the recorded name")
    parser.add_argument(
        "--tags",
        type=Path,
        metavar="FILE",
        help="a table with the columns relation, index and further tags, by which scores are broken down: texts, or "
        "numbers, which are put into groups",
    )
    parser.set_defaults(command=rescore)


def rescore(arguments: argparse.Namespace) -> None:
    benchmark = cache(open_benchmark)
    added = read_tags(arguments.tags) if arguments.tags else None
    for folder in dict.fromkeys(arguments.folders):
        result = Result.load(folder)
        again = rescored(result, benchmark(arguments.benchmark or result.record["benchmark"]["slug"]), added)
        print(f"{folder}: {result.record['model']['id']} on {again.record['benchmark']['slug']}")
        if again is result:
            print("  Nothing has changed.")
            continue
        again.replace(folder)
        for sentence in score_changes(result.scores, again.scores) or ["The scores are the same."]:
            print(f"  {sentence}")
