"""How well known the subjects of a benchmark are: on how many of Wikimedia's sites each has an article (sitelinks).

If it is asked for, also how often people read the article of one Wikipedia in a year (page views).
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import pandas as pd

from probing.benchmark import Benchmark
from probing.curation.page_views import PageViews, titles_query
from probing.curation.wikidata import Endpoint, Query, chunks, item_number, sitelinks
from probing.errors import BadInput
from probing.sentences.sentence_files import refuse_bad_target, write_tables

ITEM = re.compile(r"Q\d+")


def queries(benchmark: Benchmark, language: str = "") -> Iterator[Query]:
    """Yield the queries for the sitelinks of all subjects, and for the titles of their articles if there is a language.

    Raises `BadInput` where no subject has an id of Wikidata.
    """
    subjects = _subjects(benchmark)
    yield from _sitelinks_queries(subjects)
    if language:
        yield from _titles_queries(language, subjects)


def _sitelinks_queries(subjects: Sequence[str]) -> list[Query]:
    return [query_of(chunk) for chunk in chunks(subjects)]


def _titles_queries(language: str, subjects: Sequence[str]) -> list[Query]:
    return [titles_query(language, chunk) for chunk in chunks(subjects)]


def query_of(subjects: tuple[str, ...]) -> Query:
    return Query("Sitelinks of subjects", ("subject", "subject_sitelinks"), (sitelinks("subject"),), subjects)


def count_sitelinks(
    endpoint: Endpoint, benchmark: Benchmark, out: Path, page_views: PageViews | None = None
) -> pd.DataFrame:
    """Ask for the sitelinks of each item's subject, and for the views of its article; write and return the table.

    `out`: a new file, .csv, .parquet or .jsonl, with the columns `relation`, `index`, `subject` and `sitelinks`, which
    is empty where the subject has no id of Wikidata or no item there any more. With page views, there are also the
    title of its `article`, the Wikipedia and the year (`views_of`), and its `yearly_views`, which are empty where it
    has no article, or the API no views of it.
    """
    refuse_bad_target(out)
    subjects = _subjects(benchmark)
    links = {row["subject"]: int(row["subject_sitelinks"]) for row in endpoint.all_rows(_sitelinks_queries(subjects))}
    if not links:
        raise BadInput(f"{endpoint.url} knows none of the subjects of {benchmark.slug}.", "Check --endpoint.")
    items = [(relation.label, item) for relation in benchmark.relations for item in relation.items]
    ids = pd.Series([item.subject_id for _, item in items], dtype=object)
    table = pd.DataFrame(
        {
            "relation": [relation for relation, _ in items],
            "index": [item.index for _, item in items],
            "subject": [item.subject for _, item in items],
            "sitelinks": ids.map(links).astype("Int64"),
        }
    )
    if page_views:
        titles = _titles(endpoint, subjects, page_views.language)
        views = page_views.by_title(titles.values())
        table["article"] = ids.map(titles)
        table["views_of"] = page_views.source
        table["yearly_views"] = table["article"].map(views).astype("Int64")
    write_tables([table], out)
    return table


def _subjects(benchmark: Benchmark) -> Sequence[str]:
    """Return the ids of all subjects; raise `BadInput` where none is one of Wikidata."""
    ids = {item.subject_id for relation in benchmark.relations for item in relation.items}
    subjects = sorted(filter(ITEM.fullmatch, ids), key=item_number)
    if not subjects:
        raise BadInput(f"The subjects of {benchmark.slug} have no ids of Wikidata.", "Choose one that has them.")
    return subjects


def _titles(endpoint: Endpoint, subjects: Sequence[str], language: str) -> Mapping[str, str]:
    """Return the title of the article about each subject that has one in the Wikipedia of the language."""
    rows = endpoint.all_rows(_titles_queries(language, subjects))
    titles = {row["subject"]: row["title"] for row in rows if "title" in row}
    if not titles:
        raise BadInput(f"No subject has an article in {language}.wikipedia.", "Give another --language.")
    return titles
