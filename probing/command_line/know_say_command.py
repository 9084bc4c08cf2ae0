"""The command `know-say`: what models know by likelihood, what they say, and what they decline, of the same facts."""

import argparse
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

import pandas as pd

from probing.analysis.breakdowns import OVERALL
from probing.analysis.know_say import (
    KNOWN,
    LEAVE_OPTION,
    SAID,
    WITH_LEAVE,
    Names,
    crossed,
    know_say_scores,
    known_facts,
    model_differences,
    outcomes_of,
    refuse_penalty,
    said_by_known,
    way_differences,
    way_of,
)
from probing.catalog import open_benchmark
from probing.command_line.printing import print_table
from probing.errors import BadInput
from probing.exposure.named_facts import Aliases, facts_of
from probing.files.folders import new_file
from probing.probes import probe_named
from probing.probes.probe import shared_tags
from probing.results.compared import SETTINGS, differences, refuse_other_benchmarks
from probing.results.result import Result
from probing.results.rows import refuse_without_rows

FEWEST = "Give for each model one result of multiple_choice or ranking, and one or two of answering."
PRINTED = ["way", "metric", "value", "low", "high", "n", "chance"]
PRINTED_DIFFERENCES = ["metric", "from", "to", "first", "second", "difference", "low", "high", "n", "p"]


class Crossed(NamedTuple):
    """The crossed rows of a model, the ways of answering in them, and the tags that they can be broken down by."""

    rows: pd.DataFrame
    ways: Sequence[str]
    tags: list[str]


