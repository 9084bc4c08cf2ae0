"""Names that users of lm-evaluation-harness know, for arguments of `run` that have others here."""

import argparse
import re
import sys
from pathlib import Path

from probing.catalog import CATALOG, known_name
from probing.command_line.exit_codes import program
from probing.errors import BadInput, nearest

AUTO = "auto"  # a size of batches that is found by trying


def add_peer_names(parser: argparse.ArgumentParser) -> None:
    """Add the names, each with what it is called here; `--limit` has the same name."""
    title = "names that lm-evaluation-harness has for these arguments"
    batch = "only auto, which is usual here: batches are not counted in sentences; see --batch-tokens"
    add = parser.add_argument_group(title).add_argument
    add("--tasks", dest="benchmark", action="extend", type=_names, metavar="A,B", help="--benchmark A B")
    add("--num_fewshot", dest="few_shot", type=int, default=argparse.SUPPRESS, metavar="N", help="--few-shot N")
    add("--apply_chat_template", dest="chat", action="store_true", default=argparse.SUPPRESS, help="--chat")
    sizes = ("--batch_size", "--batch-size")
    add(*sizes, dest="batch_tokens", type=_batch, default=argparse.SUPPRESS, metavar="auto", help=batch)
    add("--output_path", dest="out", type=Path, metavar="DIR", help="--out DIR")
    add("--log_samples", action="store_true", help="needless, because rows are kept unless --keep none is given")
    add("--model", dest="peer_model", help=argparse.SUPPRESS)
    add("--model_args", dest="peer_model_args", default="", help=argparse.SUPPRESS)


def answer_peer_names(arguments: argparse.Namespace) -> None:
    """Say what a name that has no counterpart is called here; raise `BadInput` where the model stands in a flag."""
    model, loading = arguments.peer_model, arguments.peer_model_args
    if model or loading:
        named = re.search(r"(?:pretrained|path)=([^,]+)", loading)
        first = named[1] if named else (arguments.model or [model or "MODEL"])[0]
        words = f"run {first} --benchmark {' '.join(arguments.benchmark) or 'starter'} --out {arguments.out or 'DIR'}"
        others = " Its other model_args are flags here, such as --dtype and --commit." if "," in loading else ""
        raise BadInput("The model stands first, without a flag.", f"Write: {program()} {words}.{others}")
    if arguments.log_samples:
        print(
            "--log_samples is not needed: rows are kept in items.parquet unless --keep none is given.", file=sys.stderr
        )


def _names(text: str) -> list[str]:
    """Return the benchmarks of a text; refuse names that are none, which may be tasks of the harness."""
    names = text.split(",")
    for name in names:
        if known_name(name) not in CATALOG and not Path(name).suffix and not Path(name).exists():
            near = nearest(name, CATALOG)
            hint = f"Did you mean {near!r}? " if near else ""
            harness = f"A task of lm-evaluation-harness is run by: {program()} lm-eval --tasks {name}"
            raise argparse.ArgumentTypeError(f"{name} is neither a folder nor a known benchmark. {hint}{harness}")
    return names


def _batch(text: str) -> None:
    """Take the size that the harness finds by trying, and refuse a number of sentences."""
    if text != AUTO:
        step = "Leave it out, or give --batch-tokens, the token positions of a batch."
        raise argparse.ArgumentTypeError(f"the size of batches is found by itself. {step}")
