"""The queries for culture facts: those of a country, and all objects of the subjects that were found."""

from collections.abc import Iterator, Sequence

from probing.curation.cultures import Culture
from probing.curation.predicates import Predicate
from probing.curation.query import Query, articles


def find_queries(predicate: Predicate, culture: Culture, least_sitelinks: int = 0) -> Iterator[Query]:
    """Yield one query per country, in the culture's order."""
    for country, sites in culture.sites.items():
        yield _find_query(predicate, culture.ids(country), sites, least_sitelinks)


def _find_query(predicate: Predicate, country: Sequence[str], sites: Sequence[str], least_sitelinks: int) -> Query:
    return Query(
        f"{predicate.id} ({predicate.name}: {predicate.object}) of each {predicate.subject} of {' '.join(country)}, "
        f"with articles on {' '.join(sites)}",
        ("subject", "object", "site", "title"),
        (
            predicate.region(country),
            predicate.facts(),
            *predicate.filters,
            *predicate.first,
            *predicate.objects,
        ),
        optional=(articles("subject", sites),),
        least=least_sitelinks or None,
    )


def objects_query(predicate: Predicate, subjects: tuple[str, ...]) -> Query:
    description = f"All that {predicate.id} ({predicate.name}) says of these subjects"
    return Query(description, ("subject", "object"), (predicate.facts(), *predicate.objects), subjects)
