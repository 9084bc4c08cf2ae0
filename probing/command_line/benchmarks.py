"""The commands about benchmarks: `list`, `download` and `baselines`."""

import argparse
import re
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path

import pandas as pd

from probing.analysis.breakdowns import ALL
from probing.analysis.facts_by_culture import CulturePlaces, Fact, diversity, facts_of, overlap
from probing.baselines import baseline_scores, pair_answers, rarer_scores
from probing.benchmark import Benchmark
from probing.catalog import CATALOG, benchmarks_folder, download, how_checked, known_name, named_folder, open_benchmark
from probing.command_line.exit_codes import program, refuse_without
from probing.command_line.printing import print_by_dimension, print_lines, print_table, write_csv
from probing.curation.cultures import Culture, country_ids, members, read_countries, read_culture
from probing.curation.plan_file import Servers
from probing.errors import BadInput, suggestion
from probing.files.pickled_weights import convert
from probing.formats.canary import canary_of
from probing.formats.lama import holds_triples, read_triples
from probing.papers.declarations import printed_figures, read_paper
from probing.plan import plan
from probing.probes import PROBES
from probing.probes.probe import declared_options
from probing.sentences.sentence_files import corpus_counts, listed_counts
from probing.settings import IN_WORDS, Option

WEST = "west"
OF_CULTURES = ("relation", "with", "countries", "wikidata")  # the arguments of `list` that are about --cultures
NAMES_IN_TABLE_A1 = {"trex": "lama", "xfactr": "xfactr"}  # of known benchmarks, in DLAMA's paper


