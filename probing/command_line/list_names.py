"""The command `list`: benchmarks with their relations, and probes with their options."""

import argparse

from probing.benchmark import Benchmark
from probing.catalog import open_benchmark
from probing.command_line.program import print_lines, program
from probing.known_benchmarks import CATALOG
from probing.options import IN_WORDS, Option
from probing.probes import PROBES
from probing.probes.probe import declared_options


def add_list(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "benchmark", nargs="?", metavar="SLUG_OR_FOLDER", help="list the relations of this benchmark instead"
    )
    parser.set_defaults(command=list_names)


def list_names(arguments: argparse.Namespace) -> None:
    """Print what can be named on the command line: benchmarks and probes, or the relations of a benchmark."""
    if arguments.benchmark:
        _print_relations(open_benchmark(arguments.benchmark))
        return
    benchmarks = [f"{slug}: {entry.title}, probe {entry.probe}{_origin(slug)}" for slug, entry in CATALOG.items()]
    print_lines("Benchmarks (--benchmark; a folder of your own may be given as well)", benchmarks)
    for name, probe in PROBES.items():
        options = declared_options(probe).values()
        lines = [f"  {option.name}={option_default(option)}  {option_meaning(option)}" for option in options]
        print_lines(f"Probe {name} (--probe {name})", lines or ["  no options (--set)"])
    print(f"\nRelations of a benchmark: {program()} list starter")


def _print_relations(benchmark: Benchmark) -> None:
    items = f"{benchmark.size:,} items in {len(benchmark.relations):,} relations"
    print(f"{benchmark.title or benchmark.slug} {benchmark.version}, probe {benchmark.probe}: {items}")
    for relation in benchmark.relations:
        name = f" ({relation.name})" if relation.name else ""
        print_lines(
            f"{relation.id}{name}: {len(relation.items):,} items, {len(relation.answer_space):,} options",
            [f"  {number}  {template}" for number, template in enumerate(relation.templates)],
        )
    print_lines("Notes", benchmark.notes)


def _origin(slug: str) -> str:
    entry = CATALOG[slug]
    return f" (first: {program()} download {slug})" if entry.downloads else ""


def option_default(option: Option) -> str:
    if option.many:
        return ",".join(map(str, option.default))
    return str(option.default).lower() if option.value_type is bool else str(option.default)


def option_meaning(option: Option) -> str:
    """Return what the option does and which values it takes."""
    values = ", ".join(map(str, option.choices)) if option.choices and option.value_type is not bool else ""
    kind = values or IN_WORDS[option.value_type]
    return f"{option.help} [{kind}]".strip()
