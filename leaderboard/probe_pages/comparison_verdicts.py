"""What a comparison found in one sentence, and published figures side by side without a test."""

from collections.abc import Mapping, Sequence

from django.utils.text import get_text_list

from leaderboard.display import cells
from leaderboard.display.columns import interval_columns, source_column
from leaderboard.display.tables import Column, Table
from leaderboard.models import Run, Score
from leaderboard.probe_pages.comparison_tables import ComparedRun, is_certain
from leaderboard.stored.item_rows import Row

BETTER, WORSE, ALIKE = "clearly better than", "clearly worse than", "not clearly different from"


def verdict(runs: Sequence[ComparedRun], differences: Sequence[Row]) -> str:
    """Return the sentence with which a comparison begins, such as "B knows 27 points more than A"."""
    if len(runs) > 2:
        return " ".join([f"{best_of(runs)}.", *_against_first(runs)])
    overall = next(row for row in differences if row["dimension"] == "overall")
    turned = overall["difference"] < 0
    behind, ahead = runs[::-1] if turned else runs
    low, high = (-overall["high"], -overall["low"]) if turned else (overall["low"], overall["high"])
    relations = [row["difference"] for row in differences if row["dimension"] == "relation"]
    won = sum(difference < 0 if turned else difference > 0 for difference in relations)
    interval = f"95 % interval {_points(low)} to {_points(high)}"
    where = f"({interval}); ahead in {won} of {len(relations)} relations."
    size = _points(abs(overall["difference"]))
    if not overall["difference"]:
        return f"No difference: both have {ahead.overall.value:.3f}; {interval} points."
    if is_certain(overall):
        return f"{ahead.name} knows {size} points more than {behind.name} {where}"
    return f"No clear difference: {ahead.name} is {size} points ahead of {behind.name} {where}"


def _against_first(runs: Sequence[ComparedRun]) -> list[str]:
    """Return which runs are better or worse than the first one, and which differ too little to tell."""
    names: dict[str, list[str]] = {BETTER: [], WORSE: [], ALIKE: []}
    for run in runs[1:]:
        if (row := run.against_first) is not None:
            side = BETTER if row["difference"] > 0 else WORSE
            names[side if is_certain(row) else ALIKE].append(run.name)
    return [
        f"{get_text_list(of_side, 'and')} {'is' if len(of_side) == 1 else 'are'} {side} {runs[0].name}."
        for side, of_side in names.items()
        if of_side
    ]


def best_of(runs: Sequence[ComparedRun]) -> str:
    """Return which run is the best, with its figure; runs that share the highest figure are named together."""
    highest = max(run.overall.value for run in runs)
    best = [run.name for run in runs if run.overall.value == highest]
    if len(best) > 1:
        return f"{' and '.join(best)} share the highest figure, {highest:.3f}"
    return f"{best[0]} is the best of {len(runs)} with {highest:.3f}"


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
            Column("value", metric, lambda run: cells.of_run(cells.of_score(scores.get(run.pk)), run), align="score"),
            *interval_columns(lambda run: scores.get(run.pk)),
            source_column(lambda run: run),
        ],
        rows=runs,
        main=True,
        sortable=False,
    )
