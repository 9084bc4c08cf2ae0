"""Runs of specificity as sections set them side by side: their promptings, labels and scores."""

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from leaderboard.models import Run, Score
from probing.statements.prompting import PROMPTINGS

MEAN = "all"  # the mean over relations
VANILLA = "vanilla"
ScoresByGroup = Mapping[tuple[str, str], Score]  # by metric and group


def prompting(run: Run) -> str:
    return str(run.option("prompting", VANILLA))


def by_prompting_order(runs: Sequence[Run]) -> list[Run]:
    order: list[str] = list(PROMPTINGS)
    with_prompting = [run for run in runs if prompting(run) in order]
    return sorted(with_prompting, key=lambda run: (order.index(prompting(run)), run.provenance, run.pk))


def label_of(run: Run) -> str:
    return ", ".join([settings_in_words(run), *if_published(run)])


def settings_in_words(run: Run) -> str:
    """Return the prompting and every other setting that is not the usual one."""
    others = [words for name, words in run.differences.items() if name != "prompting"]
    return ", ".join([prompting(run), *others])


def if_published(run: Run) -> list[str]:
    return ["published"] if run.is_published else []


def distinct_labels(labels: Mapping[int, str]) -> dict[int, str]:
    """Map each run to its label, with the run's number where several runs would have the same label."""
    times = Counter(labels.values())
    return {pk: f"{label}, run {pk}" if times[label] > 1 else label for pk, label in labels.items()}


def comparable_settings(run: Run) -> tuple[Any, ...]:
    """Return what two runs must share for their promptings to be compared."""
    others = {name: value for name, value in run.differences.items() if name not in ("prompting", "shots")}
    return run.model_id, run.provenance, *sorted(others.items())
