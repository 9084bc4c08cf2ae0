"""/benchmarks/: every benchmark with one sentence on what it asks, in groups of what they measure."""

from django.http import HttpRequest, HttpResponseBase

from leaderboard.display import cells
from leaderboard.display.tables import Column, Table
from leaderboard.lists.runs import CountedBenchmark, benchmarks
from leaderboard.probe_pages import pages_of
from leaderboard.probe_pages.descriptions import description
from leaderboard.views.page import show

TOPICS = {
    "Facts": "Facts: does the model know the answer?",
    "Cultures": "Cultures: does it know facts about one culture and the other?",
    "Precision": "Precision: does it prefer the more specific of two right answers?",
    "Plausibility": "Plausibility: does it find true sentences more plausible than false ones?",
}


def benchmarks_view(request: HttpRequest) -> HttpResponseBase:
    order = list(TOPICS)
    rows = sorted(benchmarks(), key=lambda row: order.index(pages_of(row).topic))
    return show(request, "benchmarks.html", {}, [_table(rows)])


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
        heading=lambda b: TOPICS[pages_of(b).topic],
        main=True,
        cards=True,
        empty="No benchmark yet. A maintainer imports one with manage.py import_benchmark.",
    )
