"""The command `import-results`: turn samples of lm-evaluation-harness into the folder of a result."""

import argparse
from importlib import import_module
from pathlib import Path

from probing.catalog import open_benchmark
from probing.files.folders import refuse_occupied
from probing.harness.samples import read_facts, read_samples, results_beside


def add_import_results(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add("samples", metavar="FILE", type=Path, help="samples_<task>_<date>.jsonl, which --log_samples has written")
    add("--benchmark", required=True, metavar="NAME", help="folder or name of what the task was made of, such as bear")
    add("--out", required=True, metavar="DIR", type=Path, help="folder for the result")
    add("--results", metavar="FILE", type=Path, help="the harness's results; default: those beside the samples")
    add("--model", default="", metavar="NAME", help="what to call the model; default: its name in the results")
    add("--tokenizer", default="", metavar="NAME", help="folder or hub id of its tokenizer; default: the model's own")
    parser.set_defaults(command=import_results)


def import_results(arguments: argparse.Namespace) -> None:
    refuse_occupied(arguments.out)
    samples = read_samples(arguments.samples)
    facts = read_facts(arguments.results or results_beside(arguments.samples))
    benchmark = open_benchmark(arguments.benchmark)
    importing = import_module("probing.harness.importing")  # imports torch, which takes seconds
    result = importing.import_samples(samples, facts, benchmark, model=arguments.model, tokenizer=arguments.tokenizer)
    result.save(arguments.out)
    print(f"{arguments.out}: {len(result.items):,} answers of {result.record['model']['id']} on {benchmark.slug}")
