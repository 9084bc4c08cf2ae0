"""The command `diversity`: facts of a data set by culture, and those that another data set has as well."""

import argparse
import re
from collections.abc import Collection
from pathlib import Path

import pandas as pd

from probing.analysis.breakdown import ALL
from probing.analysis.diversity import Fact, Places, diversity, facts_of, overlap
from probing.catalog import open_benchmark
from probing.command_line.program import print_table
from probing.curation.command import add_endpoint_options, open_endpoint
from probing.curation.cultures import Culture, read_culture
from probing.curation.places import country_ids, members, read_countries
from probing.errors import BadInput
from probing.files.folders import new_file
from probing.formats.triple_lists import holds_triples, read_triples


def add_diversity(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    data = "a benchmark, or a folder of lists of triples (P17.jsonl with sub_uri and obj_uri), as T-REx"
    add("benchmark", metavar="BENCHMARK", help=data)
    add("--with", dest="other", metavar="OTHER", help=f"count the facts that this has as well: {data}")
    add("--culture", default="west", metavar="NAME_OR_FILE", help="where facts name no culture: of which one they are")
    add("--countries", type=Path, metavar="FILE", help="lines of an id and, behind tabs, the ids of its countries")
    add("--wikidata", action="store_true", help="ask Wikidata which subjects and objects belong to the culture")
    add("--csv", type=Path, metavar="FILE", help="write the table to a CSV file as well")
    add_endpoint_options(parser)
    parser.set_defaults(command=print_diversity)


def print_diversity(arguments: argparse.Namespace) -> None:
    facts = read_facts(arguments.benchmark)
    places = None if all(fact.cultures for fact in facts) else _places(arguments, facts)
    if arguments.other:
        others = read_facts(arguments.other)
        _refuse_other_predicates(facts, others, arguments.other)
        table = overlap(facts, others, places)
    else:
        table = diversity(facts, places)
    print_table(table)
    print()
    for sentence in in_words(table, arguments.other):
        print(sentence)
    if arguments.csv:
        with new_file(arguments.csv) as temporary:
            table.to_csv(temporary, index=False)


def read_facts(name: str) -> list[Fact]:
    """Read the facts of a benchmark, or the triples of a folder of lists, where each triple is a fact."""
    if Path(name).is_dir() and holds_triples(Path(name)):
        return list(dict.fromkeys(Fact(*triple) for triple in read_triples(Path(name))))
    return facts_of(open_benchmark(name))


def in_words(table: pd.DataFrame, other: str | None) -> list[str]:
    """Return a sentence on each group of all facts."""
    return [
        f"{row.group}: {row.share:.1%} of the facts ({row.facts:,})"
        + (f", of which {other} has {row.shared_share:.1%} ({row.shared:,})." if other else ".")
        for row in table[table["relation"] == ALL].itertuples()
    ]


def _refuse_other_predicates(facts: Collection[Fact], others: Collection[Fact], name: str) -> None:
    if {fact.relation for fact in facts}.isdisjoint(fact.relation for fact in others):
        raise BadInput(f"{name} has none of these predicates.", "Compare data sets with predicates such as P36.")


def _places(arguments: argparse.Namespace, facts: Collection[Fact]) -> Places:
    """Return which of the facts' subjects and objects belong to the culture, from the user's table or from Wikidata."""
    culture = read_culture(arguments.culture)
    if arguments.countries:
        return _from_table(culture, arguments.countries)
    if not arguments.wikidata:
        raise BadInput(
            f"{arguments.benchmark} does not name the culture of every fact.",
            "Give --wikidata, which asks Wikidata, or --countries FILE, which states the countries of ids.",
        )
    ids = {id for fact in facts for id in (fact.subject, *fact.objects) if re.fullmatch(r"Q[1-9]\d*", id)}
    if not ids:
        raise BadInput(f"{arguments.benchmark} has no ids of Wikidata.", "Give --countries FILE.")
    with open_endpoint(arguments) as endpoint:
        return Places(culture.name, members(endpoint, culture, ids), ids)


def _from_table(culture: Culture, file: Path) -> Places:
    own = set(country_ids(culture))
    countries = read_countries(file)
    return Places(culture.name, own | {id for id, ids in countries.items() if ids & own}, own | countries.keys())
