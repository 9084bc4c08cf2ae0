"""Scores of a run in the database."""

import pandas as pd

from leaderboard.models import Run, Score


def replace_scores(run: Run, scores: pd.DataFrame) -> None:
    """Make these tidy scores the run's only ones; NaN is stored as NULL."""
    columns = [str(column) for column in scores.columns]
    values = scores.astype(object).where(scores.notna(), None)
    run.scores.all().delete()
    Score.objects.bulk_create(
        Score(run=run, **dict(zip(columns, row, strict=True))) for row in values.itertuples(index=False, name=None)
    )
