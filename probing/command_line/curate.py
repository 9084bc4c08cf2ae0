"""The command `curate`: a benchmark from Wikidata, as a file says (`plan_file`)."""

import argparse
from collections.abc import Iterator
from itertools import chain
from pathlib import Path
from typing import Any

from probing.curation import culture_facts, translation
from probing.curation.articles import Articles
from probing.curation.plan_file import Kind, Servers, read_plan
from probing.curation.wikidata import EXAMPLE_ITEM, Endpoint, labels_query
from probing.errors import BadInput
from probing.files.folders import alone


def add_curate(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    plan_help = "YAML file with the kind of the benchmark and what it is to have; docs/curation.md explains the keys"
    add("plan", type=Path, metavar="PLAN.yaml", help=plan_help)
    add("--out", type=Path, metavar="DIR", help="the folder to write")
    add("--dry-run", action="store_true", help="only print the queries, without sending them")
    cache_help = "the file in which answers are kept; default: curation/answers.sqlite in CLOZEBOARD_DATA"
    add("--cache", type=Path, metavar="FILE", help=cache_help)
    contact_help = "your e-mail address or web page, which Wikimedia's policy demands; default: CLOZEBOARD_CONTACT"
    add("--contact", default="", metavar="ADDRESS", help=contact_help)
    parser.set_defaults(command=curate)


def curate(arguments: argparse.Namespace) -> None:
    kind, plan, servers = read_plan(arguments.plan)
    if arguments.dry_run:
        with_labels = chain(kind.module.queries(plan), [labels_query(("en",), (EXAMPLE_ITEM,))])
        return print("\n".join(query.text for query in with_labels))
    if arguments.out is None:
        raise BadInput("There is no folder for the benchmark.", "Give --out DIR.")
    folder = arguments.out.resolve()
    with alone(folder), servers.opened(arguments.cache, arguments.contact) as endpoint:
        for sentence in _write(kind, plan, endpoint, servers, folder):
            print(sentence)
    print(f"The benchmark is in {arguments.out}; how it was made is in its manifest.json.")
    print(f"To add it to the site: python manage.py import_benchmark {kind.format} {arguments.out}")


def _write(kind: Kind, plan: Any, endpoint: Endpoint, servers: Servers, folder: Path) -> Iterator[str]:
    """Write the benchmark; yield what is to be said of it."""
    if kind.module is culture_facts:
        empty = culture_facts.curate(endpoint, Articles(endpoint.cache, servers.wikipedia), plan, folder)
        for region, countries in empty.items():
            yield f"No facts were found for {', '.join(countries)} in {region}: see found_by_country in manifest.json."
    elif kind.module is translation:
        triples, kept = translation.curate(endpoint, plan, folder)
        yield f"{kept:,} of {triples:,} triples have labels in {', '.join(plan.languages)}."
    else:
        kind.module.curate(endpoint, plan, folder)
