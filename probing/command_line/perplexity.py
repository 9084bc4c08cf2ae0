"""The command `perplexity`: measure the perplexity of the user's own sentences."""

import argparse
import json
from typing import get_args

import probing
from probing.command_line.program import add_model
from probing.language_model import fitting
from probing.probes.perplexity import By, Perplexity
from probing.sentences.reading import read_sentences


def add_perplexity(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add_model(parser)
    add(
        "--dtype",
        default="float32",
        help="number format of the model's weights: float32, the default, bfloat16, float16 or auto",
    )
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
