"""The command `download`: fetch a benchmark from its official source."""

import argparse

from probing.catalog import benchmarks_folder, download


def add_download(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("slug", metavar="SLUG", help="name of a benchmark in the catalog")
    parser.set_defaults(command=download_benchmark)


def download_benchmark(arguments: argparse.Namespace) -> None:
    target = benchmarks_folder() / arguments.slug
    benchmark = download(arguments.slug, target)
    print(f"{benchmark.title} {benchmark.version} ({benchmark.size} items) is in {target}.")
