"""Sections of run and benchmark pages that only one probe has: one module and one line per probe."""

from collections.abc import Sequence

from django.http import QueryDict

from leaderboard.display.sections import Section, Sections
from leaderboard.display.tables import PageLink
from leaderboard.models import Benchmark, Run
from leaderboard.probe_pages import cloze, perplexity, ranking, specificity

SECTIONS: dict[str, Sections] = {
    "cloze": cloze.SECTIONS,
    "perplexity": perplexity.SECTIONS,
    "ranking": ranking.SECTIONS,
    "specificity": specificity.SECTIONS,
}


def of_run(run: Run, query: QueryDict) -> list[Section]:
    """Nothing before the run is finished."""
    known = _of(run.benchmark)
    return known.run(run, *known.chosen(query)) if run.state == Run.State.FINISHED else []


def of_comparison(runs: Sequence[Run]) -> list[Section]:
    return _of(runs[0].benchmark).comparison(runs)


def of_benchmark(benchmark: Benchmark, query: QueryDict) -> list[Section]:
    known = _of(benchmark)
    return known.benchmark(benchmark, *known.chosen(query))


def switches(benchmark: Benchmark, query: QueryDict) -> list[list[PageLink]]:
    """The links of each switch of the benchmark's probe, for the sections that follow them."""
    return [switch.links(query) for switch in _of(benchmark).switches]


def _of(benchmark: Benchmark) -> Sections:
    return SECTIONS.get(benchmark.probe, Sections())
