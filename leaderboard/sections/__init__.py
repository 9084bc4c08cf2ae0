"""Sections of run and benchmark pages that only one probe has: one module and one line per probe."""

from collections.abc import Sequence

from leaderboard.models import Benchmark, Run
from leaderboard.sections import cloze, perplexity, ranking, specificity
from leaderboard.sections.section import Section, Sections

SECTIONS: dict[str, Sections] = {
    "cloze": cloze.SECTIONS,
    "perplexity": perplexity.SECTIONS,
    "ranking": ranking.SECTIONS,
    "specificity": specificity.SECTIONS,
}


def of_run(run: Run) -> list[Section]:
    """Nothing before the run is finished."""
    finished = run.state == Run.State.FINISHED
    return SECTIONS.get(run.benchmark.probe, Sections()).run(run) if finished else []


def of_comparison(runs: Sequence[Run]) -> list[Section]:
    return SECTIONS.get(runs[0].benchmark.probe, Sections()).comparison(runs)


def of_benchmark(benchmark: Benchmark) -> list[Section]:
    return SECTIONS.get(benchmark.probe, Sections()).benchmark(benchmark)
