"""The options of `python -m probing curate culture | geography | specificity | graph | multiple-choice`."""

import argparse
import os
from collections.abc import Callable, Iterable
from itertools import chain
from pathlib import Path

import probing
from probing.curation import culture, geography, graph, multiple_choice, specificity
from probing.curation.articles import WIKIPEDIA, Articles
from probing.curation.cultures import PAIRS, own_pair, pair
from probing.curation.endpoint import WIKIDATA, Endpoint, labels_query
from probing.curation.http_cache import HttpCache
from probing.curation.predicates import PREDICATES
from probing.curation.query import Query
from probing.errors import BadInput
from probing.files.folders import alone
from probing.statements.geography.fact_types import FACT_TYPES

DAY = 24 * 60 * 60  # seconds

# What is asked for, as queries to print, and how it is made.
Work = tuple[Iterable[Query], Callable[[Endpoint, Path], None]]


def add_options(curating: argparse.ArgumentParser) -> None:
    kinds = curating.add_subparsers(required=True, metavar="KIND")
    _add_culture(_kind(kinds.add_parser("culture", help="facts of two cultures, in DLAMA's layout"), _culture, "dlama"))
    _add_geography(_kind(kinds.add_parser("geography", help="facts about places"), _geography, "geography"))
    _add_specificity(_kind(kinds.add_parser("specificity", help="finer and coarser answers"), _specificity, "stest"))
    _add_graph(_kind(kinds.add_parser("graph", help="a graph in words"), _graph, "knowledge_graph"))
    choice = kinds.add_parser("multiple-choice", help="one right answer among many, in BEAR's form")
    _add_multiple_choice(_kind(choice, _multiple_choice, "bear"))


def _kind(
    parser: argparse.ArgumentParser, work: Callable[[argparse.Namespace], Work], format: str
) -> argparse.ArgumentParser:
    """What all kinds have in common."""
    add = parser.add_argument
    add("--out", type=Path, metavar="DIR", help="the folder to write")
    add("--endpoint", default=WIKIDATA, metavar="URL", help=f"of SPARQL; default: {WIKIDATA}")
    add("--cache", type=Path, metavar="FILE", help="of answers; default: curation/answers.sqlite in CLOZEBOARD_DATA")
    add("--interval", type=float, default=1.0, metavar="SECONDS", help="between requests; default: 1")
    add("--timeout", type=float, default=75.0, metavar="SECONDS", help="for an answer; default: 75")
    add("--print-query", action="store_true", help="only print what would be asked")
    parser.set_defaults(command=_curate, work=work, format=format)
    return parser


def _curate(given: argparse.Namespace) -> None:
    queries, make = given.work(given)
    if given.print_query:
        return print("\n".join(query.text for query in chain(queries, [labels_query(("en",), ("Q42",))])))
    if given.out is None:
        raise BadInput("Where should the benchmark go?", "Give --out DIR.")
    if not (0 <= given.interval <= DAY and 1 <= given.timeout <= DAY):  # which nan is not
        raise BadInput("--interval and --timeout are seconds.", f"Give 0 to {DAY} and 1 to {DAY}.")
    out = given.out.resolve()
    with alone(out), HttpCache(_cache(given), interval=given.interval, timeout=given.timeout) as answers:
        make(Endpoint(answers, given.endpoint), out)
    print(f"The benchmark is in {given.out}; how it was made is in its manifest.json.")
    print(f"On the site: python manage.py import_benchmark {given.format} {given.out}")


def _cache(given: argparse.Namespace) -> Path:
    return given.cache or Path(os.environ.get("CLOZEBOARD_DATA", "var")) / "curation" / "answers.sqlite"


