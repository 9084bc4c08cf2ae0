"""The command `sentences`: all true sentences of a benchmark in one file for fine-tuning, with a split."""

import argparse
from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path

import pandas as pd

from probing.catalog import open_benchmark
from probing.sentences.fine_tuning import TEST, Split, sentence_tables
from probing.sentences.writing import refuse_bad_target, write_tables


def add_sentences(parser: argparse.ArgumentParser) -> None:
    usual = Split()
    add = parser.add_argument
    add("benchmark", metavar="BENCHMARK", help="a known benchmark, or the folder of one")
    add("--relations", nargs="+", default=[], metavar="NAME", help="only these relations; default: all")
    share = f"share of each relation's sentences that are for the test; default: {usual.test}"
    add("--test", type=float, default=usual.test, metavar="SHARE", help=share)
    add("--seed", type=int, default=usual.seed, metavar="N", help="seed of the split; default: 0")
    add("--out", required=True, type=Path, metavar="FILE", help="a new file: .jsonl, .parquet or .csv")
    parser.set_defaults(command=write_sentences)


def write_sentences(arguments: argparse.Namespace) -> None:
    refuse_bad_target(arguments.out)
    benchmark = open_benchmark(arguments.benchmark).select(arguments.relations)
    counts: Counter[str] = Counter()
    tables = sentence_tables(benchmark, Split(arguments.test, arguments.seed))
    write_tables(_counted(tables, counts), arguments.out)
    print(f"{counts.total():,} sentences are in {arguments.out}, {counts[TEST]:,} of them for the test.")


def _counted(tables: Iterable[pd.DataFrame], counts: Counter[str]) -> Iterator[pd.DataFrame]:
    for table in tables:
        counts.update(table["split"].tolist())
        yield table
