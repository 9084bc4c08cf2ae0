"""The commands about sentences: `perplexity`, `surprisal`, and `sentences` for fine-tuning."""

import argparse
import json
import sys
from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import get_args

import pandas as pd

import probing
from probing.catalog import open_benchmark
from probing.command_line.settings_flags import add_flags, add_model
from probing.language_model import fitting
from probing.model_source import ModelSource
from probing.probes.perplexity import By, Perplexity
from probing.sentences.fine_tuning import TEST, Split, sentence_tables
from probing.sentences.sentence_files import read_sentences, refuse_bad_target, write_tables
from probing.sentences.surprisal import MEASURES, Measure, surprisal_tables


def add_perplexity(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add_model(parser)
    _add_dtype(parser)
    add(
        "--sentences",
        required=True,
        metavar="FILE",
        help="a text file with one sentence per line; - for the standard input",
    )
    add("--by", default=Perplexity.by, choices=get_args(By), help="what the log-probability is divided by")
    add("--public-code", action="store_true", help="compute perplexity as the paper's public code does")
    parser.set_defaults(command=perplexity)


def perplexity(arguments: argparse.Namespace) -> None:
    sentences = [line for line in read_sentences(arguments.sentences) if line]
    probe = Perplexity(by=arguments.by, public_code=arguments.public_code)
    model = probing.load(
        arguments.model,
        commit=arguments.commit,
        device=arguments.device,
        dtype=arguments.dtype,
        batch_tokens=arguments.batch_tokens,
    )
    for sentence in map(fitting, probe.measure(model, sentences)):
        line = {"text": sentence.text, "tokens": sentence.tokens, "perplexity": sentence.perplexity}
        print(json.dumps(line, ensure_ascii=False), flush=True)


def _add_dtype(parser: argparse.ArgumentParser) -> None:
    formats = "number format of the model's weights: float32, the default, bfloat16, float16 or auto"
    parser.add_argument("--dtype", default="float32", help=formats)


def add_surprisal(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add_model(parser)
    add("sentences", metavar="FILE", help="a text file with one sentence per line; - for the standard input")
    _add_dtype(parser)
    add("--tokenizer", metavar="MODEL", help="hub id or folder of the tokenizer that a folder lacks")
    add_flags(parser, MEASURES)
    add("--out", type=Path, metavar="FILE", help="a new file: .csv, .parquet or .jsonl; default: CSV to the terminal")
    parser.set_defaults(command=surprisal)


def surprisal(arguments: argparse.Namespace) -> None:
    """Write the table of surprisals; sentences that are too long for the model are named on stderr."""
    refuse_bad_target(arguments.out)
    measure = Measure.of({name: value for name, value in vars(arguments).items() if name in MEASURES})
    source = ModelSource(
        arguments.model, arguments.tokenizer, arguments.commit, arguments.device, arguments.batch_tokens
    )
    source.refuse_bad()
    sentences = read_sentences(arguments.sentences)
    tables = surprisal_tables(
        source.open(arguments.dtype), sentences, measure, lambda message: print(message, file=sys.stderr)
    )
    write_tables(tables, arguments.out)


def add_sentences(parser: argparse.ArgumentParser) -> None:
    usual = Split()
    add = parser.add_argument
    add("benchmark", metavar="BENCHMARK", help="a known benchmark, or the folder of one")
    add(
        "--relation",
        "--relations",
        dest="relations",
        nargs="+",
        default=[],
        metavar="NAME",
        help="only these relations; default: all",
    )
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
