"""Points of charts lead to what they show: a run, a relation, or the questions of a group."""

from typing import Any

from django.test import Client

from leaderboard.ui.charts.basics import Chart
from tests.leaderboard.conftest import Site
from tests.leaderboard.ui.charts.plotted import plotted

BEHIND = ("chance", "median")  # series that stand behind the points of a model
# Points that show no run, relation or group of items: rules of one run, and groups of equally sure answers.
WITHOUT_PAGES = {"max_softmax_bin", "softmax_margin_bin"}


def has_points(trace: Any) -> bool:
    return trace.type == "heatmap" or "markers" in str(getattr(trace, "mode", ""))


def unlinked(chart: Chart) -> list[str]:
    """Return the names of the series with points that lead nowhere."""
    series = [trace for trace in plotted(chart.figure).data if has_points(trace) and trace.name not in BEHIND]
    return [str(trace.name) for trace in series if not all("/" in str(part) for part in trace.customdata or [""])]


def test_points_of_charts_lead_on(client: Client, site: Site) -> None:
    run = site.first.get_absolute_url()
    pages = [run, f"/compare/?m={site.first.pk}&m={site.second.pk}", "/benchmarks/small/", "/models/org/first/", "/"]
    for address in pages:
        charts = client.get(address).context["charts"]
        missing = {name: unlinked(chart) for name, chart in charts.items() if name not in WITHOUT_PAGES}
        assert not {name: series for name, series in missing.items() if series}, address


def test_charts_by_domain_lead_to_the_questions_of_the_domain(client: Client, site: Site) -> None:
    (trace,) = (
        trace
        for trace in plotted(client.get(site.first.get_absolute_url()).context["charts"]["domain"].figure).data
        if trace.name == "score"
    )
    assert client.get(trace.customdata[0]).status_code == 200
    assert all(f"/runs/{site.first.pk}/items/?domain=" in address for address in trace.customdata)
