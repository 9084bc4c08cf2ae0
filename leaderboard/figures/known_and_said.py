"""Runs of one model that ask the same facts by likelihood and by generation, crossed item by item."""

from collections.abc import Sequence
from functools import lru_cache
from typing import NamedTuple

import pandas as pd

from leaderboard.changed_settings import LEFT_OUT
from leaderboard.figures import item_rows
from leaderboard.figures.comparisons import rows_of_part
from leaderboard.figures.scores import OVERALL_SLICE, Slice
from leaderboard.models import Run
from probing.analysis.breakdowns import CROSSED
from probing.analysis.know_say import (
    KNOWN,
    LEAVE_OPTION,
    OF_OPTIONS,
    OF_RESPONSES,
    SAID,
    WITH_LEAVE,
    crossed,
    known_facts,
    said_by_known,
    share_differences,
    share_scores,
    way_of,
)
from probing.benchmark import ROW_KEY

OPTION_COLUMNS = ("subject_id", "answers", "correct", "scores", "exact", "domain")
RESPONSE_COLUMNS = ("prediction_label", "correct_normalised")


class Ways(NamedTuple):
    """A run by likelihood, and those by generation by way of asking; each has stored answers."""

    known: Run
    said: dict[str, Run]


def ways_beside(run: Run) -> Ways | None:
    """Return a run of each way on the same facts and weights, this run among them; None where none has options.

    All come from the same source, such as being measured here. The other run by generation has the settings of this
    one, but for the leave to decline. Those by likelihood with the usual settings come first, then the newest. `run`:
    one of the probe `answering`. One query.
    """
    beside = Run.objects.filter(
        model=run.model_id,
        benchmark__slug=run.benchmark.slug,
        benchmark__digest=run.benchmark.digest,
        benchmark__probe__in=(*OF_OPTIONS, OF_RESPONSES),
        state=Run.State.FINISHED,
        provenance=run.provenance,
    )
    stored = beside.exclude(artefact="").select_related("model", "benchmark")
    matching = [other for other in stored if other.benchmark.probe in OF_OPTIONS or _differ_in_leave(run, other)]
    by_preference = sorted(matching, key=lambda other: (not other.settings_group, other.pk))
    chosen = {way_of(other.benchmark.probe, other.settings): other for other in [*by_preference, run]}
    known = chosen.pop(KNOWN, None)
    return Ways(known, {way: chosen[way] for way in (SAID, WITH_LEAVE) if way in chosen}) if known else None


def _differ_in_leave(run: Run, other: Run) -> bool:
    """Tell whether two runs by generation differ in no setting but the leave to decline."""
    ignored = {LEAVE_OPTION, LEFT_OUT}
    return run.group_without(ignored) == other.group_without(ignored)


class CrossedFigures(NamedTuple):
    """What is known and said of the same facts: crossed rows, and all figures but the index.

    `tags`: the tags of the rows by which they are broken down. `curves`: those of `said_by_known`, by way.
    """

    rows: pd.DataFrame
    tags: list[str]
    shares: pd.DataFrame
    differences: pd.DataFrame
    curves: dict[str, pd.DataFrame]


def crossed_runs(ways: Ways, part: Slice = OVERALL_SLICE) -> CrossedFigures:
    """Return what is known and said on a part of the items; what was asked for last is kept in memory.

    Runs are named by the folders of their results as well, whose files never change.
    """
    said = tuple((way, run, run.artefact) for way, run in ways.said.items())
    return crossed_results(ways.known, ways.known.artefact, said, part)


@lru_cache(maxsize=4)
def crossed_results(known: Run, artefact: str, said: Sequence[tuple[str, Run, str]], part: Slice) -> CrossedFigures:
    """Return what `crossed_runs` does."""
    columns = [*ROW_KEY, *OPTION_COLUMNS, *CROSSED.get(part.dimension, (part.dimension,))]
    relations = item_rows.frame(known, ["relation"])["relation"].unique()  # one after the other: scores take much room
    facts = pd.concat([known_facts(item_rows.frame(known, columns, relation)) for relation in relations])
    responses = {way: item_rows.frame(run, [*ROW_KEY, *RESPONSE_COLUMNS]) for way, run, _ in said}
    rows, ways = crossed(rows_of_part(facts.reset_index(drop=True), part), responses), [*responses]
    tags = ["domain"] if "domain" in rows else []
    curves = {way: said_by_known(rows, way) for way in ways}
    return CrossedFigures(rows, tags, share_scores(rows, ways, tags), share_differences(rows, ways, tags), curves)
