"""The command `baselines`: what is reached on a benchmark without a model."""

import argparse
from collections.abc import Mapping
from pathlib import Path

import pandas as pd

from probing.baselines import baseline_scores, pair_answers, rarer_scores
from probing.benchmark import Benchmark
from probing.catalog import open_benchmark
from probing.command_line.program import print_by_dimension, print_lines
from probing.errors import BadInput
from probing.files.folders import new_file
from probing.plan import plan
from probing.sentences.word_counts import corpus_counts, listed_counts


def add_baselines(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add("benchmark", metavar="BENCHMARK", help="a known benchmark, or the folder of one")
    add("--probe", default="", help="how models would be asked; default: the benchmark's usual probe")
    words = parser.add_mutually_exclusive_group()
    corpus = "specificity: also choose the answer that is rarer in this text file, which may be gzipped"
    words.add_argument("--corpus", default="", metavar="FILE", help=corpus)
    listed = "the same by a list of words, each with its count behind a tab, comma or space"
    words.add_argument("--frequencies", default="", metavar="FILE", help=listed)
    add("--ignore-case", action="store_true", help="count words whatever their case")
    add("--csv", type=Path, metavar="FILE", help="write the table to a CSV file as well")
    parser.set_defaults(command=print_baselines)


def print_baselines(arguments: argparse.Namespace) -> None:
    benchmark = open_benchmark(arguments.benchmark)
    planned = plan(benchmark, {"probe": arguments.probe or benchmark.probe})
    scores = baseline_scores(planned)
    remarks: list[str] = []
    if counts := _counts(arguments, benchmark):
        scores = pd.concat([scores, rarer_scores(planned, counts)], ignore_index=True)
        absent = sum(count == 0 for count in counts.values())
        remarks.append(f"{absent:,} of {len(counts):,} answers do not occur; a pair with equal counts is not specific.")
    if scores.empty:
        raise BadInput(f"{benchmark.slug} has no baselines.", "Its answers cannot be guessed without a model.")
    print_by_dimension(scores[["metric", "dimension", "group", "value", "n"]])
    print_lines("Word frequencies", remarks)
    if arguments.csv:
        with new_file(arguments.csv) as temporary:
            scores.to_csv(temporary, index=False)


def _counts(arguments: argparse.Namespace, benchmark: Benchmark) -> Mapping[str, float]:
    """Return the frequency of each answer by the file that the user names, if any."""
    if arguments.corpus:
        return corpus_counts(arguments.corpus, pair_answers(benchmark), arguments.ignore_case)
    if arguments.frequencies:
        return listed_counts(arguments.frequencies, pair_answers(benchmark), arguments.ignore_case)
    return {}
