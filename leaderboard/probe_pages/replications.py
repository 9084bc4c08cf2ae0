"""Published figures against those measured here, on a model's page."""

from collections.abc import Sequence
from dataclasses import dataclass

from leaderboard.display import cells
from leaderboard.display.columns import interval_columns, source_column
from leaderboard.display.sections import Section
from leaderboard.display.tables import Column, Table
from leaderboard.models import Run, Score
from leaderboard.probe_pages.model_sections import row_label


@dataclass(frozen=True)
class Replication:
    """A figure that was measured here, and a published one about the same items in the same settings."""

    measured: Run
    measured_score: Score
    published: Run
    published_score: Score

    @property
    def difference(self) -> float:
        return float(self.measured_score.value or 0) - float(self.published_score.value or 0)

    @property
    def agrees(self) -> bool | None:
        """Tell whether the published figure lies within the interval of the measured one; None without interval."""
        low, high = self.measured_score.low, self.measured_score.high
        if low is None or high is None:
            return None
        return low <= float(self.published_score.value or 0) <= high


def replications(runs: Sequence[Run], scores: dict[int, Score]) -> list[Replication]:
    """Return each published figure with that of the newest measured run on the same version in the same settings."""
    shown = [run for run in runs if run.pk in scores and scores[run.pk].value is not None]
    newest: dict[tuple[int, str], Run] = {}
    for run in shown:
        if run.provenance == Run.Provenance.MEASURED:
            newest.setdefault((run.benchmark_id, run.settings_group), run)
    pairs = [
        (measured, run)
        for run in shown
        if run.is_published and (measured := newest.get((run.benchmark_id, _settings_of(run))))
    ]
    return [Replication(measured, scores[measured.pk], run, scores[run.pk]) for measured, run in pairs]


def _settings_of(run: Run) -> str:
    """Return how a published run differs from the usual settings; who reported it is not a setting."""
    reported = run.differences.get("reported")
    return "" if run.settings_group == reported else run.settings_group


def replication_section(rows: Sequence[Replication]) -> Section:
    """Return published figures against those measured here."""
    title = "Published against measured"
    table = Table(
        name="replications",
        caption=title,
        columns=[
            Column(
                "benchmark",
                "Benchmark",
                lambda row: cells.text(row_label(row.measured), href=row.measured.benchmark.get_absolute_url()),
                align="head",
            ),
            Column("measured", "Measured here", lambda row: _score_of(row.measured_score, row.measured), align="score"),
            *interval_columns(lambda row: row.measured_score, "measured"),
            Column("published", "Published", lambda row: _score_of(row.published_score, row.published), align="score"),
            Column("difference", "Difference", lambda row: cells.signed(row.difference), align="number"),
            Column("agrees", "Within the interval", lambda row: cells.yes_no(row.agrees)),
            source_column(lambda row: row.published),
        ],
        rows=rows,
    )
    note = "The same questions and settings. The difference is measured minus published."
    return Section("replications", title, table, note=note)


def _score_of(score: Score, run: Run) -> cells.Cell:
    cell = cells.of_score(score)
    return cells.Cell(cell.value, cell.text, run.get_absolute_url(), cell.note, cell.bar, cell.kind, spoken=cell.spoken)