def add_list(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add("benchmark", nargs="?", metavar="SLUG_OR_FOLDER", help="list the relations of this benchmark instead")
    cultures = (
        "count which cultures its facts are about; where facts name none, which are about this one (default: west)"
    )
    add("--cultures", nargs="?", const=WEST, metavar="NAME_OR_FILE", help=cultures)
    relations = "cultures: count only these relations, such as P17"
    add("--relation", "--relations", nargs="+", default=[], metavar="ID", help=relations)
    other = "cultures: count the facts that this benchmark, or folder of triples, has as well"
    add("--with", metavar="SLUG_OR_FOLDER", help=other)
    countries = "cultures: a table with lines of an id and, behind tabs, the ids of its countries"
    add("--countries", type=Path, metavar="FILE", help=countries)
    add("--wikidata", action="store_true", help="cultures: ask Wikidata which subjects and objects belong to it")
    parser.set_defaults(command=list_names)


def list_names(arguments: argparse.Namespace) -> None:
    """Print what can be named on the command line: benchmarks and probes, or the relations of a benchmark."""
    refuse_without(arguments, "cultures", OF_CULTURES)
    if arguments.cultures:
        _print_cultures(arguments)
        return
    if arguments.benchmark:
        _print_relations(open_benchmark(arguments.benchmark))
        return
    benchmarks = [f"{slug}: {entry.title}, probe {entry.probe}{_origin(slug)}" for slug, entry in CATALOG.items()]
    print_lines("Benchmarks (--benchmark; a folder of your own may be given as well)", benchmarks)
    shipped = [slug for slug, entry in CATALOG.items() if not entry.downloads]
    canaries = [f"{slug}: {canary_of(sorted(named_folder(slug).rglob('*.json*')))}" for slug in shipped]
    print_lines("Canaries, by which the files of a benchmark are found in a training corpus", canaries)
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
    if canary := canary_of(benchmark.files):
        print(f"\n{canary}")


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


def add_download(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add("slug", nargs="?", metavar="SLUG", help="name of a benchmark in the catalog")
    pickles = "write the pickled weights of a model's folder (pytorch_model.bin) as safetensors"
    add("--convert", type=Path, metavar="FOLDER", help=pickles)
    add(
        "--templates",
        type=Path,
        metavar="DIR",
        help="folder with <language>/templates.jsonl, such as mLAMA's, for a benchmark whose source has none (dlama)",
    )
    parser.set_defaults(command=download_benchmark)


def download_benchmark(arguments: argparse.Namespace) -> None:
    if (arguments.slug is None) == (arguments.convert is None):
        raise BadInput("Nothing is named to fetch, or too much.", "Give a SLUG, or --convert FOLDER.")
    if arguments.convert:
        for path in convert(arguments.convert):
            print(f"{path.name} is in {path.parent}.")
        return print(f"Probe the model: {program()} run {arguments.convert} --benchmark starter --out results")
    slug = known_name(arguments.slug)
    target = benchmarks_folder() / slug
    benchmark = download(slug, target, arguments.templates)
    print(f"{benchmark.title} {benchmark.version} ({benchmark.size} items) is in {target}.")
    for sentence in (how_checked(slug, target), *benchmark.notes):
        print(sentence)


def add_baselines(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add("benchmark", metavar="BENCHMARK", help="a known benchmark, or the folder of one")
    add("--probe", choices=sorted(PROBES), help="how models would be asked; default: the benchmark's usual probe")
    words = parser.add_mutually_exclusive_group()
    corpus = "specificity: also choose the answer that is rarer in this text or dump of Wikipedia (.xml.bz2)"
    words.add_argument("--corpus", default="", metavar="FILE", help=corpus)
    listed = "the same by a list of words, each with its count behind a tab, comma or space"
    words.add_argument("--frequencies", default="", metavar="FILE", help=listed)
    add("--ignore-case", action="store_true", help="count words whatever their case")
    add("--csv", type=Path, metavar="FILE", help="write the table to a CSV file as well")
    parser.set_defaults(command=print_baselines)


def print_baselines(arguments: argparse.Namespace) -> None:
    benchmark = open_benchmark(arguments.benchmark)
    planned = plan(benchmark, {"probe": arguments.probe or benchmark.probe})
    scores = baseline_scores(planned)
    remarks: list[str] = []
    if counts := _counts(arguments, benchmark):
        scores = pd.concat([scores, rarer_scores(planned, counts)], ignore_index=True)
        absent = sum(count == 0 for count in counts.values())
        remarks.append(f"{absent:,} of {len(counts):,} answers do not occur; a pair with equal counts is not specific.")
    if scores.empty:
        raise BadInput(f"{benchmark.slug} has no baselines.", "Its answers cannot be guessed without a model.")
    print_by_dimension(scores[["metric", "dimension", "group", "value", "n"]])
    print_lines("Word frequencies", remarks)
    write_csv(scores, arguments.csv)


def _counts(arguments: argparse.Namespace, benchmark: Benchmark) -> Mapping[str, float]:
    if arguments.corpus:
        return corpus_counts(arguments.corpus, pair_answers(benchmark), arguments.ignore_case)
    if arguments.frequencies:
        return listed_counts(arguments.frequencies, pair_answers(benchmark), arguments.ignore_case)
    return {}


def _print_cultures(arguments: argparse.Namespace) -> None:
    """Print how many of a benchmark's facts are about which cultures."""
    if not arguments.benchmark:
        raise BadInput("No benchmark is named.", f"Write: {program()} list BENCHMARK --cultures.")
    other = getattr(arguments, "with")
    facts = _of_relations(read_facts(arguments.benchmark), arguments.relation)
    places = None if all(fact.cultures for fact in facts) else _places(arguments, facts)
    if other:
        others = read_facts(other)
        _refuse_other_predicates(facts, others, other)
        table = overlap(facts, others, places)
    else:
        table = diversity(facts, places)
    printed_name = NAMES_IN_TABLE_A1.get(known_name(arguments.benchmark))
    if places and arguments.cultures == WEST and printed_name:
        table = _beside_printed(table, printed_name)
    print_table(table)
    print()
    for sentence in in_words(table, other):
        print(sentence)


def _beside_printed(table: pd.DataFrame, data_set: str) -> pd.DataFrame:
    """Add the shares that DLAMA's paper prints (Table A1); that of all predicates only beside the paper's own."""
    (exhibit,) = read_paper("dlama").chosen("table", ["A1"])
    figures = printed_figures(exhibit)
    shares = figures[figures["metric"] == data_set].set_index("group")["printed"]
    shown = shares if set(shares.index) == set(table["relation"]) else shares.drop(ALL)
    return table.assign(printed=table["relation"].map(shown).where(table["group"] == read_culture(WEST).name))


def read_facts(name: str) -> list[Fact]:
    """Read the facts of a benchmark, or the triples of a folder of lists, where each triple is a fact."""
    folder = named_folder(name)
    if folder.is_dir() and holds_triples(folder):
        return list(dict.fromkeys(Fact(*triple) for triple in read_triples(folder)))
    return facts_of(open_benchmark(name))


def _of_relations(facts: Sequence[Fact], relations: Sequence[str]) -> list[Fact]:
    there = {fact.relation for fact in facts}
    if missing := [relation for relation in relations if relation not in there]:
        raise BadInput(f"There are no facts of {', '.join(missing)}.", suggestion(missing[0], sorted(there)))
    return [fact for fact in facts if not relations or fact.relation in relations]


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


def _places(arguments: argparse.Namespace, facts: Collection[Fact]) -> CulturePlaces:
    """Return which of the facts' subjects and objects belong to the culture, from the user's table or from Wikidata."""
    culture = read_culture(arguments.cultures)
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
    with Servers().opened() as endpoint:
        return CulturePlaces(culture.name, members(endpoint, culture, ids), ids)


def _from_table(culture: Culture, file: Path) -> CulturePlaces:
    own = set(country_ids(culture))
    countries = read_countries(file)
    return CulturePlaces(culture.name, own | {id for id, ids in countries.items() if ids & own}, own | countries.keys())
