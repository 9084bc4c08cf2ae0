"""The command line: `python -m probing` with one of the commands that `parser` lists."""

import gc
import sys
from collections.abc import Container, Sequence
from importlib import import_module

from probing.command_line.exit_codes import Parser, exit_code, program

# For each command, the function that adds its arguments, and its line in the help. A command's module is imported only
# when that command is called, because most of them import pandas, and the help and mistakes should be answered at once.
COMMANDS = {
    "run": ("probing.command_line.run:add_run", "probe a model on a benchmark"),
    "study": ("probing.command_line.run:add_study", "probe several models on several benchmarks, as a file says"),
    "sweep": ("probing.command_line.run:add_sweep", "probe the checkpoints of a training, and draw the curve"),
    "baselines": ("probing.command_line.benchmarks:add_baselines", "print what is reached without a model"),
    "show": ("probing.command_line.show:add_show", "print a result's scores"),
    "paper": ("probing.command_line.paper:add_paper", "measure the tables and figures of a paper again"),
    "compare": ("probing.command_line.compare:add_compare", "compare results on the items that they share"),
    "list": (
        "probing.command_line.benchmarks:add_list",
        "list benchmarks with their relations, and probes with their options",
    ),
    "rescore": (
        "probing.command_line.show:add_rescore",
        "compute scores again, with the benchmark's present tags",
    ),
    "perplexity": (
        "probing.command_line.own_sentences:add_perplexity",
        "measure the perplexity of your own sentences",
    ),
    "download": ("probing.command_line.benchmarks:add_download", "fetch a benchmark from its official source"),
    "convert": ("probing.command_line.convert:add_convert", "write pickled weights as safetensors"),
    "predictions": (
        "probing.command_line.predictions:add_predictions",
        "count which answers a model gives, by language",
    ),
    "diversity": ("probing.command_line.benchmarks:add_diversity", "count which cultures a data set's facts are about"),
    "curate": ("probing.command_line.curate:add_curate", "make a benchmark from Wikidata, as a file says"),
    "lm-eval": (
        "probing.command_line.lm_eval_command:add_lm_eval",
        "run lm-evaluation-harness with --model clozeboard",
    ),
}


# New objects after which Python looks for garbage. Importing torch and transformers creates more than a million objects
# that all stay, and searching them again and again takes a sixth of the time to the first batch.
NEW_OBJECTS_BEFORE_COLLECTION = 50_000


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command and return its exit code, as `exit_code` says.

    Without arguments, Python also looks for garbage less often.
    """
    if arguments is None:
        gc.set_threshold(NEW_OBJECTS_BEFORE_COLLECTION)
    words = sys.argv[1:] if arguments is None else arguments

    def command() -> None:
        parsed = parser(words[:1]).parse_args(words)
        parsed.command(parsed)

    return exit_code(command)


def parser(complete: Container[str] = COMMANDS) -> Parser:
    """Return the parser of all commands, with the arguments of those in `complete`."""
    main_parser = Parser(prog=program(), description="Knowledge probing of language models.")
    commands = main_parser.add_subparsers(required=True, metavar="COMMAND")
    for name, (function, help_line) in COMMANDS.items():
        command = commands.add_parser(name, help=help_line)
        if name in complete:
            module, _, add_arguments = function.partition(":")
            getattr(import_module(module), add_arguments)(command)
    return main_parser


if __name__ == "__main__":
    sys.exit(main())
