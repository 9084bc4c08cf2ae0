"""Pages that are made from the code: commands, probes, benchmarks, columns, exceptions and types of models."""

import argparse
import csv
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from html import escape
from importlib.metadata import version
from inspect import cleandoc
from pathlib import Path

from probing import errors
from probing.__main__ import parser
from probing.catalog import CATALOG
from probing.command_line.benchmarks import option_default, option_meaning
from probing.errors import ProbingError
from probing.kinds import KINDS
from probing.probes import PROBES
from probing.probes.probe import declared_options
from probing.results.rows import ITEM_COLUMNS, SCORE_COLUMNS, TOKEN_COLUMNS
from probing.results.run_json import RECORD_KEYS
from probing.settings import SETTINGS, Option

# The words that name a command, its own parser, and what it does.
Command = tuple[list[str], argparse.ArgumentParser, str]
PROGRAM = "clozeboard"
MODEL_TYPES = Path(__file__).parents[2] / "tests" / "zoo" / "model_types.csv"
WIDTH = 100  # characters of a line that shows how a command is used


def commands_page(main_parser: argparse.ArgumentParser) -> str:
    """Return the page of all commands of a parser with their arguments."""
    texts = [
        "# Commands",
        f"`{PROGRAM} COMMAND --help` prints the same. `python -m probing` is another name of `{PROGRAM}`. "
        "[Errors](../errors.md) explains the exit codes.",
    ]
    for path, command, summary in commands(main_parser):
        texts += [f"{'#' * (1 + len(path))} {' '.join(path)}", _sentence(summary), _usage(path, command)]
        if arguments := shown(command):
            texts.append(_table(["argument", "meaning"], map(_argument_cells, arguments)))
    return _page(texts)


def commands(main_parser: argparse.ArgumentParser, path: Sequence[str] = ()) -> Iterator[Command]:
    """Yield each command below a parser: the words that name it, its own parser, and what it does."""
    for action in subcommands(main_parser):
        summaries = {choice.dest: choice.help or "" for choice in action._choices_actions}
        for name, command in action.choices.items():
            yield [*path, name], command, summaries[name]
            yield from commands(command, [*path, name])


def subcommands(command: argparse.ArgumentParser) -> list["argparse._SubParsersAction[argparse.ArgumentParser]"]:
    return [action for action in command._actions if isinstance(action, argparse._SubParsersAction)]


def shown(command: argparse.ArgumentParser) -> list[argparse.Action]:
    """Return the arguments of a command that its help shows, without the help itself and the commands below it."""
    hidden = (argparse._HelpAction, argparse._SubParsersAction)
    actions = (action for action in command._actions if action.help != argparse.SUPPRESS)
    return [action for action in actions if not isinstance(action, hidden)]


def probes_page() -> str:
    """Return the page of settings and of the probes with their options, as they are declared."""
    texts = [
        "# Probes, settings and options",
        "In Python, settings and options are keyword arguments of `probing.run`: `sample=20`, `prompting='few-shot'`. "
        "On the command line, settings have flags (`--sample 20`) and options follow `--set`: "
        f"`--set prompting=few-shot`. `{PROGRAM} list` prints the probes as well. "
        "[Methods](../methods/index.md) explains what they measure.",
        "## Settings of a run",
        _table(["name", "default", "meaning"], map(_option_cells, SETTINGS.values())),
    ]
    for name, probe in PROBES.items():
        texts += [f"## Probe {name}", _summary(probe), f"Models are compared by `{probe.main_metric}`."]
        options = declared_options(probe).values()
        table = _table(["option", "default", "meaning"], map(_option_cells, options))
        texts.append(table if options else "It has no options.")
    return _page(texts)


def benchmarks_page() -> str:
    """Return the page of the benchmarks that are known by name."""
    rows = []
    for slug, entry in CATALOG.items():
        origin = f"`{PROGRAM} download {slug}`" if entry.downloads else "ships with the library"
        source = f"<{entry.source}>" if entry.source else ""
        compared = f"digest `{entry.digest[:12]}`" if entry.digest else "first download" if entry.downloads else ""
        rows.append((f"`{slug}`", entry.title, f"`{entry.probe}`", entry.licence, source, origin, compared))
    texts = [
        "# Benchmarks",
        "`--benchmark` and `probing.open_benchmark` take these names, or the folder of a "
        f"[benchmark of your own](../adding-a-benchmark.md). `{PROGRAM} list NAME` prints the relations and templates "
        "of one.",
        _table(["name", "title", "usual probe", "licence", "source", "how to get it", "compared with"], rows),
    ]
    return _page(texts)


def columns_page() -> str:
    """Return the page of the columns and keys of the files of a result."""
    texts = [
        "# Columns",
        "[Files of a result](../result-files.md) explains the files that have them.",
        "## Columns of items.parquet",
        "Each probe writes the columns that it has values for. Every other column is a tag of the benchmark, by which "
        "scores are broken down (a list if the item has several values).",
        _meanings("column", ITEM_COLUMNS),
        "## Columns of scores.csv",
        "[Methods](../methods/index.md) defines every metric and interval.",
        _meanings("column", SCORE_COLUMNS),
        "## Columns of tokens.parquet",
        "There is one row for each scored token of each option of each item, in the order of items.parquet. The tokens "
        "of an option add up to its score in `scores`, if the scores are plain sums (`reduction` is `sum`).",
        _meanings("column", TOKEN_COLUMNS),
        "## Keys of run.json",
        _meanings("key", RECORD_KEYS),
        "Results may have further keys: `rescored` with the time and the version on which they were measured, "
        "`added_tags` with the SHA-256 of each tag that `rescore --tags` has added, and `rows_kept`, which is false "
        "where the rows of the items were not kept.",
    ]
    return _page(texts)


