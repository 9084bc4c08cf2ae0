"""The command line of `python -m probing curate`: one kind for each sort of benchmark, and `translate`.

Each kind has a plan, a dataclass whose fields are options where they have `metadata=option(...)`; the other fields are
given to `plan_from` by name.
"""

import argparse
import os
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import MISSING, Field, fields
from functools import partial
from itertools import chain
from pathlib import Path
from typing import Any, Literal, TypeVar, get_args, get_origin, get_type_hints

from probing.curation import (
    choice_questions,
    culture_facts,
    geography_facts,
    graph_triples,
    specificity_pairs,
    translation,
)
from probing.curation.articles import WIKIPEDIA, Articles
from probing.curation.choice_questions import MultipleChoicePlan
from probing.curation.culture_facts import CulturePlan
from probing.curation.cultures import KNOWN_PAIRS, known_pair, new_pair
from probing.curation.geography_facts import GeographyPlan
from probing.curation.graph_triples import GraphPlan
from probing.curation.http_cache import ANSWER_TIMEOUT, REQUEST_INTERVAL, HttpCache
from probing.curation.predicates import Predicate, read_predicates
from probing.curation.specificity_pairs import SpecificityPlan
from probing.curation.translation import TranslationPlan
from probing.curation.wikidata import EXAMPLE_ITEM, WIKIDATA, Endpoint, Query, labels_query
from probing.errors import BadInput
from probing.files.folders import alone

DAY = 24 * 60 * 60  # seconds
AnyPlan = TypeVar("AnyPlan")
# The queries of a curation, which can be printed, and the function that writes its folder.
CurationTask = tuple[Iterable[Query], Callable[[Endpoint, Path], None]]
MakeTask = Callable[[argparse.Namespace], CurationTask]
AddOptions = Callable[[argparse.ArgumentParser], None]


def add_options(curating: argparse.ArgumentParser) -> None:
    parsers = curating.add_subparsers(required=True, metavar="KIND")

    def add(name: str, help: str, format: str, plan: type[Any], task: MakeTask, *others: AddOptions) -> None:
        """Add a kind of benchmark. `format`: the name under which the site imports its folder."""
        parser = parsers.add_parser(name, help=help)
        parser.add_argument("--out", type=Path, metavar="DIR", help="the folder to write")
        add_endpoint_options(parser)
        print_help = "only print the queries, without sending them"
        parser.add_argument("--print-query", action="store_true", help=print_help)
        for add_others in others:
            add_others(parser)
        add_plan_options(parser, plan)
        parser.set_defaults(command=partial(_curate, task, format))

    culture_help = "facts of two cultures, in DLAMA's layout"
    add("culture", culture_help, "dlama", CulturePlan, _culture_task, _add_culture_options)
    add("geography", "facts about places", "geography", *_plain(geography_facts, GeographyPlan))
    add("specificity", "finer and coarser answers", "stest", SpecificityPlan, _specificity_task, _add_chain_file)
    add("graph", "a knowledge graph in words", "knowledge_graph", *_plain(graph_triples, GraphPlan))
    choices_help = "one right answer among many, in BEAR's form"
    add("multiple-choice", choices_help, "bear", *_plain(choice_questions, MultipleChoicePlan))
    translation_help = "a set of culture facts in further languages"
    add("translate", translation_help, "dlama", TranslationPlan, _translation_task, _add_predicate_file)


def add_endpoint_options(parser: argparse.ArgumentParser) -> None:
    """Add the arguments that `open_endpoint` reads."""
    add = parser.add_argument
    add("--endpoint", default=WIKIDATA, metavar="URL", help=f"the SPARQL endpoint; default: {WIKIDATA}")
    contact_help = "your e-mail address or web page, which Wikimedia's policy demands; default: CLOZEBOARD_CONTACT"
    add("--contact", default=os.environ.get("CLOZEBOARD_CONTACT", ""), metavar="ADDRESS", help=contact_help)
    cache_help = "the file in which answers are kept; default: curation/answers.sqlite in CLOZEBOARD_DATA"
    add("--cache", type=Path, metavar="FILE", help=cache_help)
    interval_help = f"seconds between requests; default: {REQUEST_INTERVAL:g}"
    add("--interval", type=float, default=REQUEST_INTERVAL, metavar="SECONDS", help=interval_help)
    timeout_help = f"seconds to wait for an answer; default: {ANSWER_TIMEOUT:g}"
    add("--timeout", type=float, default=ANSWER_TIMEOUT, metavar="SECONDS", help=timeout_help)


