"""The figure at the head of a run's page, with everything that is needed to interpret it."""

import json
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from django.db.models import TextField
from django.db.models.functions import Cast

from leaderboard.changed_settings import dtype_by_size, settings_group
from leaderboard.display.figures import half_width
from leaderboard.models import Run, RunRank, Score
from leaderboard.probe_pages.pages import ProbePages


class Headline(NamedTuple):
    """A run's main figure. `half` is half its interval over items; `wordings` are the ends of its range over wordings.

    `place` says where the run stands among how many, empty without a rank.
    """

    title: str
    score: Score
    half: str
    wordings: tuple[float, float] | None
    number_of_wordings: int
    chance: float | None
    place: str


def headline(run: Run, pages: ProbePages, scores: Sequence[Score]) -> Headline | None:
    """Return the figure of a run, None where it has no score in the main metric of its benchmark."""
    metric = pages.main_metric(run.benchmark)
    overall = {score.metric: score for score in scores if score.dimension == "overall"}
    main = overall.get(metric)
    if main is None or main.value is None:
        return None
    by_wording = [score.value for score in scores if score.dimension == "template" and score.metric == metric]
    values = [value for value in by_wording if value is not None]
    return Headline(
        title=pages.metric_label(metric),
        score=main,
        half=half_width(main.low, main.high),
        wordings=(min(values), max(values)) if len(values) > 1 else None,
        number_of_wordings=len(values),
        chance=_chance(run, pages, overall, metric),
        place=_place(run, metric),
    )


def _chance(run: Run, pages: ProbePages, overall: Mapping[str, Score], metric: str) -> float | None:
    """Return what guessing reaches; None where the main metric has no such score.

    Where any word may stand at a blank, guessing is among the answers to the questions of the run. These are too few if
    only some of the questions were asked.
    """
    is_part = run.settings.get("limit") or run.settings.get("sample")
    chance = overall.get("chance")
    return chance.value if chance and metric != "chance" and (pages.offers_options or not is_part) else None


def _place(run: Run, metric: str) -> str:
    """Return the place among the ranked runs of the same settings, such as "1–2 of 5"; empty without a rank."""
    own = run.ranks.filter(metric=metric, best__isnull=False).first()
    if own is None:
        return ""
    return f"{own.places} of {_ranked_like(run, metric)}{' with these settings' if run.settings_group else ''}"


def _ranked_like(run: Run, metric: str) -> int:
    """Return how many runs of the benchmark have a rank in the group of this one. One query."""
    ranked = RunRank.objects.filter(run__benchmark=run.benchmark, metric=metric, best__isnull=False)
    names = ("settings_text", "run__items_left_out", "run__model__parameters", "run__model__stored_dtype")
    groups: dict[tuple[str, int, str], str] = {}  # most runs have one of a few settings
    count = 0
    rows = ranked.annotate(settings_text=Cast("run__settings", TextField())).values_list(*names)
    for settings_text, left_out, parameters, dtype in rows:
        key = settings_text, left_out, dtype_by_size(parameters, dtype)
        if key not in groups:
            settings = json.loads(settings_text)
            other = Run(benchmark=run.benchmark, settings=settings, items_left_out=left_out)
            groups[key] = settings_group(other.differences, settings, parameters, dtype)
        count += groups[key] == run.settings_group
    return count