def add_know_say(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add(
        "folders",
        metavar="DIR",
        nargs="+",
        help="results on one benchmark: for each model one of multiple_choice or ranking, and one of answering, one of "
        "answering with may_decline, or both",
    )
    add(
        "--penalty",
        type=float,
        default=0.5,
        metavar="P",
        help="what a wrong answer costs in the index: 0, nothing, to 1, as much as a correct one gains; default: 0.5",
    )
    add(
        "--aliases",
        nargs="?",
        const="",
        metavar="FILE",
        help="other names of answers count as well, in whole words: those of the benchmark's files and of a JSON file",
    )
    add("--benchmark", metavar="NAME", help="with --aliases: the benchmark, where its name in the results is not known")
    add(
        "--csv",
        type=Path,
        metavar="FILE",
        help="write the shares of each model and the differences of its ways, by group, to a CSV file",
    )
    add("--items", type=Path, metavar="FILE", help="write what comes of each item, in each way, to a CSV file")
    parser.set_defaults(command=know_say)


def know_say(arguments: argparse.Namespace) -> None:
    refuse_penalty(arguments.penalty)
    by_model = _by_model(arguments.folders)
    names = _aliases(arguments, next(iter(by_model.values()))[KNOWN])
    tables = {model: _crossed(results, names) for model, results in by_model.items()}
    figures = [_print_model(model, table, arguments.penalty) for model, table in tables.items()]
    if len(tables) == 2:
        (first, one), (second, other) = tables.items()
        print(f"\nfrom {first} to {second}")
        print_table(model_differences(one.rows, other.rows, [way for way in one.ways if way in other.ways]))
    if arguments.csv:
        with new_file(arguments.csv) as new:
            pd.concat(figures).to_csv(new, index=False)
        print(
            f"\nShares of each model and differences of its ways, by relation and tag, with intervals: {arguments.csv}"
        )
    if arguments.items:
        with new_file(arguments.items) as new:
            pd.concat(_outcomes(table).assign(model=model) for model, table in tables.items()).to_csv(new, index=False)
        print(f"\nWhat comes of each item: {arguments.items}")


def _outcomes(table: Crossed) -> pd.DataFrame:
    """Return the items with whether each is known, and with what comes of it in each way of answering."""
    rows = table.rows[["relation", "template", "index", "subject", KNOWN]]
    return rows.assign(**{way: outcomes_of(table.rows, way) for way in table.ways})


def _print_model(model: str, table: Crossed, penalty: float) -> pd.DataFrame:
    """Print what a model knows, says and declines; return all its figures, and its differences from way to way."""
    rows, ways, tags = table
    scores = know_say_scores(rows, ways, tags, penalty)
    changes = way_differences(rows, ways, tags, penalty)
    print(f"\n{model}")
    _print_scores(scores)
    print("\npaired differences")
    print_table(changes.loc[changes["dimension"] == OVERALL, PRINTED_DIFFERENCES])
    for way in ways:
        if len(curve := said_by_known(rows, way)):
            print(f"\n{way}: how often what is said is correct, by the probability of the right answer")
            print_table(curve)
    as_scores = changes.rename(columns={"difference": "value", "to": "way"})
    return pd.concat([scores, as_scores]).assign(model=model)


def _print_scores(scores: pd.DataFrame) -> None:
    """Print the overall figures with their intervals, and the shares by group side by side."""
    print_table(scores.loc[scores["dimension"] == OVERALL, PRINTED])
    for dimension, part in scores[scores["dimension"] != OVERALL].groupby("dimension", sort=False):
        for way, of_way in part[part["way"] != KNOWN].groupby("way", sort=False):
            known = part[part["way"] == KNOWN].set_index("group")[["n", "value"]].set_axis(["n", "known"], axis=1)
            values = of_way.pivot(index="group", columns="metric", values="value")[of_way["metric"].unique()]
            print(f"\n{dimension}, {way}")
            print_table(known.join(values).reset_index())


def _by_model(folders: Sequence[str]) -> Mapping[str, Mapping[str, Result]]:
    """Return the results by model and way; raise `BadInput` where they cannot be crossed.

    Results of other weights are of another model: where an id has several commits, the commit is in its name.
    """
    results = {folder: Result.load(folder) for folder in dict.fromkeys(folders)}
    for result in results.values():
        refuse_without_rows(result.record, "What is known and said")
    refuse_other_benchmarks({folder: result.record for folder, result in results.items()})
    commits: dict[str, set[str]] = {}
    for result in results.values():
        commits.setdefault(_id(result), set()).add(_commit(result))
    by_model: dict[str, dict[str, Result]] = {}
    for folder, result in results.items():
        several, way = len(commits[_id(result)]) > 1, _way(folder, result)
        model = f"{_id(result)} ({_commit(result)[:7] or 'no commit'})" if several else _id(result)
        if way in by_model.setdefault(model, {}):
            raise BadInput(f"{folder} is a second result of {model} {way}.", "Leave one of them out.")
        by_model[model][way] = result
    for model, ways in by_model.items():
        if KNOWN not in ways or len(ways) < 2:
            missing = "what it says" if KNOWN in ways else "what it knows"
            raise BadInput(f"There is no result on {missing} of {model}.", FEWEST)
        _refuse_other_settings(model, ways)
    return by_model


def _id(result: Result) -> str:
    return str(result.record["model"]["id"])


def _commit(result: Result) -> str:
    return str(result.record["model"].get("commit") or "")


def _refuse_other_settings(model: str, ways: Mapping[str, Result]) -> None:
    """Raise `BadInput` where results with and without leave to decline differ in anything else that was chosen."""
    if not {SAID, WITH_LEAVE} <= ways.keys():
        return
    changed = differences(ways[SAID].record, ways[WITH_LEAVE].record, [SETTINGS])
    if others := "; ".join(str(difference) for difference in changed if difference.name != LEAVE_OPTION):
        raise BadInput(
            f"The results of {model} without and with leave to decline differ in other settings: {others}.",
            "Measure one of them again with the settings of the other.",
        )


def _way(folder: str, result: Result) -> str:
    """Return how a result was asked."""
    probe = result.record["probe"]
    if way := way_of(probe, result.record["settings"]):
        return way
    raise BadInput(f"{folder} is a result of {probe}, which tells neither what is known nor what is said.", FEWEST)


def _aliases(arguments: argparse.Namespace, result: Result) -> Names:
    """Return the names of right answers by relation and index; none unless they are asked for."""
    if arguments.aliases is None:
        if arguments.benchmark:
            raise BadInput("--benchmark names the benchmark of aliases.", "Give --aliases as well, or leave it out.")
        return {}
    benchmark = open_benchmark(arguments.benchmark or result.record["benchmark"]["slug"])
    if benchmark.digest != result.record["benchmark"]["digest"]:
        raise BadInput(
            f"{benchmark.slug} is another version of the benchmark than that of the results.", "Name that one."
        )
    aliases = Aliases.of_benchmark(benchmark, arguments.aliases)
    return {(fact.relation, fact.index): fact.answer_names for fact in facts_of(benchmark, aliases)}


def _crossed(results: Mapping[str, Result], names: Names) -> Crossed:
    ways = [way for way in (SAID, WITH_LEAVE) if way in results]
    rows = {way: results[way].items for way in (KNOWN, *ways)}
    table = crossed(known_facts(rows[KNOWN]), {way: rows[way] for way in ways}, names)
    return Crossed(table, ways, shared_tags(probe_named(results[KNOWN].record["probe"]), rows))