@contextmanager
def open_endpoint(options: argparse.Namespace) -> Iterator[Endpoint]:
    """Yield the endpoint that the user chose, with its cache."""
    if not (0 <= options.interval <= DAY and 1 <= options.timeout <= DAY):  # which is also true for NaN
        raise BadInput("--interval and --timeout are seconds.", f"Give 0 to {DAY} and 1 to {DAY}.")
    if options.endpoint == WIKIDATA and not options.contact:
        print("Wikimedia may slow down or block clients without a contact: give --contact.", file=sys.stderr)
    limits = {"interval": options.interval, "timeout": options.timeout}
    file = options.cache or Path(os.environ.get("CLOZEBOARD_DATA", "var")) / "curation" / "answers.sqlite"
    with HttpCache(file, **limits, contact=options.contact) as cache:
        yield Endpoint(cache, options.endpoint)


def _curate(task: MakeTask, format: str, options: argparse.Namespace) -> None:
    queries, write = task(options)
    if options.print_query:
        with_labels = chain(queries, [labels_query(("en",), (EXAMPLE_ITEM,))])
        return print("\n".join(query.text for query in with_labels))
    if options.out is None:
        raise BadInput("There is no folder for the benchmark.", "Give --out DIR.")
    folder = options.out.resolve()
    with alone(folder), open_endpoint(options) as endpoint:
        write(endpoint, folder)
    print(f"The benchmark is in {options.out}; how it was made is in its manifest.json.")
    print(f"To add it to the site: python manage.py import_benchmark {format} {options.out}")


def add_plan_options(parser: argparse.ArgumentParser, plan: type[Any]) -> None:
    """Add the options of a plan; a field without a default is required.

    A tuple takes one or more values, and a mapping takes one ID=TEXT whenever the option is given.
    """
    types = get_type_hints(plan)
    for field in _option_fields(plan):
        own = "--" + field.name.replace("_", "-")
        flags = dict.fromkeys([field.metadata["flag"] or own, own])
        parser.add_argument(*flags, dest=field.name, help=_help(field), **_parsing(field, types[field.name]))


def plan_from(options: argparse.Namespace, plan: Callable[..., AnyPlan], **other_fields: Any) -> AnyPlan:
    """Return a plan with the values of its options and of its other fields."""
    types = get_type_hints(plan)
    values = {field.name: _converted(getattr(options, field.name), types[field.name]) for field in _option_fields(plan)}
    return plan(**values, **other_fields)


def _option_fields(plan: Any) -> Iterable[Field[Any]]:
    return [field for field in fields(plan) if field.metadata]


def _help(field: Field[Any]) -> str:
    text: str = field.metadata["help"]
    return (
        f"{text}; default: {field.default}"
        if isinstance(field.default, str | int) and field.default is not False
        else text
    )


def _parsing(field: Field[Any], type: Any) -> dict[str, Any]:
    """Return the arguments with which argparse reads values of the type."""
    metavar = field.metadata["metavar"]
    if get_origin(type) is Mapping:
        return {"action": "append", "default": [], "metavar": metavar}
    if type is bool:
        return {"action": "store_true"}
    default = {"required": True} if field.default is MISSING else {"default": field.default}
    if get_origin(type) is Literal:
        return default | {"choices": get_args(type)}
    if get_origin(type) is tuple:
        return default | {"nargs": "+", "metavar": metavar}
    return default | {"type": Path if type == Path | None else type, "metavar": metavar}


