"""Heatmaps of correlations."""

from leaderboard.display import charts


def test_a_heatmap_has_its_first_row_at_the_top_and_zero_in_the_middle_of_its_colours() -> None:
    plot = charts.heatmap(["a", "b"], [[1.0, -0.5], [-0.5, 1.0]])
    (trace,) = plot.data
    assert (trace.zmin, trace.zmax) == (-1, 1)
    assert plot.layout.yaxis.autorange == "reversed"
    assert plot.layout.height == 268