def _add_culture(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add(
        "--pair",
        nargs="+",
        default=[],
        metavar="NAME",
        help=f"of {', '.join(PAIRS)}; default: all, or that of --culture",
    )
    add("--culture", nargs="+", default=[], metavar="NAME_OR_FILE", help="the cultures of a new pair")
    add("--languages", nargs="+", default=[], metavar="CODE", help="of a new pair")
    add("--name", default="own", help="of a new pair; default: own")
    add("--predicate", nargs="+", default=list(PREDICATES), metavar="ID", help="default: all 20")
    add("--at-most", type=int, default=1000, metavar="N", help="subjects of a predicate and culture; default: 1000")
    add("--sort", choices=("size", "edits"), default="size", help="what makes an article's subject well known")
    add("--least-sitelinks", type=int, default=0, metavar="N", help="of a subject; default: 0, as in the paper")
    add("--templates", type=Path, metavar="DIR", help="with <language>/templates.jsonl; default: our own")
    add("--wikipedia", default=WIKIPEDIA, metavar="URL", help=f"of the sites' API; default: {WIKIPEDIA}")


def _culture(given: argparse.Namespace) -> Work:
    own = [own_pair(given.name, given.culture, given.languages)] if given.culture else []
    known = [pair(name) for name in dict.fromkeys(given.pair or (() if own else PAIRS))]
    plan = culture.Plan(
        (*known, *own), tuple(given.predicate), given.at_most, given.sort, given.least_sitelinks, given.templates
    )

    def make(endpoint: Endpoint, folder: Path) -> None:
        empty = culture.curate(endpoint, Articles(endpoint.answers, given.wikipedia), plan, folder)
        for region, countries in empty.items():
            print(f"No fact was found of {', '.join(countries)} in {region}: see found_by_country in manifest.json.")

    return culture.queries(plan), make


def _add_geography(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add("--fact-type", nargs="+", default=list(FACT_TYPES), metavar="NAME", help="default: all 23")
    add("--top", type=int, default=200, metavar="N", help="places of a kind; default: 200")
    add("--acceptability", default="", metavar="MODEL", help="a judge of sentences for the report; such as T5")


def _geography(given: argparse.Namespace) -> Work:
    plan = geography.Plan(tuple(given.fact_type), given.top)

    def make(endpoint: Endpoint, folder: Path) -> None:
        # By way of the package, so that nothing else here waits for torch.
        judge = probing.Judge.load(given.acceptability) if given.acceptability else None
        geography.curate(endpoint, plan, folder, judge)

    return geography.queries(plan), make


def _add_specificity(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add("--relation", nargs="+", default=list(specificity.CHAINS), metavar="ID", help="default: all five")
    add("--at-most", type=int, default=5000, metavar="N", help="pairs of a relation; default: 5000")
    add("--least-sitelinks", type=int, default=20, metavar="N", help="of a subject; default: 20")
    add("--seed", type=int, default=0)
    add("--tokenizer", nargs="+", default=[], metavar="NAME", help="answers must be one token of each")


def _specificity(given: argparse.Namespace) -> Work:
    plan = specificity.Plan(
        tuple(given.relation), given.at_most, given.least_sitelinks, given.seed, tuple(given.tokenizer)
    )
    return specificity.queries(plan), lambda endpoint, folder: specificity.curate(endpoint, plan, folder)


def _add_properties(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add("--property", nargs="+", required=True, metavar="ID", help="such as P36")
    add("--least-sitelinks", type=int, default=30, metavar="N", help="of a subject; default: 30")
    add("--template", action="append", default=[], metavar="ID=TEXT", help="such as 'P36=[Y] governs [X].'")


def _add_graph(parser: argparse.ArgumentParser) -> None:
    _add_properties(parser)
    parser.add_argument("--at-most", type=int, default=5000, metavar="N", help="triples of a property; default: 5000")


def _graph(given: argparse.Namespace) -> Work:
    plan = graph.Plan(tuple(given.property), given.at_most, given.least_sitelinks, _by_property(given.template))
    return graph.queries(plan), lambda endpoint, folder: graph.curate(endpoint, plan, folder)


def _add_multiple_choice(parser: argparse.ArgumentParser) -> None:
    _add_properties(parser)
    add = parser.add_argument
    add("--answers", type=int, default=60, metavar="N", help="options of a relation, at most; default: 60")
    add("--per-answer", type=int, default=6, metavar="N", help="items of each answer, at most; default: 6")
    add("--language", default="en", metavar="CODE")
    add("--domain", action="append", default=[], metavar="ID=NAME", help="such as P36=Geographic; may be repeated")


def _multiple_choice(given: argparse.Namespace) -> Work:
    plan = multiple_choice.Plan(
        tuple(given.property),
        given.answers,
        given.per_answer,
        given.least_sitelinks,
        given.language,
        _by_property(given.template),
        _by_property(given.domain),
    )
    return multiple_choice.queries(plan), lambda endpoint, folder: multiple_choice.curate(endpoint, plan, folder)


def _by_property(texts: Iterable[str]) -> dict[str, list[str]]:
    """From ID=TEXT, several for one ID being a list."""
    found: dict[str, list[str]] = {}
    for text in texts:
        property, _, value = text.partition("=")
        if not value.strip():
            raise BadInput(f"{text!r:.80} says nothing of a property.", "Write it such as P36=TEXT.")
        found.setdefault(property, []).append(value.strip())
    return found
