"""Figures from papers, as runs that nobody measured here: marked published, with where they stand."""

import hashlib
import json
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from math import log10
from pathlib import Path
from typing import Any

from django.db import transaction

from leaderboard.models import Benchmark, Model, Run, Score
from probing.analysis.crossed import CULTURE
from probing.analysis.culture import west_last
from probing.errors import BadInput

Json = Mapping[str, Any]


def load(folder: Path) -> int:
    """Make the published rows those of the folder's files; returns how many there are."""
    with transaction.atomic():
        runs = [pk for path in sorted(folder.glob("*.json")) for pk in _load_file(path)]
        reported = [Run.Provenance.PUBLISHED, Run.Provenance.BASELINE]
        Run.objects.filter(provenance__in=reported).exclude(reference="").exclude(pk__in=runs).delete()
    return len(runs)


def _load_file(path: Path) -> list[int]:
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
        benchmark = _benchmark(content["benchmark"], content["source"])
        return [_run(benchmark, content["source"], row).pk for row in content["rows"]]
    except (ValueError, KeyError, TypeError) as error:
        raise BadInput(f"{path} is not a file of published results ({error!r}).", "Restore the file.") from error


def _benchmark(about: Json, source: Json) -> Benchmark:
    """The version that the figures are about; imported files may join it later."""
    current = Benchmark.objects.filter(slug=about["slug"], current=True)
    benchmark, _ = Benchmark.objects.get_or_create(
        slug=about["slug"],
        version=about["version"],
        defaults={
            "title": about["title"],
            "probe": about["probe"],
            "source": source["url"],
            "current": not current.exists(),
        },
    )
    return benchmark


def _in_our_terms(settings: Json, scores: Sequence[Json]) -> Iterator[Json]:
    """Published scores under the names of measured ones too, so that they stand in the same column.

    The logarithm of a median p-value; what cloze calls accuracy, which is the answer within five; figures of one
    culture pair in one language.
    """
    if "pair" in settings:
        yield from _in_pairs(settings["pair"], settings["language"], scores)
    for score in scores:
        if score["metric"] == "p_value_median" and score["value"]:
            yield {**score, "metric": "log10_p_median", "value": log10(score["value"])}
        if score["metric"] in ("in_top_5", "in_near_5"):
            yield {**score, "metric": "accuracy"}


def _in_pairs(pair: str, language: str, scores: Iterable[Json]) -> Iterator[Json]:
    """P@1 of cultures where measured runs have it, and the gaps between them, which have no interval."""
    both = f"{pair} {language}"
    places = {
        CULTURE: {"culture_pair": pair, "culture_pair_language": both},
        "relation_culture": {"culture_pair_language_relation": both},
    }
    sides: dict[tuple[str, str], dict[str, Json]] = defaultdict(dict)
    for score in [score for score in scores if score["metric"] == "p_at_1"]:
        *relation, culture = [score["group"]] if score["dimension"] == CULTURE else score["group"].split(" ", 1)
        for dimension, where in places.get(score["dimension"], {}).items():
            yield {**score, "dimension": f"{dimension}_culture", "group": f"{where} {score['group']}"}
            sides[dimension, " ".join([where, *relation])][culture] = score
    for (dimension, group), found in sides.items():
        if len(found) == 2:
            first, second = (found[culture] for culture in sorted(found, key=west_last))
            gap = {"metric": "culture_gap", "dimension": dimension, "group": group, "low": None, "high": None}
            yield {**gap, "value": first["value"] - second["value"], "n": first["n"] + second["n"]}


def _run(benchmark: Benchmark, source: Json, row: Json) -> Run:
    model, _ = Model.objects.update_or_create(
        hub_id=row["model"],
        commit="",
        source=Model.Source.PUBLISHED,
        defaults={"kind": row["kind"], "parameters": row["parameters"]},
    )
    authors = f"{source['authors']} ({source['year']})" if source["year"] else source["authors"]
    where = f"{authors}: {source['title']}, {row['reference']}"
    question = json.dumps([source["title"], row["reference"], row["name"], row["settings"]], sort_keys=True)
    run, _ = Run.objects.update_or_create(
        model=model,
        benchmark=benchmark,
        settings_digest=hashlib.sha256(question.encode()).hexdigest(),
        defaults={
            "settings": row["settings"],
            "state": Run.State.FINISHED,
            "provenance": Run.Provenance.BASELINE if row.get("baseline") else Run.Provenance.PUBLISHED,
            "reference": where[:300],
            "reference_url": source["url"],
            "provenance_record": {"name": row["name"], "source": source},
        },
    )
    run.scores.all().delete()
    scores = [*row["scores"], *_in_our_terms(row["settings"], row["scores"])]
    Score.objects.bulk_create(Score(run=run, **score) for score in scores)
    return run
