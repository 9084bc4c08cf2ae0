"""What a benchmark asks, its topic and its baselines, in words."""

from collections.abc import Mapping

from leaderboard.models import Benchmark
from leaderboard.probes import pages_of
from leaderboard.ui import labels, spelled
from probing.analysis.accuracy import CHANCE, MAJORITY, MOST_FREQUENT
from probing.analysis.specificity_metrics import RARER
from probing.benchmark import Relation
from probing.catalog import CATALOG

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
        *([_size(benchmark, relations)] if benchmark.items else []),
        *([labels.number_of(benchmark.relations, "relation")] if benchmark.relations else []),
        *([f"{labels.number_of(number, 'wording')} each"] if number > 1 else []),
        *([pages_of(benchmark).asked_by] if pages_of(benchmark).asked_by else []),
    ]


def _size(benchmark: Benchmark, relations: list[Relation]) -> str:
    """Return the number of questions, or those of true and of false statements where a benchmark has these."""
    items = (item for relation in relations for item in relation.items)
    first = next(items, None)
    if first is None or first.is_true is None:  # All items are statements or none is, and there may be very many.
        return labels.number_of(benchmark.items, benchmark.noun)
    truths = [bool(item.is_true) for item in (first, *items)]
    return f"{len(truths):,} statements, {sum(truths):,} true and {len(truths) - sum(truths):,} false"


# Topics, which are groups of benchmarks by what they measure; lists of benchmarks stand in this order.


CULTURES, OF_CULTURES = "Cultures", "dlama"  # a topic, and the format of benchmarks with pairs of cultures
# Each topic with the question that its benchmarks answer.
TOPICS = {
    "Facts": "Does the model know the answer?",
    CULTURES: "Does it know facts about one culture and the other?",
    "Precision": "Does it prefer the more specific of two right answers?",
    "Plausibility": "Does it find true sentences more plausible than false ones?",
}


def topic_of(benchmark: Benchmark) -> str:
    """Return the topic of a benchmark: that of its probe, but pairs of cultures are one topic whatever probe asks."""
    return CULTURES if benchmark.format == OF_CULTURES else pages_of(benchmark).topic


def topic_order(benchmark: Benchmark) -> int:
    """Return the place of the benchmark's topic among all topics, by which lists are sorted."""
    return list(TOPICS).index(topic_of(benchmark))


# Baselines in words: the scores that need no reading of questions.


# Titles and what they do, by the names under which benchmarks have their figures.
BASELINES: Mapping[str, tuple[str, str]] = {
    CHANCE: ("Chance", "takes every option to be as likely as the next"),
    MAJORITY: ("Commonest answer", "always gives the answer that is right most often in the relation"),
    MOST_FREQUENT: (
        "Commonest answer of all relations",
        "gives the option that is the right answer most often in the whole benchmark",
    ),
    RARER: ("Rarer answer", "always gives the answer that is rarer in a corpus of texts"),
}


def baselines_in_words(benchmark: Benchmark, stated: Mapping[str, float]) -> str:
    """Say what is reached without a model, with the probe's note on its baselines; nothing without any.

    `stated`: the figures of the baselines by their names. Of several that reach the same, the first one is named.
    """
    note = pages_of(benchmark).baseline_note
    words: dict[str, str] = {}
    for name, (title, does) in BASELINES.items():
        if name in stated:
            words.setdefault(spelled.figure(stated[name]), f"{title} {does}")
    said = "; ".join(f"{text} ({figure})" for figure, text in words.items())
    return f"Reached without a model: {said}. {note}".strip() if words else ""
