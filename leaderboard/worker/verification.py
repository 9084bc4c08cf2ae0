"""Spot re-measurement: a trusted worker measures some parts again that came from a token that is not trusted."""

import math
from collections.abc import Callable, Mapping
from random import Random
from typing import Any

import numpy as np
import pandas as pd
from django.conf import settings
from django.db import transaction
from django.utils.crypto import salted_hmac

from leaderboard.figures import artefacts
from leaderboard.models import Run, RunPart, WorkerToken
from probing.benchmark import ROW_KEY
from probing.errors import ProbingError

# The largest difference of two measurements of the same number; half precision keeps 8 or 11 bits.
TOLERANCES: Mapping[str, float] = {"float64": 1e-4, "float32": 1e-4, "float16": 2e-2, "bfloat16": 1e-1}
# Places and margins change with the last digit of two scores that are nearly equal.
DERIVED = frozenset({"rank", "rank_statement", "fine_rank", "coarse_rank"})


class ResultsDiffer(ProbingError):
    """A trusted worker measured a part again, and the rows that a worker elsewhere had sent are not the same."""

    code = "results-differ"


def verify(run: Run, measure: Callable[[RunPart], pd.DataFrame]) -> None:
    """Measure some parts of the run again that came from untrusted tokens, before the run is aggregated.

    `measure` returns the rows of a part as this worker measures them. Where they differ, the token is revoked, all of
    its parts of this run are free again, and `ResultsDiffer` is raised. Without CLOZEBOARD_VERIFY_SHARE, do nothing.
    """
    for part in parts_to_verify(run):
        if part.verified:
            continue
        if column := difference(artefacts.read_part(part), measure(part), tolerance_of(run)):
            _reject(part, column)
        RunPart.objects.filter(pk=part.pk).update(verified=True)


def parts_to_verify(run: Run) -> list[RunPart]:
    """Return the parts that are to be measured again: a share of each untrusted token's parts, and at least one.

    The draw is the same whenever it is repeated, and nobody who does not know the site's secret key can foresee it.
    """
    parts = run.parts.filter(done=True, token__trusted=False).select_related("run", "token").order_by("pk")
    chosen: list[RunPart] = []
    for token in sorted({part.token_id for part in parts if part.token_id}):
        own = [part for part in parts if part.token_id == token]
        seed = salted_hmac("leaderboard.worker.verification", f"{run.pk} {token}").hexdigest()
        chosen += Random(seed).sample(own, math.ceil(settings.VERIFY_SHARE * len(own)))
    return chosen


def tolerance_of(run: Run) -> float:
    """Return by how much two measurements of the same number of a run may differ."""
    return TOLERANCES.get(run.settings.get("dtype", "float32"), TOLERANCES["float32"])


def difference(sent: pd.DataFrame, again: pd.DataFrame, tolerance: float) -> str:
    """Return the first column in which two measurements of a part differ, or "" if they are equal.

    Numbers are equal within the tolerance. A prediction may be another one only where the scores
    of both options are equal within twice that tolerance; what is said of it is then not compared.
    """
    if list(sent.columns) != list(again.columns) or len(sent) != len(again):
        return "columns"
    keys = [name for name in ROW_KEY if sent[name].tolist() != again[name].tolist()]
    for left, right in zip(sent.to_dict("records"), again.to_dict("records"), strict=True):
        tied = _tied(left, right, tolerance)
        for name in left:
            number = _is_number(left[name]) and name not in ("prediction", "index", "template")
            if name in DERIVED or (tied and not number):
                continue
            if not (_close(left[name], right[name], tolerance) if number else _equal(left[name], right[name])):
                return str(name)
    return keys[0] if keys else ""


def _tied(left: Mapping[Any, Any], right: Mapping[Any, Any], tolerance: float) -> bool:
    """Tell whether two rows predict different options whose scores are nearly equal."""
    if "scores" not in left or left.get("prediction") == right.get("prediction"):
        return False
    scores = np.asarray(right["scores"], dtype=float)
    return bool(abs(scores[left["prediction"]] - scores[right["prediction"]]) <= 2 * tolerance)


def _is_number(cell: Any) -> bool:
    return np.asarray(cell).dtype.kind == "f"


def _close(left: Any, right: Any, tolerance: float) -> bool:
    left, right = np.asarray(left, dtype=float), np.asarray(right, dtype=float)
    return left.shape == right.shape and bool(np.allclose(left, right, rtol=tolerance, atol=tolerance, equal_nan=True))


def _equal(left: Any, right: Any) -> bool:
    if isinstance(left, np.ndarray | list):
        return list(left) == list(right)
    return bool(pd.isna(left) and pd.isna(right)) or bool(left == right)


def _reject(part: RunPart, column: str) -> None:
    """Revoke the token of a part, free all parts of the run that came from it, and raise `ResultsDiffer`."""
    token = part.token
    assert token is not None
    clean = {"done": False, "items_done": 0, "attempts": 0, "record": {}, "digest": "", "verified": False}
    with transaction.atomic():
        WorkerToken.objects.filter(pk=token.pk).update(revoked=True)
        part.run.parts.filter(token=token).update(**clean, lease_until=None, worker="", token=None)
    raise ResultsDiffer(
        f"A second measurement of {part} gave another {column!r} than the worker {part.worker} had sent.",
        f"The token {token.name} is revoked. Submit the run again; its other parts are kept.",
    )
