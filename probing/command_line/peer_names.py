"""Names that users of lm-evaluation-harness know, for arguments of `run` that have others here."""

import argparse
from pathlib import Path

AUTO = "auto"  # a size of batches that is found by trying


def add_peer_names(parser: argparse.ArgumentParser) -> None:
    """Add the names, each with what it is called here; `--limit` has the same name."""
    title = "names that lm-evaluation-harness has for these arguments"
    batch = "only auto, which is usual here: batches are not counted in sentences; see --batch-tokens"
    add = parser.add_argument_group(title).add_argument
    add("--tasks", dest="benchmark", action="extend", type=_names, metavar="A,B", help="--benchmark A B")
    add("--num_fewshot", dest="few_shot", type=int, default=argparse.SUPPRESS, metavar="N", help="--few-shot N")
    add("--apply_chat_template", dest="chat", action="store_true", default=argparse.SUPPRESS, help="--chat")
    add("--batch_size", dest="batch_tokens", type=_batch, default=argparse.SUPPRESS, metavar="auto", help=batch)
    add("--output_path", dest="out", type=Path, metavar="DIR", help="--out DIR")


def _names(text: str) -> list[str]:
    return text.split(",")


def _batch(text: str) -> None:
    """Take the size that the harness finds by trying, and refuse a number of sentences."""
    if text != AUTO:
        step = "Leave it out, or give --batch-tokens, the token positions of a batch."
        raise argparse.ArgumentTypeError(f"batches are not counted in sentences. {step}")
