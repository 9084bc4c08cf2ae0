"""The command `rescore`: compute the scores of results again, from their rows and the benchmark's present tags."""

import argparse
from functools import cache

from probing.analysis.score_changes import score_changes
from probing.catalog import open_benchmark
from probing.results.rescoring import rescored
from probing.results.result import Result


def add_rescore(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("folders", metavar="DIR", nargs="+", help="folders of results, which are rewritten")
    parser.add_argument("--benchmark", metavar="NAME", default="", help="folder or name; default: the recorded name")
    parser.set_defaults(command=rescore)


def rescore(arguments: argparse.Namespace) -> None:
    benchmark = cache(open_benchmark)
    for folder in dict.fromkeys(arguments.folders):
        result = Result.load(folder)
        again = rescored(result, benchmark(arguments.benchmark or result.record["benchmark"]["slug"]))
        print(f"{folder}: {result.record['model']['id']} on {again.record['benchmark']['slug']}")
        if again is result:
            print("  Nothing has changed.")
            continue
        again.replace(folder)
        for sentence in score_changes(result.scores, again.scores) or ["The scores are the same."]:
            print(f"  {sentence}")
