"""The command `perplexity`, about a user's own sentences."""

import argparse
import json
from math import isfinite

import probing
from probing.command_line.settings_flags import add_model
from probing.errors import NonFiniteScores
from probing.language_model import PLL, fitting
from probing.sentences.sentence_files import read_sentences
from probing.sentences.surprisal import measured

HIDING: PLL = "original"  # of masked models: one token is hidden at a time, as in the probe of this name


def add_perplexity(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add_model(parser)
    formats = "number format of the model's weights: float32, the default, bfloat16, float16 or auto"
    add("--dtype", default="float32", help=formats)
    add(
        "--sentences",
        required=True,
        metavar="FILE",
        help="a text file with one sentence per line; - for the standard input",
    )
    parser.set_defaults(command=perplexity)


def perplexity(arguments: argparse.Namespace) -> None:
    """Print a JSON line about each sentence as soon as it is scored."""
    sentences = read_sentences(arguments.sentences)
    model = probing.load(
        arguments.model,
        commit=arguments.commit,
        device=arguments.device,
        dtype=arguments.dtype,
        batch_tokens=arguments.batch_tokens,
    )
    for _, scores in measured(model, sentences, HIDING):
        sentence = fitting(scores)
        if not isfinite(sentence.perplexity):
            raise NonFiniteScores.of(model.card.id, f"for {sentence.text[:80]!r}", "perplexity")
        line = {"text": sentence.text, "tokens": len(sentence.log_probs), "perplexity": sentence.perplexity}
        print(json.dumps(line, ensure_ascii=False), flush=True)
