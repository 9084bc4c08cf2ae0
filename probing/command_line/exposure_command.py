"""The command `exposure`: how often a corpus states each fact of a benchmark."""

import argparse
from pathlib import Path

from probing.catalog import open_benchmark
from probing.exposure.counting import count_exposure
from probing.exposure.matching import SENTENCE
from probing.exposure.named_facts import NO_ALIASES, Aliases, facts_of

OWN = ""  # the value of --aliases without a file


def add_exposure(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add(
        "corpus",
        metavar="CORPUS",
        nargs="+",
        help="files (text with a document in each line, JSON Lines, Parquet; .gz, .zst), folders or patterns, also of "
        "data sets of the hub: hf://datasets/owner/name",
    )
    add("--benchmark", required=True, metavar="NAME", help="a known benchmark, or the folder of one")
    add(
        "--aliases",
        nargs="?",
        const=OWN,
        metavar="FILE",
        help="also count aliases: those of the benchmark's files, and of a JSON file such as BEAR's all_entities.json",
    )
    add(
        "--unit",
        default=SENTENCE,
        metavar="UNIT",
        help="where subject and answer must stand together: sentence, the default, document or window:N words",
    )
    add("--executor", metavar="NAME", help="count several files at the same time: processes:4, dask:ADDRESS, …")
    add("--out", required=True, type=Path, metavar="FILE", help="a new file: .csv, .parquet or .jsonl")
    parser.set_defaults(command=exposure)


def exposure(arguments: argparse.Namespace) -> None:
    benchmark = open_benchmark(arguments.benchmark)
    aliases = NO_ALIASES
    if arguments.aliases is not None:
        file = None if arguments.aliases == OWN else Path(arguments.aliases)
        aliases = Aliases.of_benchmark(benchmark, file)
    table = count_exposure(
        arguments.corpus,
        facts_of(benchmark, aliases),
        arguments.out,
        unit=arguments.unit,
        executor=arguments.executor,
    )
    stated = (table["count"] > 0).sum()
    print(
        f"{arguments.out}: the corpus states {stated:,} of {len(table):,} facts, {table['count'].sum():,} times in all."
    )
