"""The command line: `python -m probing` with one of the commands that `parser` lists."""

import gc
import os
import sys
from collections.abc import Container, Sequence
from importlib import import_module

from probing.command_line.exit_codes import Parser, exit_code, program
from probing.errors import BadInput
from probing.extras import package_version

# For each command, the function that adds its arguments, and its line in the help. A command's module is imported only
# when that command is called, because most of them import pandas, and the help and mistakes should be answered at once.
COMMANDS = {
    "run": ("probing.command_line.run:add_run", "probe models on benchmarks"),
    "study": ("probing.command_line.run:add_study", "probe several models on several benchmarks, as a file says"),
    "baselines": ("probing.command_line.benchmarks:add_baselines", "print what is reached without a model"),
    "show": ("probing.command_line.show:add_show", "print a result's scores, or its answers by language"),
    "paper": ("probing.command_line.paper:add_paper", "measure the tables and figures of a paper again"),
    "compare": ("probing.command_line.compare:add_compare", "compare results on the items that they share"),
    "list": (
        "probing.command_line.benchmarks:add_list",
        "list benchmarks with their relations or cultures, and probes with their options",
    ),
    "rescore": (
        "probing.command_line.show:add_rescore",
        "compute scores again, with the benchmark's present tags",
    ),
    "perplexity": (
        "probing.command_line.own_sentences:add_perplexity",
        "measure the perplexity of your own sentences",
    ),
    "download": ("probing.command_line.benchmarks:add_download", "fetch a benchmark, or make a model's files safe"),
    "curate": ("probing.command_line.curate:add_curate", "make a benchmark from Wikidata, as a file says"),
    "lm-eval": (
        "probing.command_line.lm_eval_command:add_lm_eval",
        "run lm-evaluation-harness with --model clozeboard",
    ),
}

# What version 0.2 curated by options, which are now the keys of a file.
OLD_KINDS = ("culture", "geography", "specificity", "graph", "multiple-choice", "translate")
# Flags of version 0.2 that are gone, each with its command and the words that take its place.
GONE_FLAGS = {
    ("compare", "--unified"): "paper s-test --models",
    ("compare", "--bias"): "paper bear --figure 4",
    ("compare", "--csv"): "compare A B --json FILE",
    ("curate", "popularity"): "rescore --tags FILE",
    **{("curate", kind): "curate PLAN.yaml" for kind in OLD_KINDS},
    ("paper", "--dry-run"): "run MODEL --dry-run",
    ("run", "--config"): "study FILE",
}

# Commands that are gone, and what takes the place of each, with {} for the name of this program.
GONE_COMMANDS = {
    "sweep": "{} run MODEL --revisions all",
    "convert": "{} download MODEL --convert",
    "predictions": "{} show DIR --predictions",
    "diversity": "{} list BENCHMARK --cultures",
    "know-say": "{} run MODEL --probe answering, and {} compare",
    "exposure": "{} rescore --tags FILE",
    "surprisal": "{} perplexity MODEL --sentences FILE, or probing.surprisal in Python",
    "sentences": "probing.open_benchmark in Python, whose relations have the templates and the items",
    "sample": "probing.sample_graph in Python",
    "judge": "{} paper geography --judge",
    "push": "manage.py import_result FOLDER on the machine of the site",
    "import-results": "manage.py import_result FOLDER on the machine of the site",
    "work": "{} run or {} study",
}

COMPLETION_ASKED = "_ARGCOMPLETE"  # set by the shell where it asks which words can follow

# New objects after which Python looks for garbage. Importing torch and transformers creates more than a million objects
# that all stay, and searching them again and again takes a sixth of the time to the first batch.
NEW_OBJECTS_BEFORE_COLLECTION = 50_000


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command and return its exit code, as `exit_code` says.

    Without arguments, Python also looks for garbage less often.
    """
    if COMPLETION_ASKED in os.environ:
        import_module("probing.command_line.completion").complete(parser)
    if arguments is None:
        gc.set_threshold(NEW_OBJECTS_BEFORE_COLLECTION)
    words = sys.argv[1:] if arguments is None else list(arguments)

    def command() -> None:
        _refuse_gone(words)
        parsed = parser(words[:1]).parse_args(words)
        parsed.command(parsed)

    return exit_code(command)


def _refuse_gone(words: list[str]) -> None:
    if words and words[0] in GONE_COMMANDS:
        new = GONE_COMMANDS[words[0]].replace("{}", program())
        raise BadInput(f"There is no command {words[0]} any more.", f"In its place: {new}.")
    flags = {word.partition("=")[0] for word in words}
    for (command, flag), new in GONE_FLAGS.items():
        if words[:1] == [command] and flag in flags:
            raise BadInput(f"{command} has no {flag} any more.", f"Use {program()} {new} in its place.")


def parser(complete: Container[str] = COMMANDS) -> Parser:
    """Return the parser of all commands, with the arguments of those in `complete`."""
    main_parser = Parser(prog=program(), description="Knowledge probing of language models.")
    main_parser.add_argument("--version", action="version", version=f"Clozeboard {package_version()}")
    commands = main_parser.add_subparsers(required=True, metavar="COMMAND")
    for name, (function, help_line) in COMMANDS.items():
        command = commands.add_parser(name, help=help_line)
        if name in complete:
            module, _, add_arguments = function.partition(":")
            getattr(import_module(module), add_arguments)(command)
    return main_parser


if __name__ == "__main__":
    sys.exit(main())
