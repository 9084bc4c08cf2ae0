"""The folds of a run's page, with details that its main figure hides. Each module of this package makes one of them."""

from collections.abc import Sequence

from django.http import QueryDict

from leaderboard.display.sections import Fold
from leaderboard.models import Run, Score
from leaderboard.probe_pages.details import bias, confidence, templates


def folds(run: Run, scores: Sequence[Score], query: QueryDict) -> list[Fold]:
    """Return the folds of a run that has the scores for them; none for a run of which no items are stored."""
    if not run.artefact:
        return []
    optional_folds = (templates.fold(run, scores), bias.fold(run, scores, query), confidence.fold(run, scores))
    return [fold for fold in optional_folds if fold]
