"""/benchmarks/ : every benchmark with one sentence on what it asks, in groups of what they measure."""

from typing import Any

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render

from leaderboard.figures.runs import benchmarks
from leaderboard.probes.benchmark_words import TOPICS, description, topic_of, topic_order
from leaderboard.tables import download, ordered

COLUMNS = ("benchmark", "asks", "version", "relations", "items", "probe", "measured", "published")


def benchmarks_view(request: HttpRequest) -> HttpResponse:
    rows = [_row(benchmark) for benchmark in sorted(benchmarks(), key=topic_order)]
    rows = ordered(rows, request, COLUMNS, within="topic")
    if file := download(request, {"benchmarks": (COLUMNS, rows)}):
        return file
    canonical = request.build_absolute_uri(request.path)
    return render(request, "benchmarks.html", {"benchmarks": rows, "canonical": canonical})


def _row(benchmark: Any) -> dict[str, Any]:
    topic = topic_of(benchmark)
    return {
        "topic": topic,
        "topic_heading": f"{topic}: {TOPICS[topic][0].lower()}{TOPICS[topic][1:]}",
        "href": benchmark.get_absolute_url(),
        "benchmark": benchmark.title,
        "asks": description(benchmark),
        "version": benchmark.version[:12],
        "relations": benchmark.relations or None,
        "items": benchmark.items or None,
        "probe": benchmark.probe.replace("_", " "),
        "measured": benchmark.measured,
        "published": benchmark.published,
    }