def _converted(value: Any, type: Any) -> Any:
    """Return what argparse has read as a value of the field's type."""
    if get_origin(type) is Mapping:
        return _texts_by_id(value)
    return tuple(value) if get_origin(type) is tuple else value


def _texts_by_id(assignments: Iterable[str]) -> dict[str, list[str]]:
    """Return ID -> texts from one or more ID=TEXT."""
    texts: dict[str, list[str]] = {}
    for assignment in assignments:
        id, _, text = assignment.partition("=")
        if not text.strip():
            raise BadInput(f"{assignment!r:.80} gives no text for a property.", "Write it such as P36=TEXT.")
        texts.setdefault(id, []).append(text.strip())
    return texts


def _add_culture_options(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    pairs_help = f"known pairs: {', '.join(KNOWN_PAIRS)}; default: all, or only the new pair of --culture"
    add("--pair", nargs="+", default=[], metavar="NAME", help=pairs_help)
    add("--culture", nargs="+", default=[], metavar="NAME_OR_FILE", help="the cultures of a new pair")
    add("--languages", nargs="+", default=[], metavar="CODE", help="the languages of the new pair")
    add("--name", default="own", help="the name of the new pair; default: own")
    _add_predicate_file(parser)
    add("--wikipedia", default=WIKIPEDIA, metavar="URL", help=f"the API of Wikipedia's sites; default: {WIKIPEDIA}")


def _add_predicate_file(parser: argparse.ArgumentParser) -> None:
    help = "a TOML or YAML file of further predicates; see docs/curation.md"
    parser.add_argument("--predicate-file", type=Path, metavar="FILE", help=help)


def _culture_task(options: argparse.Namespace) -> CurationTask:
    new_pairs = [new_pair(options.name, options.culture, options.languages)] if options.culture else []
    names = options.pair or (() if new_pairs else KNOWN_PAIRS)
    known_pairs = [known_pair(name) for name in dict.fromkeys(names)]
    pairs = (*known_pairs, *new_pairs)
    plan = plan_from(options, CulturePlan, pairs=pairs, own=_own_predicates(options))

    def write(endpoint: Endpoint, folder: Path) -> None:
        empty = culture_facts.curate(endpoint, Articles(endpoint.cache, options.wikipedia), plan, folder)
        for region, countries in empty.items():
            print(f"No facts were found for {', '.join(countries)} in {region}: see found_by_country in manifest.json.")

    return culture_facts.queries(plan), write


def _own_predicates(options: argparse.Namespace) -> Mapping[str, Predicate]:
    if not options.predicate_file:
        return {}
    return read_predicates(options.predicate_file, stricter=getattr(options, "stricter", False))


def _plain(module: Any, plan: type[Any]) -> tuple[type[Any], MakeTask]:
    """Return the plan and the task of a module that needs nothing but a plan with options."""
    return plan, lambda options: _task(module, plan_from(options, plan))


def _task(module: Any, plan: Any) -> CurationTask:
    return module.queries(plan), lambda endpoint, folder: module.curate(endpoint, plan, folder)


def _add_chain_file(parser: argparse.ArgumentParser) -> None:
    help = "a TOML or YAML file of further relations; see docs/curation.md"
    parser.add_argument("--chain-file", type=Path, metavar="FILE", help=help)


def _specificity_task(options: argparse.Namespace) -> CurationTask:
    own = specificity_pairs.read_chains(options.chain_file) if options.chain_file else {}
    return _task(specificity_pairs, plan_from(options, SpecificityPlan, own=own))


def _translation_task(options: argparse.Namespace) -> CurationTask:
    plan = plan_from(options, TranslationPlan, own=_own_predicates(options))

    def write(endpoint: Endpoint, folder: Path) -> None:
        triples, kept = translation.curate(endpoint, plan, folder)
        print(f"{kept:,} of {triples:,} triples have labels in {', '.join(plan.languages)}.")

    return translation.queries(plan), write