def _meanings(kind: str, meanings: Mapping[str, str]) -> str:
    return _table([kind, "meaning"], ((f"`{name}`", meaning) for name, meaning in meanings.items()))


def exceptions_page() -> str:
    """Return the page of the exceptions that the library raises, as a tree of their classes."""
    tree = [
        f"{'    ' * depth}- `{error.__name__}` (`{error.code}`): {_summary(error)}"
        for error, depth in _tree(ProbingError)
    ]
    texts = [
        "# Exceptions",
        "All of them are in `probing.errors`. Whoever catches a class catches those below it as well. "
        "[Errors](../errors.md) says what to do about each code. Every exception has these attributes:",
        "- `message` and `next_step`: what happened, and what to do; `str(error)` has both\n"
        "- `code`: the stable name in parentheses below\n"
        "- `permanent`: False where the same may succeed later",
        "## The classes",
        "\n".join(tree),
    ]
    return _page(texts)


def model_types_page() -> str:
    """Return the page of what becomes of each type of model, by the table that a test compares."""
    with MODEL_TYPES.open(encoding="utf-8", newline="") as file:
        types = list(csv.DictReader(file))
    states = {state: [row for row in types if row["state"] == state] for state in ("accepted", "refused")}
    others = [row for row in types if row["state"] not in states]
    accepted = states["accepted"]
    shared = sum(row["scoring"] == "shared" for row in accepted)
    texts = [
        "# Model types",
        f"transformers {version('transformers')} has {len(types)} classes of causal, masked and encoder-decoder "
        "models, those included that also see or hear. `make zoo` makes this table: a tiny network of each class is "
        "saved with random weights, loaded from its folder, and asked some facts. "
        f"{len(accepted)} are accepted, and {shared} of these compute each distinct prefix (or masked input) once. "
        f"{len(states['refused'])} are refused with a sentence; {len(others)} were not compared. "
        "A model with other sizes or settings than its tiny network may behave in another way: the self-check decides "
        "for each model when it is loaded. `make types` makes the same comparison with the newest transformers.",
        "*Shared* tells whether each distinct input is computed once; a type that is not is scored by the slower "
        "reference implementation, with the same scores. *Difference* is the largest one, over some statements, "
        "between their log-probabilities and those of the network before it was saved. An early decision (`--decide`) "
        "has the same predictions for every type that is accepted.",
    ]
    columns = ["class", "type", "shared", "difference", "note"]
    for kind, facts in KINDS.items():
        rows = [row for row in accepted if row["kind"] == kind]
        texts += [f"## {facts.title[0].upper()}{facts.title[1:]}", _table(columns, map(_type_cells, rows))]
    for title, rows in (("Refused", states["refused"]), ("Not compared", others)):
        texts += [f"## {title}", _table(["class", "type", "reason"], map(_reason_cells, rows))]
    return _page(texts)


def _type_cells(row: Mapping[str, str]) -> tuple[str, ...]:
    shared = "yes" if row["scoring"] == "shared" else "no"
    return f"`{row['architecture']}`", f"`{row['name']}`", shared, row["difference"], escape(row["sentence"])


def _reason_cells(row: Mapping[str, str]) -> tuple[str, ...]:
    return f"`{row['architecture']}`", f"`{row['name']}`", escape(row["sentence"])


def library_errors() -> list[type[ProbingError]]:
    """Return the exceptions of `probing.errors`."""
    return [error for error, _ in _tree(ProbingError)]


def _tree(error: type[ProbingError], depth: int = 0) -> Iterator[tuple[type[ProbingError], int]]:
    yield error, depth
    for kind in error.__subclasses__():
        if kind.__module__ == errors.__name__:
            yield from _tree(kind, depth + 1)


def _summary(documented: type) -> str:
    """Return the first paragraph of a docstring in one line."""
    return " ".join(cleandoc(documented.__doc__ or "").split("\n\n")[0].split())


def _usage(path: Sequence[str], command: argparse.ArgumentParser) -> str:
    command.prog = f"{PROGRAM} {' '.join(path)}"
    command.formatter_class = partial(argparse.HelpFormatter, width=WIDTH)
    return f"```text\n{command.format_usage().removeprefix('usage: ').strip()}\n```"


def _argument_cells(action: argparse.Action) -> tuple[str, str]:
    """Return how an argument is written, and what it means with its choices and whether it must be given."""
    value = "" if action.nargs == 0 else f" {action.metavar or (action.dest.upper() if not action.choices else 'NAME')}"
    written = f"{', '.join(action.option_strings)}{value}".strip()
    meaning = [(action.help or "") % {"default": action.default, "prog": PROGRAM}]
    if action.choices:
        meaning.append(f"one of {', '.join(f'`{choice}`' for choice in action.choices)}")
    if action.required and action.option_strings:
        meaning.append("required")
    return f"`{written}`", "; ".join(filter(None, meaning))


def _option_cells(option: Option) -> tuple[str, str, str]:
    default = option_default(option)
    return f"`{option.name}`", f"`{default}`" if default else "", option_meaning(option)


def _sentence(text: str) -> str:
    return f"{text[:1].upper()}{text[1:]}." if text else ""


def _table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    lines = [head, ["---"] * len(head), *([cell.replace("|", "\\|") for cell in row] for row in rows)]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def _page(texts: Iterable[str]) -> str:
    return "\n\n".join(filter(None, texts)) + "\n"


# The pages by their paths in the site.
GENERATED: dict[str, Callable[[], str]] = {
    "reference/commands.md": lambda: commands_page(parser()),
    "reference/probes.md": probes_page,
    "reference/benchmarks.md": benchmarks_page,
    "reference/columns.md": columns_page,
    "reference/exceptions.md": exceptions_page,
    "model-types.md": model_types_page,
}
