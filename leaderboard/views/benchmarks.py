"""/benchmarks/: every benchmark with one sentence on what it asks, in groups of what they measure."""

from django.http import HttpRequest, HttpResponseBase

from leaderboard.display import cells
from leaderboard.display.tables import Column, Table
from leaderboard.lists.runs import CountedBenchmark, benchmarks
from leaderboard.models import Benchmark
from leaderboard.probe_pages.descriptions import description
from leaderboard.probe_pages.topics import TOPICS, topic_of, topic_place
from leaderboard.views.page import show


def benchmarks_view(request: HttpRequest) -> HttpResponseBase:
    return show(request, "benchmarks.html", {}, [_table(sorted(benchmarks(), key=topic_place))])


def _table(rows: list[CountedBenchmark]) -> Table[CountedBenchmark]:
    return Table(
        name="benchmarks",
        caption="Benchmarks",
        columns=[
            Column("benchmark", "Benchmark", lambda b: cells.text(b.title, href=b.get_absolute_url()), align="head"),
            Column("asks", "What it asks", lambda b: cells.text(description(b)), align="wide"),
            Column("version", "", lambda b: cells.text(b.version[:12]), shown=False),
            Column("relations", "Relations", lambda b: cells.number(b.relations or None), align="number"),
            Column("items", "Questions", lambda b: cells.number(b.items or None), align="number"),
            Column("probe", "", lambda b: cells.text(b.probe.replace("_", " ")), shown=False),
            Column(
                "measured", "● Measured", lambda b: cells.number(b.measured), "Models measured here.", align="number"
            ),
            Column(
                "published",
                "○ Published",
                lambda b: cells.number(b.published),
                "Models with published figures.",
                align="number",
            ),
        ],
        rows=rows,
        heading=_heading,
        main=True,
        empty="No benchmark yet. A maintainer imports one with manage.py import_benchmark.",
    )


def _heading(benchmark: Benchmark) -> str:
    """Return what stands above the benchmarks of a topic: its name and its question."""
    topic = topic_of(benchmark)
    return f"{topic}: {TOPICS[topic][0].lower()}{TOPICS[topic][1:]}"
