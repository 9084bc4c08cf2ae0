"""The command `surprisal`: the log-probabilities of the user's own sentences by word, token or sentence."""

import argparse
import sys
from pathlib import Path

from probing.command_line.program import add_model
from probing.command_line.settings_flags import add_flags
from probing.model_source import ModelSource
from probing.sentences.reading import read_sentences
from probing.sentences.surprisal import MEASURES, Measure, surprisal_tables
from probing.sentences.writing import refuse_bad_target, write_tables


def add_surprisal(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add_model(parser)
    add("sentences", metavar="FILE", help="a text file with one sentence per line; - for the standard input")
    add(
        "--dtype",
        default="float32",
        help="number format of the model's weights: float32, the default, bfloat16, float16 or auto",
    )
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
