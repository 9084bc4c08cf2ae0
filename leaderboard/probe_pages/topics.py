"""Topics, which are groups of benchmarks by what they measure; lists of benchmarks stand in this order."""

from leaderboard.models import Benchmark
from leaderboard.probe_pages import pages_of

# Each topic with the question that its benchmarks answer.
TOPICS = {
    "Facts": "Does the model know the answer?",
    "Cultures": "Does it know facts about one culture and the other?",
    "Precision": "Does it prefer the more specific of two right answers?",
    "Plausibility": "Does it find true sentences more plausible than false ones?",
}


def topic_of(benchmark: Benchmark) -> str:
    """Return the topic of a benchmark, which its probe decides."""
    return pages_of(benchmark).topic


def topic_place(benchmark: Benchmark) -> int:
    """Return the place of the benchmark's topic among all topics, by which lists are sorted."""
    return list(TOPICS).index(topic_of(benchmark))
