"""Figures from papers, stored as runs of provenance "published", with the place where each was published."""

import hashlib
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from django.db import transaction
from django.db.models import QuerySet

from leaderboard.lists.runs import ANY_VERSION
from leaderboard.models import Benchmark, Run, Score
from leaderboard.probe_pages import pages_of
from leaderboard.probe_pages.identities import Identity, identity_of, read_table, store_former_names, store_model
from leaderboard.probe_pages.pages import Json
from leaderboard.stored.benchmarks import is_main, title_with_probe
from probing.errors import BadInput
from probing.settings import SETTINGS


def load(folder: Path) -> int:
    """Replace all published runs by those of the folder's files; return how many there are.

    A run that was loaded before keeps its number, even if its model was identified differently later.
    """
    identities = read_table(folder)
    with transaction.atomic():
        runs = [pk for path in sorted(folder.glob("*.json")) for pk in _load_file(path, identities)]
        _reported_runs().exclude(pk__in=runs).delete()
        store_former_names(identities)
    return len(runs)


def _reported_runs() -> QuerySet[Run]:
    """Select the runs that come from files of published figures, baselines of papers included."""
    return Run.objects.filter(provenance__in=[Run.Provenance.PUBLISHED, Run.Provenance.BASELINE]).exclude(reference="")


def _load_file(path: Path, identities: Mapping[str, Identity]) -> list[int]:
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
        benchmark = _benchmark(content["benchmark"], content["source"])
        _refuse_mixture(path, benchmark, content["differs"])
        return [_store_run(benchmark, content, row, identities).pk for row in content["rows"]]
    except (ValueError, KeyError, TypeError) as error:
        raise BadInput(f"{path} is not a file of published results ({error!r}).", "Restore the file.") from error


def _refuse_mixture(path: Path, benchmark: Benchmark, differs: str) -> None:
    """Raise `BadInput` unless figures that differ in anything have a version of their own, and no others have it."""
    if bool(differs) != (benchmark.version == ANY_VERSION):
        raise BadInput(
            f"{path} has the version {benchmark.version!r} and says {differs!r:.80} of what differs.",
            f"State what differs if the version is {ANY_VERSION!r}, and nothing if it is that of the same files.",
        )


def _benchmark(facts: Json, source: Json) -> Benchmark:
    """Return the version that the figures are about; its files may be imported later."""
    slug, probe = facts["slug"], facts["probe"]
    current, main = Benchmark.objects.filter(slug=slug, probe=probe, current=True), is_main(slug, probe)
    benchmark, _ = Benchmark.objects.get_or_create(
        slug=slug,
        version=facts["version"],
        probe=probe,
        defaults={
            "title": facts["title"] if main else title_with_probe(facts["title"], probe),
            "main": main,
            "source": source["url"],
            "current": not current.exists(),
        },
    )
    return benchmark


def nested(settings: Json) -> dict[str, Any]:
    """Return settings with everything that is no setting of the library under `options`, as measured runs store it."""
    own = {name: value for name, value in settings.items() if name in SETTINGS}
    options = {name: value for name, value in settings.items() if name not in SETTINGS}
    return {**own, "options": options} if options else own


def _store_run(benchmark: Benchmark, content: Json, row: Json, identities: Mapping[str, Identity]) -> Run:
    source = content["source"]
    authors = f"{source['authors']} ({source['year']})" if source["year"] else source["authors"]
    where = f"{authors}: {source['title']}, {row['reference']}"
    question = json.dumps([source["title"], row["reference"], row["name"], row["settings"]], sort_keys=True)
    identity = identity_of(identities, row["model"], row["name"], row["kind"], row["parameters"])
    run, _ = _reported_runs().update_or_create(
        benchmark=benchmark,
        settings_digest=hashlib.sha256(question.encode()).hexdigest(),
        defaults={
            "model": store_model(identity),
            "settings": nested(row["settings"]),
            "state": Run.State.FINISHED,
            "provenance": Run.Provenance.BASELINE if row.get("baseline") else Run.Provenance.PUBLISHED,
            "reference": where[:300],
            "reference_url": source["url"],
            "provenance_record": {"name": row["name"], "source": source, "differs": content["differs"]},
        },
    )
    run.scores.all().delete()
    scores = [*row["scores"], *pages_of(benchmark).published_scores(row["settings"], row["scores"])]
    Score.objects.bulk_create(Score(run=run, **score) for score in scores)
    return run
