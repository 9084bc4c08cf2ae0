"""What a benchmark asks, in one sentence: that of the catalog, or of a paper whose figures alone are on the site."""

from leaderboard.display import labels
from leaderboard.models import Benchmark
from leaderboard.probe_pages import pages_of
from probing.benchmark import Relation
from probing.known_benchmarks import CATALOG

PUBLISHED_ONLY = {
    "dlama": "Facts of Wikidata about the countries of three pairs of cultures, in English and each pair's language.",
    "cultlama": "Facts about Arab and Asian countries beside Western ones, in English and four other languages.",
    "mlama": "The multilingual version of LAMA's facts, on the same pairs of cultures and languages as DLAMA.",
    "fb15k237": "Facts of Freebase over 237 relations, as true sentences beside false ones.",
    "trex": "Facts of Wikipedia's abstracts over 41 relations of Wikidata, the largest part of LAMA.",
}


def description(benchmark: Benchmark) -> str:
    """Return the sentence, or a description of how questions are asked where there is none."""
    way_of_asking = f"{labels.sentence(pages_of(benchmark).asked_by)}." if pages_of(benchmark).asked_by else ""
    return sentence_about(benchmark) or way_of_asking


def sentence_about(benchmark: Benchmark) -> str:
    """Return the sentence, which benchmarks of a site's own lack."""
    entry = CATALOG.get(benchmark.slug)
    return entry.description if entry else PUBLISHED_ONLY.get(benchmark.slug, "")


def counts(benchmark: Benchmark, relations: list[Relation]) -> list[str]:
    """Return how much is asked and how, in words; what is not known is left out."""
    wordings = {len(relation.templates) for relation in relations}
    number = next(iter(wordings)) if len(wordings) == 1 else 0
    return [
        *([f"{benchmark.items:,} questions"] if benchmark.items else []),
        *([labels.number_of(benchmark.relations, "relation")] if benchmark.relations else []),
        *([f"{labels.number_of(number, 'wording')} each"] if number > 1 else []),
        *([pages_of(benchmark).asked_by] if pages_of(benchmark).asked_by else []),
    ]
