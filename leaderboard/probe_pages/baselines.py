"""Baselines in words: the scores that need no reading of questions."""

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import NamedTuple

from leaderboard.display.cells import Cell
from leaderboard.models import Run
from leaderboard.stored.chance import BASELINE_IDS, HUB_ID
from probing.analysis.baselines import MAJORITY, MOST_FREQUENT
from probing.analysis.specificity import RARER


class Baseline(NamedTuple):
    """The name of a baseline, and what it does."""

    name: str
    words: str


BASELINES: Mapping[str, Baseline] = {  # by the ids under which their runs are stored
    HUB_ID: Baseline("Chance", "takes every option to be as likely as the next"),
    BASELINE_IDS[MAJORITY]: Baseline(
        "Majority answer", "always gives the answer that is right most often in the relation"
    ),
    BASELINE_IDS[MOST_FREQUENT]: Baseline(
        "Most frequent answer", "gives the option that is the right answer most often in the whole benchmark"
    ),
    BASELINE_IDS[RARER]: Baseline("Rarer answer", "always gives the answer that is rarer in a corpus of texts"),
}


def with_baseline_name(cell: Cell, run: Run) -> Cell:
    """Return the cell of a model, or of a baseline with its name in words."""
    baseline = BASELINES.get(run.model.hub_id)
    return replace(cell, text=baseline.name, note=f"{baseline.name} {baseline.words}.") if baseline else cell


def baselines_in_words(runs: Iterable[Run], note: str = "") -> str:
    """Return a sentence on the baselines among these runs, followed by the probe's note on them; empty without any."""
    ids = {run.model.hub_id for run in runs}
    words = [f"{baseline.name} {baseline.words}" for name, baseline in BASELINES.items() if name in ids]
    return " ".join([f"Reached without reading the questions: {'; '.join(words)}.", note]).strip() if words else ""
