"""Figures that were published about another sample, version or way of measuring than that of the measured runs."""

from leaderboard.lists.runs import ANY_VERSION
from leaderboard.models import Benchmark, Run


def published_version(benchmark: Benchmark) -> Benchmark | None:
    """Return the version that has the figures which share nothing with runs of this one.

    None if there are no such figures, or if `benchmark` is that version itself, on which nothing can be measured.
    """
    if benchmark.version == ANY_VERSION:
        return None
    versions = Benchmark.objects.filter(slug=benchmark.slug, probe=benchmark.probe, version=ANY_VERSION)
    return versions.filter(runs__state=Run.State.FINISHED).distinct().first()


def differs(run: Run) -> str:
    """Return in what published figures differ from those of measured runs; empty where they may share a column."""
    return str(run.provenance_record.get("differs", ""))
