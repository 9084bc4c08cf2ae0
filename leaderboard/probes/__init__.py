"""The pages of every probe. A new probe's module is imported here and its object added to the dictionary."""

from leaderboard.models import Benchmark
from leaderboard.probes import answering, cloze, multiple_choice, perplexity, ranking, similarity, specificity
from leaderboard.probes.probe_pages import ProbePages

PAGES: dict[str, ProbePages] = {
    "answering": answering.PAGES,
    "cloze": cloze.PAGES,
    "multiple_choice": multiple_choice.PAGES,
    "perplexity": perplexity.PAGES,
    "ranking": ranking.PAGES,
    "similarity": similarity.PAGES,
    "specificity": specificity.PAGES,
}


def pages_of(benchmark: Benchmark) -> ProbePages:
    return PAGES.get(benchmark.probe, ProbePages())
