"""What a comparison found in one sentence, and published figures side by side without a test."""

from collections.abc import Mapping, Sequence

from leaderboard.display import cells
from leaderboard.display.columns import interval_columns, source_column
from leaderboard.display.tables import Column, Table
from leaderboard.models import Run, Score
from leaderboard.probe_pages.comparison_tables import ComparedRun, is_certain
from leaderboard.stored.item_rows import Row


def verdict(runs: Sequence[ComparedRun], differences: Sequence[Row]) -> str:
    """Return the sentence with which a comparison begins, such as "B knows 27 points more than A [20, 34]"."""
    if len(runs) > 2:
        best = max(runs, key=lambda run: run.overall.value)
        return f"{best.name} is the best of {len(runs)} with {best.overall.value:.3f}."
    overall = next(row for row in differences if row["dimension"] == "overall")
    turned = overall["difference"] < 0
    behind, ahead = runs[::-1] if turned else runs
    low, high = (-overall["high"], -overall["low"]) if turned else (overall["low"], overall["high"])
    relations = [row["difference"] for row in differences if row["dimension"] == "relation"]
    won = sum(difference < 0 if turned else difference > 0 for difference in relations)
    where = f"[{_points(low)}, {_points(high)}]; ahead in {won} of {len(relations)} relations."
    size = _points(abs(overall["difference"]))
    if is_certain(overall):
        return f"{ahead.name} knows {size} points more than {behind.name} {where}"
    return f"No clear difference: {ahead.name} is {size} points ahead of {behind.name} {where}"


def _points(share: float) -> str:
    """Write a difference of shares in percentage points, in whole ones from ten on."""
    points = 100 * share
    return (f"{points:.0f}" if abs(points) >= 10 else f"{points:.1f}").replace("-", "\N{MINUS SIGN}")


def side_by_side_table(runs: Sequence[Run], scores: Mapping[int, Score], metric: str) -> Table[Run]:
    """Return runs with their overall scores; whose answers are not stored cannot be tested against others."""
    return Table(
        name="runs",
        caption="The scores side by side",
        columns=[
            Column("name", "Run", lambda run: cells.text(run.name, href=run.get_absolute_url()), align="head"),
            Column("run", "", lambda run: cells.number(run.pk), shown=False),
            Column("value", metric, lambda run: cells.of_score(scores.get(run.pk)), align="score"),
            *interval_columns(lambda run: scores.get(run.pk)),
            source_column(lambda run: run),
        ],
        rows=runs,
        main=True,
        sortable=False,
    )
