"""How well known the subjects of a benchmark are: on how many of Wikimedia's sites each has an article (sitelinks)."""

import re
from collections.abc import Iterator
from pathlib import Path

import pandas as pd

from probing.benchmark import Benchmark
from probing.curation.wikidata import Endpoint, Query, chunks, item_number, sitelinks
from probing.errors import BadInput
from probing.sentences.sentence_files import refuse_bad_target, write_tables

ITEM = re.compile(r"Q\d+")


def queries(benchmark: Benchmark) -> Iterator[Query]:
    """Yield the queries for the sitelinks of all subjects; raise `BadInput` where none has an id of Wikidata."""
    ids = {item.subject_id for relation in benchmark.relations for item in relation.items}
    subjects = sorted(filter(ITEM.fullmatch, ids), key=item_number)
    if not subjects:
        raise BadInput(f"The subjects of {benchmark.slug} have no ids of Wikidata.", "Choose one that has them.")
    yield from map(query_of, chunks(subjects))


def query_of(subjects: tuple[str, ...]) -> Query:
    return Query("Sitelinks of subjects", ("subject", "subject_sitelinks"), (sitelinks("subject"),), subjects)


def count_sitelinks(endpoint: Endpoint, benchmark: Benchmark, out: Path) -> pd.DataFrame:
    """Ask for the sitelinks of each item's subject; write and return the table.

    `out`: a new file, .csv, .parquet or .jsonl, with the columns `relation`, `index`, `subject` and `sitelinks`, which
    is empty where the subject has no id of Wikidata or no item there any more.
    """
    refuse_bad_target(out)
    links = {row["subject"]: int(row["subject_sitelinks"]) for row in endpoint.all_rows(list(queries(benchmark)))}
    if not links:
        raise BadInput(f"{endpoint.url} knows none of the subjects of {benchmark.slug}.", "Check --endpoint.")
    rows = [
        (relation.label, item.index, item.subject, links.get(item.subject_id))
        for relation in benchmark.relations
        for item in relation.items
    ]
    table = pd.DataFrame(rows, columns=["relation", "index", "subject", "sitelinks"]).astype({"sitelinks": "Int64"})
    write_tables([table], out)
    return table
