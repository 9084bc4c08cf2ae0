"""The command `download`: fetch a benchmark from its official source."""

import argparse
from pathlib import Path

from probing.catalog import benchmarks_folder, download, how_checked


def add_download(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add("slug", metavar="SLUG", help="name of a benchmark in the catalog")
    add(
        "--templates",
        type=Path,
        metavar="DIR",
        help="folder with <language>/templates.jsonl, such as mLAMA's, for a benchmark whose source has none (dlama)",
    )
    parser.set_defaults(command=download_benchmark)


def download_benchmark(arguments: argparse.Namespace) -> None:
    target = benchmarks_folder() / arguments.slug
    benchmark = download(arguments.slug, target, arguments.templates)
    print(f"{benchmark.title} {benchmark.version} ({benchmark.size} items) is in {target}.")
    for sentence in (how_checked(arguments.slug, target), *benchmark.notes):
        print(sentence)
