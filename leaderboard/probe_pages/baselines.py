"""The section of a benchmark's page with its baselines: what is reached without reading any question."""

from collections.abc import Mapping, Sequence

from leaderboard.display import cells
from leaderboard.display.sections import Section
from leaderboard.display.tables import Column, Table
from leaderboard.lists.scores import OVERALL
from leaderboard.models import Benchmark, Run, Score
from leaderboard.stored.chance import BASELINE_IDS, HUB_ID
from probing.analysis.baselines import MAJORITY, MOST_FREQUENT

TITLE = "What is reached without reading the questions"
WORDS: Mapping[str, tuple[str, str]] = {
    HUB_ID: ("Chance", "Guesses: every option is as likely as the next."),
    BASELINE_IDS[MAJORITY]: ("Majority answer", "Always gives the answer that is right most often in the relation."),
    BASELINE_IDS[MOST_FREQUENT]: (
        "Most frequent answer",
        "Gives the option that is the right answer most often in the whole benchmark.",
    ),
}


def baselines_section(benchmark: Benchmark) -> list[Section]:
    """Return the section; none for a benchmark without options to guess from. One query."""
    runs = Run.objects.filter(benchmark=benchmark, provenance=Run.Provenance.BASELINE, model__hub_id__in=WORDS)
    overall = Score.objects.filter(run__in=runs, dimension=OVERALL.dimension, metric=benchmark.main_metric)
    by_id = {score.run.model.hub_id: score for score in overall.select_related("run__model")}
    rows = [(by_id[name].run, by_id[name]) for name in WORDS if name in by_id]
    return [Section("baselines", TITLE, _table(rows))] if rows else []


def _table(rows: Sequence[tuple[Run, Score]]) -> Table[tuple[Run, Score]]:
    def name(row: tuple[Run, Score]) -> cells.Cell:
        return cells.text(WORDS[row[0].model.hub_id][0], href=row[0].get_absolute_url())

    return Table(
        name="baselines",
        caption=TITLE,
        columns=[
            Column("baseline", "Baseline", name, align="head"),
            Column("value", "Score", lambda row: cells.of_score(row[1]), align="score"),
            Column("meaning", "In words", lambda row: cells.text(WORDS[row[0].model.hub_id][1]), align="wide"),
        ],
        rows=rows,
        sortable=False,
    )
