"""Measure a finished run again: how far can the site's own figures be repeated, perhaps on another device?"""

import logging
import sys
from argparse import ArgumentParser
from collections.abc import Hashable, Iterator, Mapping
from random import Random
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from django.conf import settings

from leaderboard.figures import benchmarks, item_rows
from leaderboard.management.base import PlainCommand
from leaderboard.models import Run, RunEvent, RunPart
from leaderboard.worker.jobs import downloaded, limits
from leaderboard.worker.site_worker import own_device
from probing.arrays import Floats
from probing.benchmark import ROW_KEY
from probing.errors import BadInput
from probing.measuring.process import MeasuringProcess
from probing.results.joining import PartResult

log = logging.getLogger(__name__)
SCORES = ("scores", "log_probs", "log_prob", "fine_log_prob", "coarse_log_prob")  # columns of logarithms
PREDICTIONS = ("prediction", "prediction_label")  # the first of them that a row has says what was predicted
ALLOWED_CHANGES = 10_000  # of this many predictions, one may change; more raise an alarm
# The largest difference of two measurements of the same number; half precision keeps 8 or 11 bits.
TOLERANCES: Mapping[str, float] = {"float64": 1e-4, "float32": 1e-4, "float16": 2e-2, "bfloat16": 1e-1}
COMPARED = (*ROW_KEY, *SCORES, *PREDICTIONS, "exact")


class Command(PlainCommand):
    help = (
        "Measure random parts of a finished run again, with the same settings and files of the model, and compare the "
        "rows. The exit code is 1 if more than one prediction in 10,000 has changed."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("number", type=int, metavar="RUN", help="the number of a run that was measured here")
        parser.add_argument("--seed", default="0", help="what decides about the parts (default: 0)")
        parser.add_argument(
            "--items", type=int, default=10_000, help="measure parts until they have this many items (default: 10000)"
        )
        parser.add_argument(
            "--device", default=settings.DEVICE, help="cpu, cuda, cuda:1 or auto: a GPU that no worker here has"
        )

    def run(self, *, number: int, seed: str, items: int, device: str, **options: Any) -> None:
        if items < 1:
            raise BadInput(f"--items {items} leaves nothing to measure.", "Use 1 or more.")
        run = measured_run(number)
        self.say(f"Run {run.pk}, {run}, measured on {run.provenance_record.get('device', 'an unknown device')}.")
        with own_device(device) as settings.DEVICE:
            differences = remeasure(run, items, seed)
        self.say(f"{differences.in_words}.")
        if differences.is_alarm:
            self.say("More than one prediction in 10,000 has changed.")
            sys.exit(1)


class Differences(NamedTuple):
    """How far two measurements of the same items differ.

    `largest` is the largest difference of two scores, None where no number is compared, and `device` is where the
    second measurement was made.
    """

    items: int
    changed: int
    largest: float | None
    device: str = ""

    @property
    def is_alarm(self) -> bool:
        return self.changed * ALLOWED_CHANGES > self.items

    @property
    def in_words(self) -> str:
        changes = {0: "no prediction changed", 1: "1 prediction changed"}
        changed = changes.get(self.changed, f"{self.changed:,} predictions changed")
        largest = "" if self.largest is None else f", the largest difference of a score is {self.largest:.2g}"
        return f"{self.items:,} items on {self.device}: {changed}{largest}"


def measured_run(number: int) -> Run:
    """Return the finished run of this number that was measured here; raise `BadInput` if there is none."""
    runs = Run.objects.filter(state=Run.State.FINISHED, provenance=Run.Provenance.MEASURED, parts__isnull=False)
    runs = runs.exclude(artefact="").exclude(benchmark__path="").select_related("model", "benchmark")
    run = runs.filter(pk=number).first()
    if run is None:
        raise BadInput("There is no such finished run.", "Name one that was measured here and whose rows are stored.")
    return run


def sampled_parts(run: Run, items: int, seed: str) -> list[RunPart]:
    """Return random parts of a run, as many as it takes for this number of items, in the order of the run."""
    parts = list(run.parts.select_related("run").order_by("pk"))
    chosen: list[RunPart] = []
    for part in Random(seed).sample(parts, len(parts)):
        if sum(part.items for part in chosen) >= items:
            break
        chosen.append(part)
    return sorted(chosen, key=lambda part: part.pk)


def remeasure(run: Run, items: int, seed: str) -> Differences:
    """Measure parts of a finished run again, and return how far the rows differ from those of the run.

    Where too many predictions have changed, the log and the run's page say so. The result stays as it is.
    """
    results = list(_measured(run, sampled_parts(run, items, seed)))
    again = pd.concat([result.rows for result in results], ignore_index=True)
    first = item_rows.frame(run, COMPARED).merge(again[ROW_KEY[:2]].drop_duplicates())
    tolerance = TOLERANCES.get(run.settings.get("dtype", "float32"), TOLERANCES["float32"])
    compared = differences(first, again, tolerance)._replace(device=results[-1].record["device"])
    if compared.is_alarm:
        log.error("Run %s gave other predictions when it was measured again. %s.", run.pk, compared.in_words)
        message = f"Measured again with other predictions: {compared.in_words}."
        RunEvent.objects.create(run=run, state=run.state, message=message)
    return compared


def _measured(run: Run, parts: list[RunPart]) -> Iterator[PartResult]:
    """Yield what a process of its own measures for each part."""
    benchmarks.read(run.benchmark)  # raises an error if the files were changed
    with MeasuringProcess(downloaded(run), limits()) as process:
        process.load()
        for part in parts:
            yield process.measure(part.covered, positions=part.work)


def differences(first: pd.DataFrame, again: pd.DataFrame, tolerance: float) -> Differences:
    """Compare two measurements of the same items.

    An item has changed if its prediction has; where a probe predicts nothing, if a score differs by more than the
    tolerance of the number format. An item that only one of them has counts as changed as well.
    """
    pairs = first.merge(again, on=ROW_KEY, suffixes=("_first", "_again"))
    items = len(first) + len(again) - len(pairs)
    largest = [_largest_difference(row) for row in pairs.to_dict("records")]
    predicted = next((name for name in PREDICTIONS if f"{name}_again" in pairs), None)
    if predicted:
        same = pairs[f"{predicted}_first"].eq(pairs[f"{predicted}_again"])
        same |= pairs[f"{predicted}_first"].isna() & pairs[f"{predicted}_again"].isna()
    else:
        same = pd.Series([value is None or value <= tolerance for value in largest], dtype=bool)
    return Differences(items, items - int(same.sum()), max((v for v in largest if v is not None), default=None))


def _largest_difference(row: Mapping[Hashable, Any]) -> float | None:
    """Return the largest difference of the scores that were computed exactly both times; missing ones are left out."""
    gaps = [
        gap
        for name in SCORES
        if f"{name}_first" in row and f"{name}_again" in row
        for gap in _gaps(row, name)
        if not np.isnan(gap)
    ]
    return max(gaps, default=None)


def _gaps(row: Mapping[Hashable, Any], name: str) -> Floats:
    first, again = (np.atleast_1d(np.asarray(row[f"{name}_{which}"], dtype=float)) for which in ("first", "again"))
    if first.shape != again.shape:
        return np.array([np.nan])
    gaps: Floats = np.abs(first - again)
    if name == "scores" and "exact_first" in row:
        gaps = gaps[np.asarray(row["exact_first"], dtype=bool) & np.asarray(row["exact_again"], dtype=bool)]
    return gaps
