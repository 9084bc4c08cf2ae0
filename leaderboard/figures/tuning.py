"""What tuning changed: a base model and the model that was made from it, on the questions that both were asked."""

from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import NamedTuple

from leaderboard.figures import item_rows
from leaderboard.figures.comparisons import rows_of_part
from leaderboard.figures.item_rows import Row
from leaderboard.figures.runs import model_runs
from leaderboard.figures.scores import Slice, part_of
from leaderboard.models import Model, Run, Score
from probing.analysis.accuracy import CHANCE
from probing.analysis.breakdowns import CROSSED
from probing.analysis.paired_tests import common_rows, overall_difference
from probing.benchmark import ROW_KEY
from probing.errors import ProbingError


class TunedPair(NamedTuple):
    """The runs of a base model and of the tuned one on one benchmark, asked in the same way, and how they differ.

    `figures` are those of the overall row of a paired comparison, from the base model to the tuned one.
    """

    base: Run
    tuned: Run
    score: Score
    figures: Row
    chance: float | None


def base_of(versions: Sequence[Model]) -> str:
    """Return the id of the model that these versions of one were made from; empty where that is not known."""
    adapted = versions[0].base_id if versions[0].adapter_id else ""
    return adapted or next((version.base_model for version in versions if version.base_model), "")


def tuned_pairs(base: str, hub_id: str, scores: Mapping[int, Score]) -> list[TunedPair]:
    """Return a pair for each benchmark, settings and part on which both models were measured, by their newest runs.

    Of a training, these are the runs of its last step. A model is no base of its own. `scores`: the main scores of the
    tuned model `hub_id`.
    """
    if base in ("", hub_id):
        return []
    of_base = _newest(base)
    tuned = {key: run for key, run in _newest(hub_id).items() if key in of_base and run.pk in scores}
    chance = {
        (score.run_id, part_of(score)): score.value
        for score in Score.objects.filter(run__in=[run.pk for run in tuned.values()], metric=CHANCE)
    }
    pairs = []
    for key, run in tuned.items():
        other, part = of_base[key], part_of(scores[run.pk])
        if figures := difference_of(other, other.artefact, run, run.artefact, part):
            pairs.append(TunedPair(other, run, scores[run.pk], figures, chance.get((run.pk, part))))
    return pairs


def _newest(hub_id: str) -> dict[tuple[int, str], Run]:
    """Map benchmark and settings to the model's newest measured run whose answers are stored and right or wrong."""
    newest: dict[tuple[int, str], Run] = {}
    for run in model_runs(hub_id).newest_steps():
        if run.provenance == Run.Provenance.MEASURED and run.artefact and run.benchmark.correctness.column:
            newest.setdefault((run.benchmark_id, run.settings_group), run)
    return newest


@lru_cache(maxsize=64)  # the files of a result never change
def difference_of(base: Run, base_artefact: str, tuned: Run, artefact: str, part: Slice) -> Row | None:
    """Return the paired difference of two runs; None where they share no item, or one lost its file."""
    correctness = base.benchmark.correctness
    tags = CROSSED.get(part.dimension, (part.dimension,))
    columns = [*ROW_KEY, "subject_id", "language", correctness.column, *tags]
    try:
        sides = {"base": base, "tuned": tuned}
        rows = {side: rows_of_part(item_rows.frame(run, columns), part) for side, run in sides.items()}
        shared = common_rows(rows, correctness.column)
    except ProbingError:
        return None
    return dict(overall_difference(shared["base"], shared["tuned"], correctness))
